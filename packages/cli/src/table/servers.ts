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
      "Servers of config.yml whose command is npx or npm exec are pinned when `acp run` first starts them (docs/how-to/sandbox.md).",
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
    details: ["Every package of its tree, with its version, its sum, and whether it ran a program when it was installed."],
    examples: ["acp servers show filesystem"],
    exits: ["invalid", "nothing"],
    load: async () => (await import("../commands/servers.js")).serversShow,
  },
  {
    name: "servers update",
    summary: "Look for newer packages of a server, and install them after a yes",
    usage: "NAME",
    operandsMax: 1,
    takesRest: false,
    options: ["config"],
    details: [
      "Looks up what the command in config.yml names, shows every package that would be added, removed or changed, and asks at the terminal. Without a terminal nothing is changed. A server that has no pin yet gets its first one.",
      "Servers that run go on with what they have.",
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
    details: ["End the runs that use the server first. The next start pins it anew, without asking. Its home stays."],
    examples: ["acp servers remove filesystem"],
    exits: ["invalid", "audit", "nothing"],
    load: async () => (await import("../commands/servers.js")).serversRemove,
  },
];
