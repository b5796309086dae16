/**
 * Sealed files: keys and vault, held against the home's logs. An older one stops its own use, never
 * a gate that can deny.
 */
import { hash as digest } from "node:crypto";
import { ConsentError } from "@acp/core";
import type { VaultMark } from "@acp/core/vault";
import type { StateMark } from "@acp/core/unstable";
import { readPublicKeys } from "@acp/home";
import type { HomePaths, KeyPeriod } from "@acp/home";
import type { NotedStates } from "./noted-states.js";
import { whyOlder } from "./state-guard.js";

/** What a person does about older keys or an older vault. */
export const MEND = "put the newer file back, or declare a restore";

/**
 * The state of the keys: how many keys the home has had, and which. The times of the keys are not
 * part of it: they may begin earlier without anybody rotating them.
 */
export function keysMark(periods: readonly KeyPeriod[]): StateMark {
  const keys = keysOf(periods);
  return { kind: "keys", counter: keys.length, hash: hashOf(keys) };
}

const keysOf = (periods: readonly KeyPeriod[]): readonly string[] => [
  ...new Set(periods.map(({ publicKey }) => publicKey)),
];

/** Newest first. */
const hashOf = (keys: readonly string[]): string =>
  `sha256:${digest("sha256", keys.map((key) => `${key}\n`).join(""), "hex")}`;

/** Of a list that was read once and is asked about at each call. */
const pastOf = new WeakMap<readonly KeyPeriod[], ReadonlySet<string>>();

/** The hashes of the keys, and of those that they came after. */
function pastHashes(periods: readonly KeyPeriod[]): ReadonlySet<string> {
  const known = pastOf.get(periods);
  if (known !== undefined) return known;
  const keys = keysOf(periods);
  const hashes = new Set(keys.map((_, index) => hashOf(keys.slice(index))));
  pastOf.set(periods, hashes);
  return hashes;
}

/** Whether the keys are those that were noted, or came after them. */
const isSince = (periods: readonly KeyPeriod[], { hash: noted }: StateMark): boolean =>
  pastHashes(periods).has(noted);

/** The state of keys that came after those that are noted; `undefined` for these, and for older ones. */
export function newerKeys(
  periods: readonly KeyPeriod[],
  noted: StateMark | undefined,
): StateMark | undefined {
  const mark = keysMark(periods);
  if (noted === undefined) return mark;
  if (mark.hash === noted.hash || !isSince(periods, noted)) return undefined;
  return { ...mark, counter: Math.max(mark.counter, noted.counter + 1) };
}

/**
 * Why the home's keys must not be used; `undefined` where they may.
 *
 * @param read - Gives the public keys as they are now.
 */
export async function whyKeysOlder(
  home: HomePaths,
  noted: NotedStates,
  read: () => Promise<readonly KeyPeriod[]> = () => readPublicKeys(home),
): Promise<string | undefined> {
  const mark = noted.get("keys");
  if (mark === undefined || isSince(await read(), mark)) return undefined;
  return `the log notes newer keys than those of "${home.publicKeyPath}"; ${MEND}`;
}

/**
 * Holds the vault against the home's logs.
 *
 * @throws ConsentError `vault_invalid` where it is not the one that was saved last.
 */
export function checkVault(
  { vaultPath }: Pick<HomePaths, "vaultPath">,
  { counter, hash }: VaultMark,
  noted: NotedStates,
): void {
  const why = whyOlder({ counter, hash, isSealed: true }, noted.get("vault"));
  if (why !== undefined) throw vaultOlder({ vaultPath }, why);
}

/** What is thrown for a vault that must not be used. */
export function vaultOlder({ vaultPath }: Pick<HomePaths, "vaultPath">, why: string): ConsentError {
  return new ConsentError("vault_invalid", `Cannot use vault "${vaultPath}": ${why}; ${MEND}`);
}
