// An MCP server that is as hostile as its first argument says, and answers every call at once.
import { createInterface } from "node:readline";

const [, , how = "calm"] = process.argv;
const send = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

/** Compiles slowly: many alternatives that refer to each other. */
const slowToCompile = (n) => ({
  type: "object",
  $defs: Object.fromEntries(
    Array.from({ length: 120 }, (_, at) => [
      `d${at}`,
      {
        anyOf: Array.from({ length: 6 }, (_each, to) => ({
          $ref: `#/$defs/d${(at * 7 + to + n) % 120}`,
        })),
      },
    ]),
  ),
  properties: { n: { $ref: "#/$defs/d0" } },
});
/** Checks slowly: a pattern that backtracks. */
const slowToCheck = () => ({
  type: "object",
  properties: { text: { type: "string", pattern: "^(a+)+$" } },
});
/** Large, and plain. */
const large = () => ({
  type: "object",
  properties: Object.fromEntries(
    Array.from({ length: 1_200 }, (_, at) => [
      `p${at}`,
      { type: "string", maxLength: 10, enum: ["a", "b", "c"] },
    ]),
  ),
});
const SCHEMAS = { compile: slowToCompile, check: slowToCheck, large };
const schemaOf = SCHEMAS[how] ?? (() => ({ type: "object" }));
const TOOLS = Array.from({ length: 200 }, (_, n) => ({
  name: n === 199 ? "ask" : `act${n}`,
  inputSchema: schemaOf(n),
}));
/** What calls are answered with. */
const TEXTS = {
  results: () => "x".repeat(9_000_000),
  members: () => Array.from({ length: 900_000 }, (_, n) => n),
};
const told = TEXTS[how]?.() ?? "done";

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === "initialize")
      send({
        id,
        result: {
          protocolVersion: params.protocolVersion,
          capabilities: { tools: {}, logging: {} },
          serverInfo: { name: how, version: "1" },
        },
      });
    else if (method === "tools/list") send({ id, result: { tools: TOOLS } });
    else if (method === "tools/call")
      send({ id, result: { content: [{ type: "text", text: told }] } });
    else if (method === "notifications/initialized" && how === "stdout") flood(process.stdout);
    else if (method === "notifications/initialized" && how === "stderr") flood(process.stderr);
  })
  .on("close", () => process.exit());

/** Writes as fast as it is read. */
function flood(stream) {
  const line = `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "x".repeat(2_000) } })}\n`;
  const more = () => {
    while (stream.write(line));
    stream.once("drain", more);
  };
  more();
}
