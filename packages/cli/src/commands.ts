/**
 * Commands: one table. `acp --help`, docs/cli.md and the dispatch are made from it.
 */
import type { Command } from "./command.js";
import { RECORD_COMMANDS } from "./commands-records.js";
import { SECRET_COMMANDS } from "./commands-secrets.js";

/** Every command. */
export const COMMANDS: readonly Command[] = [
  {
    name: "init",
    summary: "Make the home: config.yml, policy.yml, keys and an empty vault",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: ["key-file"],
    details: [
      "Makes the home directory, readable by you only. Files that exist are left as they are.",
      "The private key is sealed under a passphrase: typed at the terminal, or the first line of the private file that ACP_PASSPHRASE_FILE names. With --key-file, and where there is no terminal, it is sealed under a key file instead, which is made where it does not exist: whoever can read that file can open the key.",
    ],
    examples: ["acp init", "acp init --home ./acp-home", "acp init --key-file /media/stick/acp.key"],
    exits: ["invalid", "audit"],
    load: async () => (await import("./commands/init.js")).init,
  },
  {
    name: "mcp",
    summary: "Run as an MCP server that asks before it forwards tool calls",
    usage: "[-- COMMAND [ARGS…]]",
    operandsMax: 0,
    takesRest: true,
    options: ["config", "server", "agent", "tty", "key-file"],
    details: [
      "An MCP client starts this command in place of a server. Everything passes unchanged except tools/call, which the policy judges: allowed calls go on, denied ones come back with a reason, and where the policy asks, a person answers in `acp approve`.",
      "Words after -- are the one server to put it in front of; without them the servers are those of config.yml.",
      "With keys (`acp init`) every answer is signed, and secrets of the vault are put into calls. The key opens once, at the start: with its key file, with ACP_PASSPHRASE_FILE, or with --tty by a prompt.",
      "Standard output belongs to MCP. Notices go to standard error, with --json one JSON object a line.",
    ],
    examples: [
      "acp mcp --server files -- npx -y @modelcontextprotocol/server-filesystem ~/projects",
      "acp mcp --config ./acp.yml",
      "acp mcp --agent claude-code",
    ],
    exits: ["invalid", "audit"],
    load: async () => (await import("./commands/mcp.js")).mcp,
  },
  {
    name: "approve",
    summary: "Answer the questions of every running gate",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: ["once", "approve", "deny", "reason"],
    details: [
      "Attaches to the running gates of the home, shows what is asked, and sends the answer. Gates that start later are joined. Ctrl-C ends it.",
      "With --once ID it answers one question without a terminal; `acp pending` lists the ids.",
      "With --json it prints every question as it comes, one JSON object a line, and answers nothing.",
    ],
    examples: [
      "acp approve",
      "acp approve --once cr_1f0c… --approve",
      'acp approve --once cr_1f0c… --deny --reason "not in working hours"',
    ],
    exits: ["invalid", "nothing"],
    load: async () => (await import("./commands/approve.js")).approve,
  },
  {
    name: "pending",
    summary: "List open questions",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: [],
    details: ["Lists the open questions of every running gate of the home. Listing does not answer and does not count as somebody to ask."],
    examples: ["acp pending", "acp pending --json"],
    exits: ["invalid"],
    load: async () => (await import("./commands/pending.js")).pending,
  },
  {
    name: "pause",
    summary: "Deny every question for a while",
    usage: "[DURATION]",
    operandsMax: 1,
    takesRest: false,
    options: ["off"],
    details: [
      "While paused, every call that would need a person is denied with the code `paused`. Calls that the policy allows still go on.",
      "DURATION is a number with s, m, h or d (30m); without it the pause lasts until `acp pause --off`.",
    ],
    examples: ["acp pause", "acp pause 30m", "acp pause --off"],
    exits: ["invalid"],
    load: async () => (await import("./commands/pause.js")).pause,
  },
  {
    name: "policy check",
    summary: "Say whether a policy loads, and what it holds",
    usage: "[FILE]",
    operandsMax: 1,
    takesRest: false,
    options: [],
    details: ["Reads FILE, or the home's policy, as strictly as the gate does. - is standard input."],
    examples: ["acp policy check", "acp policy check ./policy.yml --json"],
    exits: ["invalid"],
    load: async () => (await import("./commands/policy-check.js")).policyCheck,
  },
  {
    name: "policy explain",
    summary: "Say which rule decides an action, and why",
    usage: "[FILE]",
    operandsMax: 1,
    takesRest: false,
    options: ["tool", "args", "http", "shell", "action"],
    details: [
      "Judges one action against FILE, or the home's policy, as the gate would now: the rule, its line, and what a person would be asked. Nothing is performed.",
    ],
    examples: [
      'acp policy explain --tool files.write_file --args \'{"path":"notes.txt"}\'',
      'acp policy explain ./policy.yml --http "POST https://api.example.com/v1/items"',
      'acp policy explain --shell "git push origin main"',
    ],
    exits: ["invalid"],
    load: async () => (await import("./commands/policy-explain.js")).policyExplain,
  },
  ...RECORD_COMMANDS,
  ...SECRET_COMMANDS,
];
