// The peer: the MCP SDK's Client and Server back to back, the usual way to write a proxy. It gates
// nothing.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const client = new Client({ name: "hop", version: "1" });
await client.connect(
  new StdioClientTransport({ command: process.execPath, args: [process.argv[2]] }),
);
const server = new Server({ name: "hop", version: "1" }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => client.listTools());
server.setRequestHandler(CallToolRequestSchema, ({ params }) => client.callTool(params));
await server.connect(new StdioServerTransport());
// The SDK's server does not end with its input.
process.stdin.on("end", () => void client.close().then(() => process.exit(0)));
