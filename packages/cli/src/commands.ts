/**
 * Commands: one table. `acp --help`, docs/reference/cli.md and the dispatch are made from it.
 */
import type { Command } from "./command.js";
import { EXEC_COMMANDS } from "./table/exec.js";
import { INBOX_COMMANDS } from "./table/inbox.js";
import { PROXY_COMMANDS } from "./table/proxy.js";
import { REVIEW_COMMANDS } from "./table/review.js";
import { RECORD_COMMANDS } from "./table/records.js";
import { SANDBOX_COMMANDS } from "./table/sandbox.js";
import { SECRET_COMMANDS } from "./table/secrets.js";
import { SERVER_COMMANDS } from "./table/servers.js";

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
  ...PROXY_COMMANDS,
  ...SANDBOX_COMMANDS,
  ...SERVER_COMMANDS,
  ...REVIEW_COMMANDS,
  {
    name: "approve",
    summary: "Answer the questions of every running gate",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: ["once", "approve", "deny", "reason", "word", "offer"],
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
    summary: "Deny every question for a while, or every call of one agent",
    usage: "[DURATION]",
    operandsMax: 1,
    takesRest: false,
    options: ["off", "agent"],
    details: [
      "While paused, every call that would need a person is denied with the code `paused`. Calls that the policy allows still go on.",
      "With --agent, every call of that agent and of all that it started is denied with the code `agent_paused`, also what the policy allows, and its open questions are denied at once.",
      "DURATION is a number with s, m, h or d (30m); without it the pause lasts until `acp pause --off`.",
    ],
    examples: ["acp pause", "acp pause 30m", "acp pause --off", "acp pause --agent mcp-client", "acp pause --agent mcp-client --off"],
    exits: ["invalid"],
    load: async () => (await import("./commands/pause.js")).pause,
  },
  {
    name: "grants",
    summary: "List earlier consents that still hold",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: [],
    details: [
      "A yes may cover more than one call where the policy offers that (`offers` of a rule) and the person chose it: for a time, a number of uses, and what the question said.",
      "Each line says who may do what, who said so, and what is left. A grant never lifts a deny and never covers what is critical.",
    ],
    examples: ["acp grants", "acp grants --json"],
    exits: ["invalid"],
    load: async () => (await import("./commands/grants.js")).grantsList,
  },
  {
    name: "grants revoke",
    summary: "End an earlier consent",
    usage: "[ID]",
    operandsMax: 1,
    takesRest: false,
    options: ["all"],
    details: [
      "Running gates ask again from the next call on, and perform nothing that a revoked grant allowed and that has not begun. It is noted in the audit log.",
    ],
    examples: ["acp grants revoke gr_1f0c…", "acp grants revoke --all"],
    exits: ["invalid", "audit", "nothing"],
    load: async () => (await import("./commands/grants.js")).grantsRevoke,
  },
  {
    name: "policy check",
    summary: "Say whether a policy loads, and what it holds",
    usage: "[FILE]",
    operandsMax: 1,
    takesRest: false,
    options: [],
    details: [
      "Reads FILE, or the home's policy, as strictly as the gate does. - is standard input. A rule for several people is an error in a home that names no approvers; of a FILE nobody knows who may answer, so there it is a warning.",
    ],
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
  {
    name: "suggest",
    summary: "Say which rules would answer what people always answered alike",
    usage: "[FILE]",
    operandsMax: 1,
    takesRest: false,
    options: ["min", "since", "config"],
    details: [
      "Reads FILE, or the home's audit logs, and the policy in force. Where people approved calls alike, and nobody denied one of them, it shows the narrowest rule that would have answered them, where in the policy it goes, and what it would newly allow. Where people denied calls alike, it shows a rule that denies.",
      "Every rule is held against the whole log before it is shown: it answers questions only, and changes nothing that the policy decides by itself. What deletes, runs, pays, sends or is of level high or critical is never suggested (docs/how-to/suggest.md).",
      "With --since, answers before that time speak for no rule; what speaks against one counts always. Nothing is written.",
    ],
    examples: ["acp suggest", "acp suggest --since 30d --min 10", "acp suggest ./audit.jsonl --json"],
    exits: ["invalid", "audit"],
    load: async () => (await import("./commands/suggest.js")).suggest,
  },
  ...EXEC_COMMANDS,
  ...RECORD_COMMANDS,
  ...INBOX_COMMANDS,
  ...SECRET_COMMANDS,
];
