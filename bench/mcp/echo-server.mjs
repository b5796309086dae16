// The smallest MCP server over stdio: answers initialize, tools/list and tools/call by hand, so
// that the server's own cost stays out of the figures.
let rest = "";
const tool = {
  name: "echo",
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
};
const results = {
  initialize: {
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "echo", version: "1" },
  },
  "tools/list": { tools: [tool] },
  ping: {},
};
process.stdin.setEncoding("utf8").on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop() ?? "";
  let out = "";
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) continue;
    const result =
      method === "tools/call"
        ? { content: [{ type: "text", text: params.arguments.text }] }
        : (results[method] ?? {});
    out += `${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`;
  }
  process.stdout.write(out);
});
