/**
 * Commands of the approval inbox and the passkeys that people sign with there. Rows of the table in commands.ts.
 */
import type { Command } from "../command.js";

/** `acp inbox` and `acp passkeys …`. */
export const INBOX_COMMANDS: readonly Command[] = [
  {
    name: "inbox",
    summary: "Answer the questions of every running gate on a page, and sign with a passkey",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: ["port", "origin", "socket", "passkey-from", "config"],
    details: [
      "Serves the approval inbox for the running gates of the home, and for those that start later. It prints a sign-in code that serves once; on the page you make a passkey, and sign in with it from then on. Ctrl-C ends it.",
      "A yes to what is high or critical takes your passkey: your own key then signs exactly what you saw, and `acp proof verify` checks it anywhere.",
      "It listens on 127.0.0.1 and takes connections of your own programs alone. For a phone, put a reverse proxy with an https name of yours in front and say --origin (docs/how-to/channels/web.md): a passkey is never made for an IP address.",
    ],
    examples: ["acp inbox", "acp inbox --passkey-from medium", "acp inbox --origin https://inbox.example.com --socket /run/acp/inbox.sock"],
    exits: ["invalid"],
    load: async () => (await import("../commands/inbox.js")).inbox,
  },
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
    load: async () => (await import("../commands/passkeys.js")).passkeysList,
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
    load: async () => (await import("../commands/passkeys.js")).passkeysRevoke,
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
    load: async () => (await import("../commands/passkeys.js")).passkeysExport,
  },
];
