/**
 * `acp vault set`, `list`, `remove` and `rotate`: the secrets of the home. Values come from a
 * hidden prompt or standard input, never from an argument.
 */
import { ConsentError } from "@acp/core";
import type { KeyPair } from "@acp/core/proof";
import { Secret } from "@acp/core/vault";
import type { VaultChange } from "@acp/core/vault";
import { changeVaultFile, readVaultFile, withoutSecret, withSecret } from "@acp/home";
import type { VaultEdit } from "@acp/home";
import type { Invocation, Run } from "../command.js";
import { homeOf } from "../home/home-source.js";
import { readSecretValue } from "../home/secret-value.js";
import { openKeys } from "../home/unlock.js";
import type { HomeOfUser } from "../logs/log-settings.js";
import { noteMark } from "../logs/vault-log.js";
import { readNotedStates } from "../rollback/noted-states.js";
import { checkVault } from "../rollback/sealed-files.js";

const VALUE_BYTES_MAX: number = 64 * 1024 + 2;

/** Runs `acp vault set`. */
export const vaultSet: Run = async (invocation) => {
  const name = nameOf(invocation, "set");
  const [servers, hosts] = [listOf(invocation.values.server), listOf(invocation.values.host)];
  if (servers.length + hosts.length === 0)
    throw new ConsentError(
      "options_invalid",
      `Cannot store secret "${name}": say where it may go with --server NAME or --host HOST; without either it could not be used`,
    );
  const home = await homeOf(invocation);
  const keys = await openKeys(home, invocation);
  const secret = new Secret({
    name,
    value: await readSecretValue({ name, bytesMax: VALUE_BYTES_MAX }, invocation),
    servers,
    hosts,
  });
  const at = { home, io: invocation.io };
  await changeVault(at, keys, {
    edit: (secrets) => withSecret(secrets, secret),
    said: { change: "set", secret: name },
  });
  report(invocation, secret, "set");
  return "ok";
};

/** Runs `acp vault rotate`. */
export const vaultRotate: Run = async (invocation) => {
  const name = nameOf(invocation, "rotate");
  const home = await homeOf(invocation);
  const keys = await openKeys(home, invocation);
  const { secrets } = await readVaultFile(home, keys);
  if (!secrets.some((each) => each.name === name)) return none(invocation, name);
  const value = await readSecretValue({ name, bytesMax: VALUE_BYTES_MAX }, invocation);
  let rotated: Secret | undefined;
  const change = (now: readonly Secret[]): readonly Secret[] => {
    const { servers, hosts } = now.find((each) => each.name === name) ?? { servers: [], hosts: [] };
    rotated = new Secret({ name, value, servers, hosts });
    return withSecret(withoutSecret(now, name), rotated);
  };
  await changeVault({ home, io: invocation.io }, keys, {
    edit: change,
    said: { change: "set", secret: name },
  });
  if (rotated !== undefined) report(invocation, rotated, "rotated");
  return "ok";
};

/** Runs `acp vault remove`. */
export const vaultRemove: Run = async (invocation) => {
  const name = nameOf(invocation, "remove");
  const home = await homeOf(invocation);
  const keys = await openKeys(home, invocation);
  const { secrets } = await readVaultFile(home, keys);
  if (!secrets.some((each) => each.name === name)) return none(invocation, name);
  const change = (now: readonly Secret[]): readonly Secret[] => withoutSecret(now, name);
  await changeVault({ home, io: invocation.io }, keys, {
    edit: change,
    said: { change: "removed", secret: name },
  });
  invocation.print.result({ removed: name }, () => [
    `${invocation.print.tone("green", "removed")} ${name}`,
  ]);
  return "ok";
};

/** Runs `acp vault list`. */
export const vaultList: Run = async (invocation) => {
  const { print } = invocation;
  const home = await homeOf(invocation);
  const { counter, secrets } = await readVaultFile(home, await openKeys(home, invocation));
  print.result(
    { counter, secrets: secrets.map(({ name, servers, hosts }) => ({ name, servers, hosts })) },
    () => (secrets.length === 0 ? ["The vault is empty"] : secrets.map(describe)),
  );
  return "ok";
};

/** What is changed, and what the log says of it. */
export interface Change {
  readonly edit: VaultEdit["change"];
  readonly said: VaultChange;
}

/**
 * Changes the vault and notes it. One that is older than the log notes is not changed: what was
 * removed from it would be back, and be the newest.
 */
export async function changeVault(
  at: HomeOfUser,
  keys: KeyPair,
  { edit: change, said }: Change,
): Promise<void> {
  const noted = await readNotedStates(at.home);
  checkVault(at.home, (await readVaultFile(at.home, keys)).mark, noted);
  const above = noted.get("vault")?.counter ?? 0;
  const mark = await changeVaultFile(at.home, keys, { change, above });
  await noteMark(at, mark, said);
}

function nameOf({ operands }: Invocation, verb: string): string {
  const [name] = operands;
  if (name === undefined)
    throw new ConsentError(
      "options_invalid",
      `Cannot ${verb} a secret: name it, acp vault ${verb} NAME`,
    );
  return name;
}

function listOf(text: string | undefined): readonly string[] {
  return (text ?? "")
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
}

function none({ print }: Invocation, name: string): "nothing" {
  print.notice(`The vault has no secret of the name ${name}; acp vault list shows them`);
  return "nothing";
}

function report({ print }: Invocation, secret: Secret, done: string): void {
  const { name, servers, hosts } = secret;
  print.result({ [done]: name, servers, hosts }, () => [
    `${print.tone("green", done)} ${describe(secret)}`,
  ]);
}

function describe({ name, servers, hosts }: Secret): string {
  const places = [
    ...servers.map((server) => `server ${server}`),
    ...hosts.map((host) => `host ${host}`),
  ];
  return `${name}: ${places.length === 0 ? "goes nowhere" : `may go to ${places.join(", ")}`}`;
}
