/**
 * Commands of the approval inbox and the passkeys that people sign with there. Rows of the table in commands.ts.
 */
import type { Command } from "./command.js";

/** `acp passkeys …`. */
export const INBOX_COMMANDS: readonly Command[] = [
  {
    name: "passkeys list",
    summary: "Show the passkeys whose yes counts, and those that were revoked",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: [],
    details: [
      "People make their passkeys in the inbox (`acp inbox`). Nothing of them here is a secret: the private half never leaves the phone or the key.",
    ],
    examples: ["acp passkeys list", "acp passkeys list --json"],
    exits: ["invalid"],
    load: async () => (await import("./commands/passkeys.js")).passkeysList,
  },
  {
    name: "passkeys revoke",
    summary: "Let a passkey count no more",
    usage: "ID",
    operandsMax: 1,
    takesRest: false,
    options: [],
    details: ["Holds at once for every gate and inbox of the home. What it signed before stays proven."],
    examples: ["acp passkeys revoke 5Xl0u5nUPmXAoL6CfkIyeQ"],
    exits: ["invalid", "audit", "nothing"],
    load: async () => (await import("./commands/passkeys.js")).passkeysRevoke,
  },
  {
    name: "passkeys export",
    summary: "Print the passkeys, for `acp proof verify --passkeys`",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: [],
    details: ["Public halves alone, with the times between which they counted (spec/home.md)."],
    examples: ["acp passkeys export > passkeys.json"],
    exits: ["invalid"],
    load: async () => (await import("./commands/passkeys.js")).passkeysExport,
  },
];
