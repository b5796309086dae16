/**
 * Commands that run a proxy with a gate. Rows of the table in commands.ts.
 */
import type { Command } from "../command.js";

/** `acp mcp` and `acp proxy …`. */
export const PROXY_COMMANDS: readonly Command[] = [
  {
    name: "mcp",
    summary: "Run an MCP server that asks before it forwards tool calls",
    usage: "[-- COMMAND [ARGS…]]",
    operandsMax: 0,
    takesRest: true,
    options: ["config", "server", "agent", "alone", "resident", "tty", "key-file"],
    details: [
      "An MCP client starts this command in place of a server. Everything passes unchanged " +
        "except tools/call, which the policy judges. Allowed calls are forwarded, denied calls " +
        "are answered with a reason, and where the policy asks, a person answers in " +
        "`acp approve`.",
      "If config.yml sets proxy.http_port, the HTTP proxy (`acp proxy http`) runs alongside, behind the same gate.",
      "The words after -- start the one server to put the gate in front of. Without them, the servers " +
        "come from config.yml. Where a program such as the MCP inspector takes -- for itself, the " +
        "command begins at the first word that is not an option.",
      "With keys (`acp init`), every answer is signed, and secrets from the vault are inserted " +
        "into calls. The key is opened once: with its key file, with ACP_PASSPHRASE_FILE, or by a " +
        "person with `acp unlock`.",
      "If the gate cannot start, for example because the key is locked, this command starts no " +
        "server and answers every request of the client with the reason and the remedy.",
      "One process of the home (`acp resident`) has the gates of all clients and starts their " +
        "servers, with this command's variables and directory. It is started if none runs. This " +
        "command passes messages on, and reconnects if that process ends.",
      "With --alone, or with ACP_ALONE=1, this process has a gate and a log of its own. That is " +
        "for Windows, and for sandboxes, containers and CI that cannot start or reach a resident; " +
        "it is never chosen for you. With --tty, questions are also asked on this terminal, as by " +
        "`acp approve`.",
      "Standard output belongs to MCP. Notices go to standard error; with --json, as one JSON object per line.",
    ],
    examples: [
      "acp mcp --server files -- npx -y @modelcontextprotocol/server-filesystem ~/projects",
      "acp mcp --config ./acp.yml",
      "acp mcp --agent claude-code",
      "acp mcp --alone --agent claude-code",
    ],
    exits: ["invalid", "audit"],
    load: async () => (await import("../commands/gate-commands.js")).mcp,
  },
  {
    name: "mcp serve",
    summary: "Serve agents over HTTP, with the gate in front of your MCP servers",
    usage: "[-- COMMAND [ARGS…]]",
    operandsMax: 0,
    takesRest: true,
    options: ["port", "config", "server", "agent", "alone", "resident", "tty", "key-file"],
    details: [
      "Does for agents that connect to an address what `acp mcp` does for those that start it. It " +
        "listens on 127.0.0.1, on proxy.port of config.yml (default: 8443), and serves Streamable " +
        "HTTP at /mcp, with sessions (up to 2025-11-25) and without (2026-07-28), and the older " +
        "HTTP+SSE at /sse.",
      "Every request needs a bearer token, which says which agent it is. The file mcp-tokens of the " +
        "home has them; the first start makes one for --agent (default: mcp-client), `acp mcp token` " +
        "prints one. ACP_MCP_TOKEN sets one for --agent instead. To revoke a token, delete its line.",
      "Requests that do not name this machine and this port, or that come from a web page, are " +
        "refused. A session belongs to the token that opened it. Each session starts its own " +
        "servers; one that nobody is connected to ends after 30 minutes.",
      "The servers are those of config.yml, or the one after --. The gate is in the resident process " +
        "of the home, as for `acp mcp`: this command listens and passes each connection on. With " +
        "--alone, or with ACP_ALONE=1, it has a gate and a log of its own.",
      "SIGINT and SIGTERM end it.",
    ],
    examples: [
      "acp mcp serve",
      "acp mcp serve --port 8443 --agent claude-code",
      "acp mcp serve --server files -- npx -y @modelcontextprotocol/server-filesystem ~/projects",
      "acp mcp serve --alone --port 0 --json",
    ],
    exits: ["invalid", "audit"],
    load: async () => (await import("../commands/gate-commands.js")).mcpServe,
  },
  {
    name: "mcp token",
    summary: "Print the token with which an agent connects to acp mcp serve",
    usage: "[AGENT]",
    operandsMax: 1,
    takesRest: false,
    options: [],
    details: [
      "Prints the token of AGENT (default: mcp-client), and makes one if it has none. Whoever has " +
        "the token is that agent in policy, questions and log. The tokens are in the file mcp-tokens " +
        "of the home, which only you can read.",
    ],
    examples: ["acp mcp token", "acp mcp token claude-code"],
    exits: ["invalid"],
    load: async () => (await import("../commands/mcp-token.js")).mcpToken,
  },
  {
    name: "mcp wrap",
    summary: "Put the gate in front of the MCP servers that your clients start",
    usage: "[SERVER…]",
    operandsMax: 1_000,
    takesRest: false,
    options: ["client", "project", "yes", "dry-run"],
    details: [
      "Finds the settings of Claude Desktop, Claude Code, Cursor, VS Code, Gemini CLI, Codex, " +
        "Windsurf and Zed, shows which servers it would put `acp mcp --` in front of, and asks. " +
        "Only the command and its arguments change; comments, order and everything else stay, " +
        "and each file is copied first. A second run changes nothing.",
      "Without SERVER it means every server. --client limits it to some clients. A project's own " +
        "settings (.mcp.json, .cursor/mcp.json and others) are left alone unless --project names " +
        "the project.",
      "Each client is an agent of its own in policy, questions and log. Servers that are reached by " +
        "an address are listed: name them in config.yml with `url`.",
    ],
    examples: [
      "acp mcp wrap",
      "acp mcp wrap --dry-run",
      "acp mcp wrap files --client cursor,vscode",
      "acp mcp wrap --project . --yes",
    ],
    exits: ["invalid"],
    load: async () => (await import("../commands/mcp-wrap.js")).mcpWrap,
  },
  {
    name: "mcp unwrap",
    summary: "Take the gate away from the MCP servers that your clients start",
    usage: "[SERVER…]",
    operandsMax: 1_000,
    takesRest: false,
    options: ["client", "project", "yes", "dry-run"],
    details: [
      "Undoes `acp mcp wrap`, and shows first what it would change. A file that nobody changed since " +
        "then is byte for byte as it was before. In any other, the servers get their own commands back.",
    ],
    examples: ["acp mcp unwrap", "acp mcp unwrap files --client cursor"],
    exits: ["invalid"],
    load: async () => (await import("../commands/mcp-wrap.js")).mcpUnwrap,
  },
  {
    name: "mcp status",
    summary:
      "List the MCP servers that your clients start, which are behind the gate, and sign-ins",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: ["client", "project", "config", "key-file"],
    details: [
      "Looks at the settings of the clients that `acp mcp wrap` knows, and changes nothing. With " +
        "--project it also looks at the clients' files of a project. Of each server of config.yml that " +
        "has a `url` it says whether somebody is signed in, until when, and for which rights.",
    ],
    examples: ["acp mcp status", "acp mcp status --project . --json"],
    exits: ["invalid"],
    load: async () => (await import("../commands/mcp-wrap.js")).mcpStatus,
  },
  {
    name: "mcp restart",
    summary: "Restart the MCP servers of connected clients, which go on meanwhile",
    usage: "[SERVER]",
    operandsMax: 1,
    takesRest: false,
    options: [],
    details: [
      "Reads config.yml again, restarts the server called SERVER, or all of them, for every client " +
        "that `acp resident` serves, and says whose. Clients stay connected. Calls under way have " +
        "ten seconds to finish; each gets one answer.",
      "A changed config.yml holds for connected clients without this command: servers are added, " +
        "removed and restarted within a few seconds. Servers of `acp mcp --alone` are restarted " +
        "with the client that started it, and those of `acp run` with the run.",
      "Exits with 5 if no client has such a server.",
    ],
    examples: ["acp mcp restart", "acp mcp restart files", "acp mcp restart --json"],
    exits: ["invalid", "nothing"],
    load: async () => (await import("../commands/mcp-restart.js")).mcpRestart,
  },
  {
    name: "mcp login",
    summary: "Sign in to an MCP server at an address",
    usage: "SERVER",
    operandsMax: 1,
    takesRest: false,
    options: ["config", "scope", "timeout", "key-file"],
    details: [
      "SERVER is one of config.yml that has a `url`. This command finds out who gives out the " +
        "server's tokens, prints an address that you open in a browser on this machine, and waits " +
        "until you have signed in there. Ctrl-C stops it.",
      "The token is kept in the vault. `acp mcp` sends it to that address alone, renews it, and " +
        "takes it out of whatever the server says. The agent never gets it, and cannot run this " +
        "command for you: it needs a terminal.",
      "If a server says that the token lacks a right, its error names the scopes. Run this command " +
        "again with --scope if you agree. What is running uses the new token from then on.",
    ],
    examples: [
      "acp mcp login github",
      "acp mcp login github --scope 'repo:write'",
      "acp mcp login github --json",
    ],
    exits: ["invalid", "audit"],
    load: async () => (await import("../commands/mcp-login.js")).mcpLogin,
  },
  {
    name: "mcp logout",
    summary: "Forget the token of an MCP server at an address, and revoke it",
    usage: "SERVER",
    operandsMax: 1,
    takesRest: false,
    options: ["config", "key-file"],
    details: [
      "Removes the token from the vault at once. If the authorization server can revoke tokens, it is " +
        "told; if that fails, this command says so, and the token is removed anyway.",
    ],
    examples: ["acp mcp logout github"],
    exits: ["invalid", "audit", "nothing"],
    load: async () => (await import("../commands/mcp-login.js")).mcpLogout,
  },
  {
    name: "mcp review",
    summary: "Show what MCP servers changed about their tools, and accept or refuse it",
    usage: "[SERVER [TOOL]]",
    operandsMax: 2,
    takesRest: false,
    options: [],
    details: [
      "Tools, prompts, resources with texts and instructions of a server are pinned when they are " +
        "first seen. What changes later is left out of what the agent sees, and denied, until you " +
        "accept it here. " +
        "Invisible characters are shown, and what looks like an attack is marked with `!`.",
      "Accepting and refusing take a terminal: you type the word. Without one, or with --json, it " +
        "only shows what is held back. With TOOL it shows that tool whether it changed or not.",
    ],
    examples: ["acp mcp review", "acp mcp review files write_file", "acp mcp review --json"],
    exits: ["invalid", "audit", "review"],
    load: async () => (await import("../commands/mcp-review.js")).mcpReview,
  },
  {
    name: "mcp scan",
    summary: "Report what every MCP server of the configuration presents, and what is odd about it",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: ["config", "key-file"],
    details: [
      "Starts or reaches each server as `acp mcp` does, lists its tools, and says which are new, " +
        "changed or as before, which texts look like an attack, and which tools of several servers " +
        "could be taken for each other. It calls no tool and pins nothing. Servers that do not " +
        "start are named.",
      "Exits with 7 if a tool changed or a text is marked with `!`, and with 1 if nothing is odd " +
        "but a server did not start.",
    ],
    examples: ["acp mcp scan", "acp mcp scan --json"],
    exits: ["invalid", "audit", "review"],
    load: async () => (await import("../commands/mcp-scan.js")).mcpScan,
  },
  {
    name: "proxy http",
    summary: "Run an HTTP proxy that asks before it lets requests and tunnels through",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: ["port", "config", "agent", "metrics", "alone", "tty", "key-file"],
    details: [
      "Programs find it through HTTP_PROXY and HTTPS_PROXY; it prints the lines to export. The " +
        "policy judges every plain request by method and URL, and every CONNECT by host and " +
        "port. What passes inside a tunnel is encrypted. Denied requests get 403 with a reason " +
        "as JSON. Where the policy asks, the connection waits while a person answers in " +
        "`acp approve` (docs/how-to/http-proxy.md).",
      "An approval may also cover the host, port and method for a time: 180 seconds, or the " +
        "number in ACP_HTTP_HOST_APPROVAL_TTL_SEC (0: never). Approving a GET covers GET and " +
        "HEAD. With proxy.http.host_approval: site, an approval covers every method, tunnels and " +
        "the www. twin.",
      "It listens on 127.0.0.1 only. It refuses requests to this machine and to its own network, " +
        "whatever the policy says, unless proxy.private_hosts in config.yml names the hosts.",
      "A client that authenticates as an agent in proxy.http.agents is treated as that agent. " +
        "Clients without credentials are treated as --agent (http-client), but if " +
        "proxy.http.agents lists any agents, they are refused unless you pass --agent.",
      "The gate is in the resident process of the home, as for `acp mcp`. This command listens, " +
        "passes each connection on, and goes on listening if that process ends: connections break, " +
        "new ones are served by the next one. With --alone, or with ACP_ALONE=1, it has a gate and " +
        "a log of its own.",
      "SIGINT and SIGTERM end it; requests under way have 10 seconds to finish. Refusals and " +
        "failures are reported on standard error; with --json, as one JSON object per line.",
    ],
    examples: [
      "acp proxy http",
      "acp proxy http --port 8788 --agent curl",
      "acp proxy http --port 0 --metrics 9464 --json",
      "acp proxy http --alone",
    ],
    exits: ["invalid", "audit"],
    load: async () => (await import("../commands/gate-commands.js")).proxyHttp,
  },
];
