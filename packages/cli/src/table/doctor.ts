/** Commands that look after the home. Rows of the table in commands.ts. */
import type { Command } from "../command.js";

/** `acp doctor`. */
export const DOCTOR_COMMANDS: readonly Command[] = [
  {
    name: "doctor",
    summary: "Find out what is wrong with the home, and repair it",
    usage: "[FINDING]",
    operandsMax: 1,
    takesRest: false,
    options: ["fix", "yes", "quick", "full", "online", "key-file"],
    details: [
      "Examines the home, its files, the disk, the clock, config.yml and the policy, keys, vault, " +
        "audit logs, passkeys, stores, sockets, ports, channels, sandboxes and versions. Each " +
        "finding says what is wrong, why it matters, and which command repairs it. It fails if " +
        "there is an error; warnings alone do not fail it.",
      "It changes nothing without --fix. With --fix it asks before each change, and repairs only " +
        "FINDING if you name one. A broken audit log is set aside whole in `quarantined`, and a new " +
        "log begins that says so. The audit log records every change.",
      "It reads every audit log whole, and compares what the index covers with what it was when it " +
        "was written or verified; --full proves each line again instead, as acp audit verify does. " +
        "With --quick it looks only at how each log ends, and tries no sandbox. It calls no service " +
        "unless you add --online.",
      "It never asks for a passphrase: without ACP_PASSPHRASE_FILE, keys and vault under a " +
        "passphrase are not opened.",
    ],
    examples: [
      "acp doctor",
      "acp doctor --quick --json",
      "acp doctor --full",
      "acp doctor --fix",
      "acp doctor --fix log_nul --yes",
    ],
    exits: [],
    load: async () => (await import("../commands/doctor.js")).doctor,
  },
];
