/**
 * Commands about what was recorded: audit logs and proofs. Rows of the table in commands.ts.
 */
import { FILTER_OPTIONS } from "../logs/log-filter.js";
import type { Command } from "../command.js";

/** `acp audit …` and `acp proof …`. */
export const RECORD_COMMANDS: readonly Command[] = [
  {
    name: "audit verify",
    summary: "Check that an audit log is whole and the one that was signed",
    usage: "[FILE]",
    operandsMax: 1,
    takesRest: false,
    options: ["key", "checkpoints"],
    details: [
      "Checks FILE, or every audit log of the home, over all the files that it has filled. The first line that does not fit is named with a code that says what it breaks.",
      "Signed checkpoints beside the log, those that witnesses of config.yml keep in directories, and those of --checkpoints are held against it: so a cut end, a log written anew and a log that was removed are found. Their key is the home's, or --key with the text that `acp keys list` shows.",
    ],
    examples: [
      "acp audit verify",
      "acp audit verify ./audit.jsonl --json",
      "acp audit verify ./audit.jsonl --key acp-checkpoints.pub --checkpoints /mnt/witness/audit.checkpoints",
    ],
    exits: ["invalid", "audit", "nothing"],
    load: async () => (await import("../commands/audit-verify.js")).auditVerify,
  },
  {
    name: "audit show",
    summary: "Show what was asked, decided and done",
    usage: "[FILE]",
    operandsMax: 1,
    takesRest: false,
    options: ["limit", ...FILTER_OPTIONS, "follow"],
    details: [
      "Shows the last events of FILE, or of the home's audit logs. It does not check the chain: `acp audit verify` does.",
      "With --follow it goes on with what is written from then on, also to logs that gates begin later. Ctrl-C ends it.",
    ],
    examples: [
      "acp audit show",
      "acp audit show --since 2h --decision denied",
      "acp audit show --tool write_file --follow",
      "acp audit show --json --limit 0",
    ],
    exits: ["invalid", "audit", "nothing"],
    load: async () => (await import("../commands/audit-show.js")).auditShow,
  },
  {
    name: "audit export",
    summary: "Write audit logs out for other programs",
    usage: "[FILE]",
    operandsMax: 1,
    takesRest: false,
    options: ["format", ...FILTER_OPTIONS],
    details: [
      "Writes FILE, or all audit logs of the home one after another, to standard output. It does not check the chain: `acp audit verify` does.",
      "jsonl and v0.3 are JSON, one object a line, with --json as without; csv cannot be had with it.",
    ],
    examples: ["acp audit export > audit.jsonl", "acp audit export --format csv --since 2026-01-01T00:00:00Z > audit.csv"],
    exits: ["invalid", "audit"],
    load: async () => (await import("../commands/audit-export.js")).auditExport,
  },
  {
    name: "proof export",
    summary: "Write a question with its signed answers, for others to verify",
    usage: "ID",
    operandsMax: 1,
    takesRest: false,
    options: [],
    details: [
      "Finds the question in the home's audit logs and prints the record: the request as it was shown, and every answer with its proof.",
    ],
    examples: ["acp proof export cr_7d0c… > record.json"],
    exits: ["invalid", "audit", "nothing"],
    load: async () => (await import("../commands/proof-export.js")).proofExport,
  },
  {
    name: "proof verify",
    summary: "Say whether a record proves a consent",
    usage: "FILE",
    operandsMax: 1,
    takesRest: false,
    options: ["key", "passkeys", "at"],
    details: [
      "Needs the record and a public key or passkey, no home and no network. Asks whether the consent was valid when it was given, or at --at, and says beside it whether it has expired since. - is standard input.",
      "KEY is 64 hexadecimal digits, or a file with them or with what `acp keys export` prints. Get it by a way that you trust: the key in the record proves nothing.",
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
