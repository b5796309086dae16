/** Commands that keep, move and remove a home. Rows of the table in commands.ts. */
import type { Command } from "../command.js";

/** `acp backup`, `acp restore`, `acp move`, `acp uninstall`. */
export const BACKUP_COMMANDS: readonly Command[] = [
  {
    name: "backup",
    summary: "Write the home into one encrypted file",
    usage: "FILE",
    operandsMax: 1,
    takesRest: false,
    options: ["without-logs", "key-file"],
    details: [
      "Writes a consistent copy of the home, also while gates run: configuration, policy, keys, " +
        "vault, grants, passkeys and audit logs. The file is encrypted with a passphrase, which you " +
        "type twice, or which is the first line of the file that ACP_PASSPHRASE_FILE names; or " +
        "with the key file of --key-file or ACP_KEY_FILE. Neither file may be in the home.",
      "It reads the file again before it appears under its name, and replaces nothing. Open " +
        "questions, what agents and servers keep for themselves, and kept reviews are not in it.",
    ],
    examples: [
      "acp backup /media/stick/acp-2026-01-15.backup",
      "acp backup --without-logs --key-file ~/backup.key acp.backup",
    ],
    exits: ["invalid"],
    load: async () => (await import("../commands/backup.js")).backup,
  },
  {
    name: "restore",
    summary: "Put a home back from a backup",
    usage: "FILE",
    operandsMax: 1,
    takesRest: false,
    options: ["to", "dry-run", "yes", "without-logs", "key-file"],
    details: [
      "Checks all of the backup before it changes anything. Then it shows what would count again " +
        "although it ended since: revoked grants and passkeys, retired keys, removed secrets, an " +
        "older policy. It asks you, and the audit log records it.",
      "It refuses a home that a running process uses. The home that is there is kept beside the " +
        "restored one; nothing is deleted. If it is interrupted, run it again.",
    ],
    examples: [
      "acp restore /media/stick/acp-2026-01-15.backup --dry-run",
      "acp restore /media/stick/acp-2026-01-15.backup",
      "acp restore acp.backup --to ~/acp-restored --yes",
    ],
    exits: ["invalid", "audit"],
    load: async () => (await import("../commands/restore.js")).restore,
  },
  {
    name: "move",
    summary: "Move the home to another directory",
    usage: "DIR",
    operandsMax: 1,
    takesRest: false,
    options: [],
    details: [
      "Moves the home, also to another file system, and refuses one that a running process uses. " +
        "Where files have to be copied, every copy is compared with its original, and the old home " +
        "stays beside its place. At every moment the old home or the new one is whole. If it is " +
        "interrupted, run it again.",
      "Then it lists the lines that name the old path, in config.yml, policy.yml and the settings " +
        "of known clients in your home directory and the current one. It changes none of them. A " +
        "service of `acp service install` that starts the old home is removed.",
    ],
    examples: ["acp move ~/.config/acp", "acp move /media/encrypted/acp --home ~/.acp"],
    exits: ["invalid", "audit"],
    load: async () => (await import("../commands/move.js")).move,
  },
  {
    name: "uninstall",
    summary: "Take ACP out of the settings of clients",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: ["yes", "delete-home"],
    details: [
      "Shows what it would change in the settings of known clients, in your home directory and the " +
        "current one, and asks. A server behind `acp mcp --` gets its own command back and then " +
        "starts without the gate. Servers and hooks that are ACP itself are removed. Each file is " +
        "copied first. Files that are not JSON are listed for you to change. Then it " +
        "removes what `acp service install` wrote, ends the resident gate, and says what is left.",
      "The home stays, with its keys and logs. With --delete-home it is deleted after you type its " +
        "path at a terminal; --yes does not replace that.",
    ],
    examples: ["acp uninstall", "acp uninstall --yes", "acp uninstall --delete-home"],
    exits: ["invalid"],
    load: async () => (await import("../commands/uninstall.js")).uninstall,
  },
];
