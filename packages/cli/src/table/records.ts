/**
 * Commands about what was recorded: audit logs and proofs. Rows of the table in commands.ts.
 */
import { FILTER_OPTIONS } from "../logs/log-filter.js";
import type { Command } from "../command.js";
import { FILES_DETAIL, FILES_MAX } from "./files.js";

/** `acp why`, `acp audit …` and `acp proof …`. */
export const RECORD_COMMANDS: readonly Command[] = [
  {
    name: "why",
    summary: "Explain a decision: what was asked, by which rule, who answered, what came of it",
    usage: "ID | TIME",
    // A time of two words need not be quoted.
    operandsMax: 2,
    takesRest: false,
    options: ["agent", "denied"],
    details: [
      "ID is the ID of a question (cr_…), of a call or of an event (ae_…), or its beginning if no " +
        "other decision has the same one; or the number of an event in its log.",
      "TIME is a time of this machine's clock, such as 14:03, yesterday 14:03 or " +
        "2026-01-15 14:03, or one with a zone, such as 2026-01-15T14:03:00Z. The decision that is " +
        "nearest to it, at most 5 minutes away, is explained, and the others are listed. A day, " +
        "such as yesterday or 2026-01-15, lists all of its decisions.",
      "It shows the rule's text as it was in force then. It reads the log without checking the " +
        "hash chain: `acp audit verify` does. It checks the signatures of answers.",
    ],
    examples: [
      "acp why cr_1f0c…",
      "acp why yesterday 14:03 --denied",
      "acp why today --agent mcp-client",
      "acp why 2026-01-15T14:03:00Z --json",
    ],
    exits: ["invalid", "audit", "nothing"],
    load: async () => (await import("../commands/why.js")).why,
  },
  {
    name: "audit verify",
    summary: "Check that audit logs are complete and match their signed checkpoints",
    usage: "[FILE…]",
    operandsMax: FILES_MAX,
    takesRest: true,
    options: ["key", "checkpoints"],
    details: [
      "Checks each FILE, or every audit log of the home, across all the files that each has filled. " +
        "It reports the first line that does not fit, with a code that says what is broken.",
      "It compares the log with the signed checkpoints beside it, those that the witnesses in " +
        "config.yml keep in directories, and those from --checkpoints. This finds a log that was " +
        "truncated, rewritten or removed. The checkpoints' key is the home's, or the one from " +
        "--key, as `acp keys list` shows it.",
      FILES_DETAIL,
    ],
    examples: [
      "acp audit verify",
      "acp audit verify ./audit.jsonl --json",
      "acp audit verify 'logs/**/audit*.jsonl'",
      "acp audit verify ./audit.jsonl --key acp-checkpoints.pub --checkpoints /mnt/witness/audit.checkpoints",
    ],
    exits: ["invalid", "audit", "nothing"],
    load: async () => (await import("../commands/audit-verify.js")).auditVerify,
  },
  {
    name: "audit show",
    summary: "Show what was asked, decided and done",
    usage: "[FILE…]",
    operandsMax: FILES_MAX,
    takesRest: true,
    options: ["limit", ...FILTER_OPTIONS, "follow"],
    details: [
      "Shows the last events of all FILEs, or of the home's audit logs. It does not check the hash chain: `acp audit verify` does.",
      "Times are shown on this machine's clock, with their offset. Events of a clock that was ahead " +
        "count at the time of the events around them. Without --until, --since also shows events " +
        "that a clock which was set back wrote after that time.",
      "With --follow it also shows new events as they are written, including those in logs that gates start later. Ctrl-C ends it.",
      FILES_DETAIL,
    ],
    examples: [
      "acp audit show",
      "acp audit show --since 2h --decision denied",
      "acp audit show --request cr_5f1c2a7e-3b0d-4c55-9a0e-6f2d8b1c4e90",
      "acp audit show --approver ada --since 7d",
      "acp audit show --tool write_file --follow",
      "acp audit show --json --limit 0",
    ],
    exits: ["invalid", "audit", "nothing"],
    load: async () => (await import("../commands/audit-show.js")).auditShow,
  },
  {
    name: "audit export",
    summary: "Export audit logs for other programs",
    usage: "[FILE…]",
    operandsMax: FILES_MAX,
    takesRest: true,
    options: ["format", ...FILTER_OPTIONS],
    details: [
      "Writes each FILE, or all audit logs of the home one after another, to standard output. It does " +
        "not check the hash chain: `acp audit verify` does.",
      "The formats jsonl and v0.3 are always JSON, one object per line, with or without --json. " +
        "The format csv cannot be combined with --json.",
      FILES_DETAIL,
    ],
    examples: [
      "acp audit export > audit.jsonl",
      "acp audit export --format csv --since 2026-01-01T00:00:00Z > audit.csv",
    ],
    exits: ["invalid", "audit"],
    load: async () => (await import("../commands/audit-export.js")).auditExport,
  },
  {
    name: "proof export",
    summary: "Print a question with its signed answers, for others to verify",
    usage: "ID",
    operandsMax: 1,
    takesRest: false,
    options: [],
    details: [
      "Finds the question in the home's audit logs and prints the record: the request as it was " +
        "shown, and every answer with its proof.",
    ],
    examples: ["acp proof export cr_7d0c… > record.json"],
    exits: ["invalid", "audit", "nothing"],
    load: async () => (await import("../commands/proof-export.js")).proofExport,
  },
  {
    name: "proof verify",
    summary: "Check whether a record proves a consent",
    usage: "FILE",
    operandsMax: 1,
    takesRest: false,
    options: ["key", "passkeys", "at"],
    details: [
      "Needs only the record and a public key or passkey: no home and no network. It checks " +
        "whether the consent was valid when it was given, or at --at, and also reports whether " +
        "it has expired since. If FILE is -, it reads standard input.",
      "KEY is 64 hexadecimal digits, or a file that contains them or the output of " +
        "`acp keys export`. Get the key from a source that you trust: the key in the record " +
        "proves nothing.",
    ],
    examples: [
      "acp proof verify record.json --passkeys passkeys.json",
      "acp proof verify record.json --key 03a107bf…",
      "acp proof verify record.json --key public.key --at 2026-01-15T10:33:00Z",
    ],
    exits: ["invalid", "unproven"],
    load: async () => (await import("../commands/proof-verify.js")).proofVerify,
  },
];
