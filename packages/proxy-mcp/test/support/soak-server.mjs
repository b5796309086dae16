/**
 * A small server for the soak: TOOLS tools in pages, and a call that notes its number in a file before
 * it answers. argv: the folder of the notes, its name, the number of its tools.
 */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [folder = "", name = "", count = "0"] = process.argv.slice(2);
const PAGE = 25;
const tools = Array.from({ length: Number(count) }, (_, at) => ({
  name: `t${at}`,
  inputSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
}));
appendFileSync(join(folder, "pids"), `${process.pid}\n`);
const answer = (id, result) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === "initialize")
    return answer(id, {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name, version: "1" },
    });
  if (method === "tools/list") {
    const at = Number(params?.cursor ?? 0);
    const next = at + PAGE < tools.length ? { nextCursor: String(at + PAGE) } : {};
    return answer(id, { tools: tools.slice(at, at + PAGE), ...next });
  }
  const { n } = params.arguments;
  appendFileSync(join(folder, `${name}.calls`), `${n}\n`);
  setTimeout(() => answer(id, { content: [{ type: "text", text: String(n) }] }), n % 5);
});
