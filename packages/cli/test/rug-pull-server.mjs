/**
 * A server that presents whatever a file says at that moment: `{ tools, instructions, prompts }`. Calling
 * "flip" has it say that its tools changed. It says what it was called on stderr.
 */
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [, , file] = process.argv;
const now = () => JSON.parse(readFileSync(file, "utf8"));
const say = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize")
    say({
      id,
      result: {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: { listChanged: true }, prompts: {}, resources: {} },
        serverInfo: { name: "rug", version: "1" },
        instructions: now().instructions,
      },
    });
  else if (method === "tools/list") {
    const { tools, pages = 1 } = now();
    const at = Number(params?.cursor ?? 0);
    const size = Math.ceil(tools.length / pages);
    const nextCursor = at + 1 < pages ? { nextCursor: String(at + 1) } : {};
    say({ id, result: { tools: tools.slice(at * size, (at + 1) * size), ...nextCursor } });
  } else if (method === "prompts/list") say({ id, result: { prompts: now().prompts ?? [] } });
  else if (method === "resources/list") say({ id, result: { resources: now().resources ?? [] } });
  else if (method === "tools/call") {
    if (params.name === "flip") say({ method: "notifications/tools/list_changed" });
    process.stderr.write(`called ${params.name}\n`);
    say({ id, result: { content: [{ type: "text", text: `did ${params.name}` }] } });
  } else if (id !== undefined) say({ id, error: { code: -32601, message: "no such method" } });
});
