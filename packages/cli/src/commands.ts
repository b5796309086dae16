/**
 * Commands: one table. The dispatch, `acp --help` and docs/reference/cli.md come from it.
 */
import type { Command } from "./command.js";
import { BACKUP_COMMANDS } from "./table/backup.js";
import { DOCTOR_COMMANDS } from "./table/doctor.js";
import { EXEC_COMMANDS } from "./table/exec.js";
import { FILES_DETAIL, FILES_MAX } from "./table/files.js";
import { INBOX_COMMANDS } from "./table/inbox.js";
import { PROXY_COMMANDS } from "./table/proxy.js";
import { RESIDENT_COMMANDS } from "./table/resident.js";
import { REVIEW_COMMANDS } from "./table/review.js";
import { RECORD_COMMANDS } from "./table/records.js";
import { SANDBOX_COMMANDS } from "./table/sandbox.js";
import { SECRET_COMMANDS } from "./table/secrets.js";
import { SERVER_COMMANDS } from "./table/servers.js";

/** Every command. */
export const COMMANDS: readonly Command[] = [
  {
    name: "init",
    summary: "Create the home: config.yml, policy.yml, keys and an empty vault",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: ["key-file"],
    details: [
      "Creates the home directory, readable only by you. Existing files are left as they are.",
      "The private key is sealed with a passphrase, which you type at the terminal, or which is " +
        "the first line of the private file that ACP_PASSPHRASE_FILE names. With --key-file, or " +
        "without a terminal, it is sealed with a key file instead. The file is created if it " +
        "does not exist. Anyone who can read it can open the key.",
    ],
    examples: [
      "acp init",
      "acp init --home ./acp-home",
      "acp init --key-file /media/stick/acp.key",
    ],
    exits: ["invalid", "audit"],
    load: async () => (await import("./commands/init.js")).init,
  },
  ...DOCTOR_COMMANDS,
  ...BACKUP_COMMANDS,
  ...PROXY_COMMANDS,
  ...RESIDENT_COMMANDS,
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
      "Attaches to the home's running gates, and to gates that start later. It shows their " +
        "questions and sends your answers. Ctrl-C ends it.",
      "With --once ID it answers one question without a terminal. `acp pending` lists the IDs.",
      "With --json it prints every question as it arrives, one JSON object per line, and answers nothing.",
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
    details: [
      "Lists the open questions of every running gate of the home. Listing answers nothing, and " +
        "a gate does not count it as a person who can answer.",
    ],
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
      "While paused, every call that needs a person is denied with the code `paused`. Calls that the policy allows still run.",
      "With --agent, every call of that agent, and of everything that it started, is denied with " +
        "the code `agent_paused`, even if the policy allows it. Its open questions are denied " +
        "immediately.",
      "DURATION is a number with s, m, h or d, such as 30m. Without it the pause lasts until `acp pause --off`.",
    ],
    examples: [
      "acp pause",
      "acp pause 30m",
      "acp pause --off",
      "acp pause --agent mcp-client",
      "acp pause --agent mcp-client --off",
    ],
    exits: ["invalid"],
    load: async () => (await import("./commands/pause.js")).pause,
  },
  {
    name: "grants",
    summary: "List the earlier consents that are still in force",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: [],
    details: [
      "An approval may cover more than one call if the policy offers that (`offers` of a rule) " +
        "and the person chose it. It is limited in time, in the number of uses, and to what the " +
        "question said.",
      "Each line shows who may do what, who approved it, and what is left. A grant never " +
        "overrides a deny and never covers a critical action.",
    ],
    examples: ["acp grants", "acp grants --json"],
    exits: ["invalid"],
    load: async () => (await import("./commands/grants.js")).grantsList,
  },
  {
    name: "grants revoke",
    summary: "Revoke an earlier consent",
    usage: "[ID]",
    operandsMax: 1,
    takesRest: false,
    options: ["all"],
    details: [
      "Running gates ask again from the next call on. What the grant allowed is not performed if " +
        "it has not begun yet. The audit log records the revocation.",
    ],
    examples: ["acp grants revoke gr_1f0c…", "acp grants revoke --all"],
    exits: ["invalid", "audit", "nothing"],
    load: async () => (await import("./commands/grants.js")).grantsRevoke,
  },
  {
    name: "policy check",
    summary: "Check that a policy loads, and show what it contains",
    usage: "[FILE…]",
    operandsMax: FILES_MAX,
    takesRest: true,
    options: [],
    details: [
      "Reads each FILE, or the home's policy, as strictly as the gate does. If FILE is -, it reads " +
        "standard input. A rule that needs several people is an error in a home that names no " +
        "approvers. For a FILE it is only a warning, because a file does not say who may answer.",
      "Names every mistake of a policy at once, one a line, and with --json as a list. With " +
        "several files, every one is checked, and --json prints one object per policy. The " +
        "command succeeds only if all of them load.",
      FILES_DETAIL,
    ],
    examples: [
      "acp policy check",
      "acp policy check ./policy.yml --json",
      "acp policy check 'policies/**/*.{yml,yaml}'",
    ],
    exits: ["invalid"],
    load: async () => (await import("./commands/policy-check.js")).policyCheck,
  },
  {
    name: "policy schema",
    summary: "Print the JSON Schema of policies",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: [],
    details: [
      "An editor that knows the schema completes keys and marks mistakes while you write. It is " +
        "made of the tables that ACP reads policies by, so it marks nothing that loads.",
    ],
    examples: ["acp policy schema > policy.schema.json"],
    exits: [],
    load: async () => (await import("./commands/policy-schema.js")).policySchemaCommand,
  },
  {
    name: "policy explain",
    summary: "Show which rule decides an action, and why",
    usage: "[FILE]",
    operandsMax: 1,
    takesRest: false,
    options: ["tool", "args", "http", "shell", "action"],
    details: [
      "Judges one action against FILE, or the home's policy, as the gate would now. Shows the " +
        "rule, its line, and what a person would be asked. It performs nothing.",
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
    summary: "Suggest rules for questions that people always answer the same way",
    usage: "[FILE…]",
    operandsMax: FILES_MAX,
    takesRest: true,
    options: ["min", "since", "config"],
    details: [
      "Reads each FILE, or the home's audit logs, and the current policy. If people approved similar " +
        "calls and nobody denied any of them, it shows the narrowest rule that would have " +
        "answered them, where it goes in the policy, and what it would newly allow. If people " +
        "denied similar calls, it shows a rule that denies them.",
      "Every rule is tested against the whole log before it is shown. It answers only what would " +
        "otherwise be a question, and changes nothing that the policy decides itself. Rules for " +
        "actions that delete, run, pay or send, or whose risk is high or critical, are never " +
        "suggested (docs/how-to/suggest.md).",
      "With --since, answers before that time do not count in favor of a rule; answers against a " +
        "rule always count. It writes nothing.",
      FILES_DETAIL,
    ],
    examples: [
      "acp suggest",
      "acp suggest --since 30d --min 10",
      "acp suggest ./audit.jsonl --json",
    ],
    exits: ["invalid", "audit"],
    load: async () => (await import("./commands/suggest.js")).suggest,
  },
  ...EXEC_COMMANDS,
  ...RECORD_COMMANDS,
  ...INBOX_COMMANDS,
  ...SECRET_COMMANDS,
];
