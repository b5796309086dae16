/**
 * Commands about the packages of MCP servers. Rows of the table in commands.ts.
 */
import type { Command } from "../command.js";

/** `acp servers …`. */
export const SERVER_COMMANDS: readonly Command[] = [
  {
    name: "servers list",
    summary: "List the MCP servers that npx starts, and what each is pinned to",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: ["config"],
    details: [
      "The first time that `acp run` starts a server whose command in config.yml is npx or npm " +
        "exec, it pins the server's packages (docs/how-to/sandbox.md).",
    ],
    examples: ["acp servers list", "acp servers list --json"],
    exits: ["invalid"],
    load: async () => (await import("../commands/servers.js")).serversList,
  },
  {
    name: "servers show",
    summary: "List the packages that a server is pinned to",
    usage: "NAME",
    operandsMax: 1,
    takesRest: false,
    options: [],
    details: [
      "Shows every package in its dependency tree, with its version, its checksum, and whether " +
        "it ran a program when it was installed.",
    ],
    examples: ["acp servers show filesystem"],
    exits: ["invalid", "nothing"],
    load: async () => (await import("../commands/servers.js")).serversShow,
  },
  {
    name: "servers update",
    summary: "Look for newer packages of a server, and install them if you agree",
    usage: "NAME",
    operandsMax: 1,
    takesRest: false,
    options: ["config"],
    details: [
      "Looks up the package that the command in config.yml names, shows every package that would " +
        "be added, removed or changed, and asks at the terminal. Without a terminal it changes " +
        "nothing. A server without a pin gets its first one.",
      "Running servers keep the packages that they have.",
    ],
    examples: ["acp servers update filesystem"],
    exits: ["invalid", "audit", "nothing"],
    load: async () => (await import("../commands/servers.js")).serversUpdate,
  },
  {
    name: "servers remove",
    summary: "Remove a server's packages and its pin",
    usage: "NAME",
    operandsMax: 1,
    takesRest: false,
    options: [],
    details: [
      "First end the runs that use the server. The next start pins it again without asking. Its home is kept.",
    ],
    examples: ["acp servers remove filesystem"],
    exits: ["invalid", "audit", "nothing"],
    load: async () => (await import("../commands/servers.js")).serversRemove,
  },
];
