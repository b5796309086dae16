/**
 * Commands of the approval inbox and the passkeys that people sign with there. Rows of the table in
 * commands.ts.
 */
import type { Command } from "../command.js";

/** `acp inbox` and `acp passkeys …`. */
export const INBOX_COMMANDS: readonly Command[] = [
  {
    name: "inbox",
    summary: "Answer the questions of every running gate in a browser, and sign with a passkey",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: ["port", "origin", "socket", "passkey-from", "config"],
    details: [
      "Serves the approval inbox for the home's running gates, and for gates that start later. " +
        "It prints a one-time sign-in code. With the code you create a passkey on the page, and " +
        "from then on you sign in with the passkey. Ctrl-C ends it.",
      "Approving a high or critical action needs your passkey. Your own key then signs exactly " +
        "what you saw, and `acp proof verify` can check the signature anywhere.",
      "It listens on 127.0.0.1. On Linux, unless you pass --origin, it accepts connections from " +
        "your own programs only. To use it from a phone, put a reverse proxy with an HTTPS name " +
        "of yours in front of it and pass --origin (docs/how-to/channels/web.md). A passkey " +
        "cannot be created for an IP address.",
    ],
    examples: [
      "acp inbox",
      "acp inbox --passkey-from medium",
      "acp inbox --origin https://inbox.example.com --socket /run/acp/inbox.sock",
    ],
    exits: ["invalid"],
    load: async () => (await import("../commands/inbox.js")).inbox,
  },
  {
    name: "passkeys list",
    summary: "List active and revoked passkeys",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: [],
    details: [
      "People create their passkeys in the inbox (`acp inbox`). Nothing listed here is secret: " +
        "the private half never leaves the phone or the security key.",
    ],
    examples: ["acp passkeys list", "acp passkeys list --json"],
    exits: ["invalid"],
    load: async () => (await import("../commands/passkeys.js")).passkeysList,
  },
  {
    name: "passkeys revoke",
    summary: "Revoke a passkey",
    usage: "ID",
    operandsMax: 1,
    takesRest: false,
    options: [],
    details: [
      "Takes effect immediately for every gate and inbox of the home. What the passkey signed before stays proven.",
    ],
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
    details: [
      "Prints the public halves only, with the times between which each was valid (spec/home.md).",
    ],
    examples: ["acp passkeys export > passkeys.json"],
    exits: ["invalid"],
    load: async () => (await import("../commands/passkeys.js")).passkeysExport,
  },
];
