/**
 * The vault in the audit log: every save is noted with its counter, so that an older vault put back
 * is seen.
 */
import { readAuditLog, readLastVaultChange } from "@acp/audit";
import type { AuditEvent, AuditLog } from "@acp/audit";
import { ConsentError, logEvent, randomIds, systemClock } from "@acp/core";
import {
  compareVaultMark,
  keysRotatedEvent,
  readVaultMark,
  vaultChangedEvent,
} from "@acp/core/vault";
import type { AuditEventInput } from "@acp/core";
import type { KeyPair } from "@acp/core/proof";
import type { KeyChange, VaultChange, VaultMark } from "@acp/core/vault";
import { readVaultFile } from "@acp/home";
import type { Home } from "@acp/home";
import { readAuditConfig } from "./log-settings.js";
import type { HomeOfUser } from "./log-settings.js";
import { readIndexKey } from "./index-key.js";
import { listAuditFiles } from "./log-files.js";
import { openHomeAudit } from "./open-audit.js";

const PARTS = { clock: systemClock, ids: randomIds };

/** Notes the vault as it is now. */
export async function noteVault(at: HomeOfUser, keys: KeyPair, change: VaultChange): Promise<void> {
  const { mark } = await readVaultFile(at.home, keys);
  await noteMark(at, mark, change);
}

/** Notes a saved state of the vault. */
export function noteMark(at: HomeOfUser, mark: VaultMark, change: VaultChange): Promise<void> {
  return note(at, [vaultChangedEvent(mark, change, PARTS)]);
}

/** Notes that the keys were rotated, and the vault that was sealed anew or begun anew. */
export function noteRotation(at: HomeOfUser, keys: KeyChange, mark: VaultMark): Promise<void> {
  const change = keys.isReset === true ? "created" : "resealed";
  return note(at, [keysRotatedEvent(keys, PARTS), vaultChangedEvent(mark, { change }, PARTS)]);
}

/** Notes something about the keys that an operator should know. */
export function noteKeys(at: HomeOfUser, notice: string, text: string): Promise<void> {
  const stamp = { id: randomIds.next("ae"), atMs: systemClock.now() };
  return note(at, [logEvent("gate_notice", stamp, { notice, text })]);
}

/** Counter of the newest vault that the home's logs note; 0 where they note none. */
export async function lastVaultCounter(home: Home): Promise<number> {
  return (await newestNote(home))?.mark.counter ?? 0;
}

/** What was done is noted also where config.yml does not load: a gate that starts will say so. */
async function note(at: HomeOfUser, events: readonly AuditEventInput[]): Promise<void> {
  await using audit = await openHomeAudit(at.home, { config: await readAuditConfig(at) });
  await audit.append(events);
}

/** The newest note of a vault. */
interface VaultNote {
  readonly mark: VaultMark;
  readonly event: AuditEvent;
  readonly file: string;
}

/** The newest state that the home's logs note. */
async function newestNote(home: Home): Promise<VaultNote | undefined> {
  const indexKey = await readIndexKey(home);
  let newest: VaultNote | undefined;
  for (const file of await listAuditFiles(home.dir)) {
    const last = await lastNoteOf(file, indexKey);
    if (last !== undefined && (newest === undefined || last.event.atMs >= newest.event.atMs))
      newest = last;
  }
  return newest;
}

/** The last of a log that says what a vault's state is: one that says nothing is passed over. */
async function lastNoteOf(
  file: string,
  indexKey: Uint8Array | undefined,
): Promise<VaultNote | undefined> {
  const last = await readLastVaultChange(file, { indexKey });
  if (last === undefined) return undefined;
  const said = noteOf(last, file);
  if (said !== undefined) return said;
  let newest: VaultNote | undefined;
  for await (const event of readAuditLog(file, {
    filter: { eventType: "vault_changed" },
    indexKey,
  })) {
    const noted = noteOf(event, file);
    if (noted !== undefined && (newest === undefined || event.atMs >= newest.event.atMs))
      newest = noted;
  }
  return newest;
}

function noteOf(event: AuditEvent, file: string): VaultNote | undefined {
  const mark = readVaultMark({ eventType: "vault_changed", metadata: event.metadata });
  return mark === undefined ? undefined : { mark, event, file };
}

/**
 * Notes the newest state of the vault again, with the time of its note, where that note is about to
 * be removed: without it an older vault put back would not be seen.
 *
 * @param firstKept - Number of the first event of the log that stays.
 */
export async function carryVaultMark(
  home: Home,
  audit: AuditLog,
  firstKept: number,
): Promise<void> {
  const newest = await newestNote(home);
  if (newest === undefined || newest.file !== audit.path || newest.event.seq >= firstKept) return;
  const { atMs, metadata, seq } = newest.event;
  await audit.append([
    logEvent(
      "vault_changed",
      { id: randomIds.next("ae"), atMs },
      { ...metadata, carried_seq: seq },
    ),
  ]);
}

/**
 * Holds the vault against the home's logs.
 *
 * @throws ConsentError `vault_invalid` where it is not the one that was saved last.
 */
export async function checkRollback(home: Home, mark: VaultMark): Promise<void> {
  const noted = (await newestNote(home))?.mark;
  const result = noted === undefined ? "newer" : compareVaultMark(mark, noted);
  if (result === "same" || result === "newer") return;
  const what = result === "rolled_back" ? "an older one" : "another one";
  throw new ConsentError(
    "vault_invalid",
    `Cannot use vault "${home.vaultPath}": it is ${what} (save ${mark.counter}) than the log notes (save ${noted?.counter ?? 0}); put the newer file back, or check acp vault list and accept it as it is with acp vault set or acp vault rotate`,
  );
}
