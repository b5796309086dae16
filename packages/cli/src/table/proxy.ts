/**
 * Commands that are proxies with a gate. Rows of the table in commands.ts.
 */
import type { Command } from "../command.js";

/** `acp mcp` and `acp proxy …`. */
export const PROXY_COMMANDS: readonly Command[] = [
  {
    name: "mcp",
    summary: "Run as an MCP server that asks before it forwards tool calls",
    usage: "[-- COMMAND [ARGS…]]",
    operandsMax: 0,
    takesRest: true,
    options: ["config", "server", "agent", "tty", "key-file"],
    details: [
      "An MCP client starts this command in place of a server. Everything passes unchanged except tools/call, which the policy judges: allowed calls go on, denied ones come back with a reason, and where the policy asks, a person answers in `acp approve`.",
      "Where config.yml has proxy.http_port, the HTTP proxy (`acp proxy http`) runs beside it, behind the same gate.",
      "Words after -- are the one server to put it in front of; without them the servers are those of config.yml.",
      "With keys (`acp init`) every answer is signed, and secrets of the vault are put into calls. The key opens once, at the start: with its key file, with ACP_PASSPHRASE_FILE, or with --tty by a prompt.",
      "Where it cannot start, e.g. because the key is locked, it starts no server and answers every request of the client with the reason and the remedy.",
      "Standard output belongs to MCP. Notices go to standard error, with --json one JSON object a line.",
    ],
    examples: [
      "acp mcp --server files -- npx -y @modelcontextprotocol/server-filesystem ~/projects",
      "acp mcp --config ./acp.yml",
      "acp mcp --agent claude-code",
    ],
    exits: ["invalid", "audit"],
    load: async () => (await import("../commands/mcp.js")).mcp,
  },
  {
    name: "proxy http",
    summary: "Run an HTTP proxy that asks before it lets requests and tunnels through",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: ["port", "config", "agent", "metrics", "tty", "key-file"],
    details: [
      "Programs find it through HTTP_PROXY and HTTPS_PROXY; it prints the lines to export. The policy judges every plain request by method and URL, and every CONNECT by host and port: what passes inside a tunnel is encrypted. What is denied gets 403 with a reason as JSON; where the policy asks, the connection waits while a person answers in `acp approve` (docs/how-to/http-proxy.md).",
      "A yes may also cover the host, port and method for a time: 180 seconds, or what ACP_HTTP_HOST_APPROVAL_TTL_SEC says (0: never). A yes to GET covers GET and HEAD; proxy.http.host_approval: site covers every method, tunnels and the www. twin.",
      "It listens on 127.0.0.1 alone. Hosts of this machine and of the own network are refused, whatever the policy says, unless proxy.private_hosts in config.yml names them.",
      "Who has credentials of proxy.http.agents is that agent. Everybody else is --agent (http-client); where there are such agents, everybody else is nobody unless --agent is given.",
      "SIGINT and SIGTERM end it: requests under way have 10 seconds. What was refused and what failed is said on standard error, with --json one JSON object a line.",
    ],
    examples: ["acp proxy http", "acp proxy http --port 8788 --agent curl", "acp proxy http --port 0 --metrics 9464 --json"],
    exits: ["invalid", "audit"],
    load: async () => (await import("../commands/proxy-http.js")).proxyHttp,
  },
];
