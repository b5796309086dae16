/**
 * `acp init`: makes the home with a commented config.yml and policy.yml, keys and an empty vault.
 * What exists stays.
 */
import { checkpointKeyPath, initHome, initKeys } from "@acp/home";
import type { Home } from "@acp/home";
import { initCheckpointKey } from "../logs/checkpoint-key.js";
import type { Invocation, Run } from "../command.js";
import { ownHomePath } from "../home/home-source.js";
import { exists } from "../home/exists.js";
import { chooseUnlock, hasKeys, keyFilePath, openKeys, readUnlock } from "../home/unlock.js";
import { noteNewKeys } from "../logs/vault-log.js";

/** A client starts the gate where nobody can type. */
const PASSPHRASE_FOR_CLIENTS: readonly string[] = [
  "",
  "Programs that start `acp mcp` have no terminal to type the passphrase on. Write it into a file that only you can read (chmod 600), and set",
  'ACP_PASSPHRASE_FILE to its path in your client\'s configuration, in the "env" of the server. Or begin without a passphrase: an empty one at',
  "`acp init` makes a key file instead.",
];

/** Runs the command. */
export const init: Run = async (invocation) => {
  const { print } = invocation;
  const { home, created, existing } = await initHome(ownHomePath(invocation));
  const keys = await makeKeys(home, invocation);
  const made = [...created, ...keys.created];
  const kept = [...existing, ...keys.existing];
  print.result({ home: home.dir, created: made, existing: kept, unlock: keys.unlock }, () => [
    ...made.map((path) => `${print.tone("green", "made")} ${path}`),
    ...kept.map((path) => `${print.tone("dim", "kept")} ${path}`),
    ...(keys.openedBy === undefined
      ? []
      : [
          "",
          `The private key opens with the file ${keys.openedBy}: anyone who can read it can sign and open the vault.`,
        ]),
    ...(keys.unlock === "passphrase" ? PASSPHRASE_FOR_CLIENTS : []),
    "",
    `Next: read ${home.policyPath}, then put \`acp mcp --\` before the command of an MCP server in your client's configuration,`,
    "and keep `acp approve` running in a second terminal.",
  ]);
  return "ok";
};

interface MadeKeys {
  readonly created: readonly string[];
  readonly existing: readonly string[];
  /** What opens the private key. */
  readonly unlock: "passphrase" | "key-file" | undefined;
  /** A key file that was made just now. */
  readonly openedBy?: string;
}

async function makeKeys(home: Home, invocation: Invocation): Promise<MadeKeys> {
  const all = [home.privateKeyPath, home.publicKeyPath, home.vaultPath];
  const found = await Promise.all(all.map(exists));
  const isNewCheckpointKey = await initCheckpointKey(home);
  const path = checkpointKeyPath(home);
  const checkpoint = {
    created: isNewCheckpointKey ? [path] : [],
    existing: isNewCheckpointKey ? [] : [path],
  };
  if (found.every(Boolean))
    return {
      created: checkpoint.created,
      existing: [...all, ...checkpoint.existing],
      unlock: undefined,
    };

  const isNew = !(await exists(home.privateKeyPath));
  // A vault without its key: a new key would not open it.
  if (isNew && (await hasKeys(home))) await openKeys(home, invocation);
  const chosen = isNew ? await chooseUnlock(home, invocation) : undefined;
  const unlock = chosen?.unlock ?? (await readUnlock(home, invocation));
  const { keys, created } = await initKeys(home, unlock);
  if (created.includes(home.vaultPath)) await noteNewKeys({ home, io: invocation.io }, keys);
  const keyFile = chosen?.isKeyFileNew === true ? keyFilePath(home, invocation) : undefined;
  return {
    created: [...(keyFile === undefined ? [] : [keyFile]), ...created, ...checkpoint.created],
    existing: [...all.filter((each) => !created.includes(each)), ...checkpoint.existing],
    unlock: unlock.kind,
    ...(keyFile !== undefined && { openedBy: keyFile }),
  };
}
