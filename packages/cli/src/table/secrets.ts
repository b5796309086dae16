/**
 * Commands about secrets: keys, encrypted settings and the vault. Rows of the table in commands.ts.
 */
import type { Command } from "../command.js";

/** `acp keys …`, `acp config …` and `acp vault …`. */
export const SECRET_COMMANDS: readonly Command[] = [
  {
    name: "keys list",
    summary: "List the public keys of the home, and when each was in use",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: [],
    details: [
      "Needs no passphrase. The list includes the key that signs checkpoints of the audit logs.",
    ],
    examples: ["acp keys list", "acp keys list --json"],
    exits: ["invalid"],
    load: async () => (await import("../commands/keys.js")).keysList,
  },
  {
    name: "keys rotate",
    summary: "Create a new key pair, and reseal the vault and encrypted fields for it",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: ["checkpoint", "key-file"],
    details: [
      "The old public key stays trusted for what it has signed so far. If a rotation is " +
        "interrupted, ACP completes it the next time the key is opened.",
      "Running gates use the new keys within a second. Approvals that nobody has used yet and grants end: people are asked again. A gate that cannot open the new keys without asking denies every call until you restart it.",
      "With --checkpoint, the command creates a new key for the checkpoints of the audit logs instead. The old one vouches for it, so that earlier checkpoints still hold. Running gates sign with it from their next checkpoint on.",
    ],
    examples: ["acp keys rotate", "acp keys rotate --checkpoint"],
    exits: ["invalid", "audit"],
    load: async () => (await import("../commands/keys.js")).keysRotate,
  },
  {
    name: "keys passphrase",
    summary: "Change the passphrase of the private key, or use a key file instead",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: ["key-file"],
    details: [
      "Opens the key as always, then asks for the new passphrase. An empty one means a key file. If standard input is not a terminal, the new passphrase is its first line, and the old one comes from ACP_PASSPHRASE_FILE.",
      "Here, --key-file names the key file that opens the key from now on. The command creates it if it does not exist.",
      "The keys stay the same, so running gates go on. Copies of keys/private.key that somebody made before still open as they did; only `acp keys rotate` makes them worthless.",
    ],
    examples: ["acp keys passphrase", "acp keys passphrase --key-file /media/usb/acp.key"],
    exits: ["invalid", "audit"],
    load: async () => (await import("../commands/keys-unlock.js")).keysPassphrase,
  },
  {
    name: "keys reset",
    summary: "Create new keys after the passphrase or key file is lost",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: ["key-file"],
    details: [
      "Nobody can open the private key and the vault without it, and ACP cannot either. The command copies both beside themselves, as private.key.lost-… and vault.json.lost-…, and creates new keys and an empty vault. It deletes nothing: if you find the passphrase, the copies still open with it.",
      "The old public key stays trusted for what it signed. Store your secrets again with `acp vault set`, and encrypt the fields of config.yml that the command lists. Open questions and grants end.",
      "It refuses to run if the private key opens.",
    ],
    examples: ["acp keys reset", "acp keys reset --key-file /media/usb/acp.key"],
    exits: ["invalid", "audit"],
    load: async () => (await import("../commands/keys-unlock.js")).keysReset,
  },
  {
    name: "keys repair",
    summary: "Make signatures provable that a wrong clock left outside their key's time",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: [],
    details: [
      "Looks through the audit logs for answers that a key signed outside the time that keys/public.key gives it, verifies each with its question, and adds those times. Needs no passphrase.",
      "Versions before this one ended a key at the moment it began if the clock was behind when you rotated it.",
    ],
    examples: ["acp keys repair"],
    exits: ["invalid", "audit"],
    load: async () => (await import("../commands/keys.js")).keysRepair,
  },
  {
    name: "keys export",
    summary: "Print the public keys, for `acp proof verify --key`",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: [],
    details: [
      "Prints one key per line, the current one first, with the times between which it was in use. It never prints a private key.",
    ],
    examples: ["acp keys export > public.key"],
    exits: ["invalid"],
    load: async () => (await import("../commands/keys.js")).keysExport,
  },
  {
    name: "config encrypt",
    summary: "Encrypt a secret in config.yml",
    usage: "FIELD",
    operandsMax: 1,
    takesRest: false,
    options: ["key-file"],
    details: [
      "Writes FIELD of the home's config.yml as encrypted:…, and leaves everything else in the " +
        "file as it is, comments included. FIELD is telegram.bot_token, webhook.secret, " +
        "proxy.upstream_servers[N].env.NAME, or proxy.http.agents[N].token, where N counts from " +
        "0.",
      "A plain value in the file is encrypted in place. If there is no value, or it is encrypted " +
        "already, a hidden prompt asks for a new one. If standard input is not a terminal, a " +
        "value on it is always used.",
      "Gates read the file only when they start.",
    ],
    examples: [
      "acp config encrypt telegram.bot_token",
      "acp config encrypt 'proxy.upstream_servers[0].env.GITHUB_TOKEN'",
    ],
    exits: ["invalid"],
    load: async () => (await import("../commands/config-encrypt.js")).configEncrypt,
  },
  {
    name: "config schema",
    summary: "Print the JSON Schema of config.yml",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: [],
    details: [
      "An editor that knows the schema completes keys and marks mistakes while you write. It is " +
        "made from the tables that ACP reads the file with, so it never marks a file that loads.",
    ],
    examples: ["acp config schema > config.schema.json"],
    exits: [],
    load: async () => (await import("../commands/config-schema.js")).configSchemaCommand,
  },
  {
    name: "vault set",
    summary: "Store a secret, and set where it may go",
    usage: "NAME",
    operandsMax: 1,
    takesRest: false,
    options: ["server", "host", "key-file"],
    details: [
      "The value comes from a hidden prompt, or from standard input if that is not a terminal. It replaces a secret of the same name.",
      "Agents write {{secret:NAME}} where the value belongs. ACP inserts the value after " +
        "everything is decided, and only for the named servers and hosts " +
        "(docs/how-to/secrets.md).",
    ],
    examples: [
      "acp vault set GITHUB_TOKEN --server github",
      "acp vault set API_KEY --host api.example.com",
    ],
    exits: ["invalid", "audit"],
    load: async () => (await import("../commands/vault.js")).vaultSet,
  },
  {
    name: "vault list",
    summary: "List the names of secrets, and where each may go",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: ["key-file"],
    details: ["It never shows a value."],
    examples: ["acp vault list", "acp vault list --json"],
    exits: ["invalid"],
    load: async () => (await import("../commands/vault.js")).vaultList,
  },
  {
    name: "vault remove",
    summary: "Remove a secret",
    usage: "NAME",
    operandsMax: 1,
    takesRest: false,
    options: ["key-file"],
    details: ["Running gates no longer insert it. Revoke it at its issuer too."],
    examples: ["acp vault remove GITHUB_TOKEN"],
    exits: ["invalid", "audit", "nothing"],
    load: async () => (await import("../commands/vault.js")).vaultRemove,
  },
  {
    name: "vault rotate",
    summary: "Give a secret a new value; where it may go does not change",
    usage: "NAME",
    operandsMax: 1,
    takesRest: false,
    options: ["key-file"],
    details: [
      "The value comes from a hidden prompt, or from standard input if that is not a terminal.",
    ],
    examples: ["acp vault rotate GITHUB_TOKEN"],
    exits: ["invalid", "audit", "nothing"],
    load: async () => (await import("../commands/vault.js")).vaultRotate,
  },
];
