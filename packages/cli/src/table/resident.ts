/**
 * Commands for the resident of a home and its service. Rows of the table in commands.ts.
 */
import type { Command } from "../command.js";
import { EXEC_COMMANDS } from "./exec.js";
import { PROXY_COMMANDS } from "./proxy.js";
import { SANDBOX_COMMANDS } from "./sandbox.js";

/** What a resident reads its clients' command lines with. */
const SERVED = [...PROXY_COMMANDS, ...SANDBOX_COMMANDS, ...EXEC_COMMANDS];

/** `acp resident …` and `acp service …`. */
export const RESIDENT_COMMANDS: readonly Command[] = [
  {
    name: "unlock",
    summary: "Open the key of the home in its resident gate, with the passphrase",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: [],
    details: [
      "Asks for the passphrase, or reads it from the first line of standard input if that is not " +
        "a terminal. It starts the resident gate if none runs. Until then, calls of " +
        "`acp mcp` are denied with the code `key_locked`, which clients can repeat.",
      "The key stays open for `defaults.unlock_ttl_seconds` of config.yml (8 hours by default), " +
        "until `acp lock`, or until the resident gate ends. The passphrase is never written to a file. " +
        "After three wrong ones in a row, each further try has to wait longer.",
      "A home whose key opens with a key file has nothing to unlock.",
    ],
    examples: ["acp unlock"],
    exits: ["invalid", "nothing"],
    load: async () => (await import("../commands/unlock.js")).unlock,
  },
  {
    name: "lock",
    summary: "Lock the key that acp unlock opened",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: [],
    details: [
      "The resident gate forgets the key and everything that it opened with it, and ends its MCP " +
        "servers. Clients stay; their calls are denied with `key_locked` until `acp unlock`. A " +
        "key that ACP_PASSPHRASE_FILE or a key file opens stays open.",
    ],
    examples: ["acp lock"],
    exits: ["invalid", "nothing"],
    load: async () => (await import("../commands/unlock.js")).lock,
  },
  {
    name: "resident serve",
    summary: "Run the resident gate of the home in the foreground",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: ["stay"],
    details: [
      "One process per home opens the keys, the log and the channels once, and serves every " +
        "client that runs `acp mcp`, and every hook. Clients start it on their own; run it yourself " +
        "where they may not, for example for a client in a sandbox or a container.",
      "It ends after ten minutes without a client or an approver, unless --stay is given. SIGINT and SIGTERM end it; " +
        "clients stay, and their next request starts another one.",
    ],
    examples: ["acp resident serve", "acp resident serve --home ~/.acp"],
    exits: ["invalid"],
    load: async () => (await import("../commands/resident.js")).createServe(SERVED),
  },
  {
    name: "resident status",
    summary: "Show the resident gate of the home and its clients",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: [],
    details: [
      "Shows its process, version, uptime and memory, open questions, the budgets, and each client " +
        "with its agent, process, directory and servers.",
    ],
    examples: ["acp resident status", "acp resident status --json"],
    exits: ["invalid", "nothing"],
    load: async () => (await import("../commands/resident.js")).status,
  },
  {
    name: "resident stop",
    summary: "End the resident gate of the home, also one that hangs",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: [],
    details: [
      "Asks it to end, and kills it if it does not answer or takes longer than 15 seconds. " +
        "Its servers end with it. Calls that were under way are answered with an error that says " +
        "that their outcome is unknown. Clients stay, and their next request starts a new one.",
    ],
    examples: ["acp resident stop"],
    exits: ["invalid", "nothing"],
    load: async () => (await import("../commands/resident.js")).stop,
  },
  {
    name: "resident restart",
    summary: "Replace the resident gate of the home, also one that hangs",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: [],
    details: [
      "The one that runs takes no more requests and has 10 seconds to finish those that are under " +
        "way; then one of this version of ACP starts. Clients go to it by themselves, and open " +
        "questions stay open. A resident gate that does not answer is killed. What was under way " +
        "then is answered with an error that says that its outcome is unknown.",
      "A key that `acp unlock` opened is locked afterward. Nobody has to restart a resident gate " +
        "after an update: the first client of a newer version does it.",
    ],
    examples: ["acp resident restart", "acp resident restart --json"],
    exits: ["invalid"],
    load: async () => (await import("../commands/resident.js")).restart,
  },
  {
    name: "resident logs",
    summary: "Show what the resident gate of the home reported",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: [],
    details: ["Shows the last 100 lines of run/resident.log in the home."],
    examples: ["acp resident logs"],
    exits: ["invalid", "nothing"],
    load: async () => (await import("../commands/resident.js")).logs,
  },
  {
    name: "service install",
    summary: "Start the resident gate of the home at every login",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: [],
    details: [
      "Writes a systemd user unit, or a launchd agent on macOS, and prints the command that " +
        "starts it at once. Nobody has to: without it, clients start the resident gate when " +
        "they need it, and it ends when nobody does.",
      "A second home gets a second service. A file of that name that ACP did not write is left " +
        "as it is.",
    ],
    examples: ["acp service install", "acp service install --home ~/work/acp-home"],
    exits: ["invalid"],
    load: async () => (await import("../commands/service.js")).serviceInstall,
  },
  {
    name: "service uninstall",
    summary: "Remove what `acp service install` wrote",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: [],
    details: ["Prints the command that ends the service if it runs."],
    examples: ["acp service uninstall"],
    exits: ["invalid", "nothing"],
    load: async () => (await import("../commands/service.js")).serviceUninstall,
  },
];
