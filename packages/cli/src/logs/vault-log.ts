/**
 * Vault and keys in the audit log: every save is noted with its counter, so that an older one put
 * back is seen.
 */
import { logEvent, randomIds, systemClock } from "@acp/core";
import { keysRotatedEvent, vaultChangedEvent } from "@acp/core/vault";
import type { AuditEventInput } from "@acp/core";
import type { KeyPair } from "@acp/core/proof";
import type { KeyChange, VaultChange, VaultMark } from "@acp/core/vault";
import { stateSavedEvent } from "@acp/core/unstable";
import { readPublicKeys, readVaultFile } from "@acp/home";
import type { HomePaths } from "@acp/home";
import { readNotedStates } from "../rollback/noted-states.js";
import { keysMark, newerKeys } from "../rollback/sealed-files.js";
import { readAuditConfig } from "./log-settings.js";
import type { HomeOfUser } from "./log-settings.js";
import { openHomeAudit } from "./open-audit.js";

const PARTS = { clock: systemClock, ids: randomIds };

/** Notes the keys and the vault of a home that has just got them. */
export async function noteNewKeys(at: HomeOfUser, keys: KeyPair): Promise<void> {
  const { mark } = await readVaultFile(at.home, keys);
  const stamp = { id: randomIds.next("ae"), atMs: systemClock.now() };
  await note(at, [
    stateSavedEvent(keysMark(await readPublicKeys(at.home)), stamp),
    vaultChangedEvent(mark, { change: "created" }, PARTS),
  ]);
}

/** Notes a saved state of the vault. */
export function noteMark(at: HomeOfUser, mark: VaultMark, change: VaultChange): Promise<void> {
  return note(at, [vaultChangedEvent(mark, change, PARTS)]);
}

/** Notes that the keys were rotated, and the vault that was sealed anew or begun anew. */
export async function noteRotation(
  at: HomeOfUser,
  keys: KeyChange,
  vault: VaultMark,
): Promise<void> {
  const change = keys.isReset === true ? "created" : "resealed";
  const noted = (await readNotedStates(at.home)).get("keys");
  const mark = newerKeys(await readPublicKeys(at.home), noted);
  await note(at, [
    keysRotatedEvent({ ...keys, ...(mark !== undefined && { mark }) }, PARTS),
    vaultChangedEvent(vault, { change }, PARTS),
  ]);
}

/** Notes something about the keys that an operator should know. */
export function noteKeys(at: HomeOfUser, notice: string, text: string): Promise<void> {
  const stamp = { id: randomIds.next("ae"), atMs: systemClock.now() };
  return note(at, [logEvent("gate_notice", stamp, { notice, text })]);
}

/** Counter of the newest vault that the home's logs note; 0 where they note none. */
export async function lastVaultCounter(home: HomePaths): Promise<number> {
  return (await readNotedStates(home)).get("vault")?.counter ?? 0;
}

/** What was done is noted also where config.yml does not load: a gate that starts will say so. */
async function note(at: HomeOfUser, events: readonly AuditEventInput[]): Promise<void> {
  await using audit = await openHomeAudit(at.home, { config: await readAuditConfig(at) });
  await audit.append(events);
}
