/**
 * The vault in the audit log: every save is noted with its counter, so that an older vault put back is seen.
 */
import { readAuditLog } from "@acp/audit";
import { ConsentError, randomIds, systemClock } from "@acp/core";
import { compareVaultMark, keysRotatedEvent, readVaultMark, vaultChangedEvent } from "@acp/core/vault";
import type { AuditEventInput } from "@acp/core";
import type { KeyPair } from "@acp/core/proof";
import type { VaultChange, VaultMark } from "@acp/core/vault";
import { readVaultFile } from "@acp/home";
import type { Home } from "@acp/home";
import { listAuditFiles } from "./audit-files.js";
import { openHomeAudit } from "./open-audit.js";

const PARTS = { clock: systemClock, ids: randomIds };

/** Notes the vault as it is now. */
export async function noteVault(home: Home, keys: KeyPair, change: VaultChange): Promise<void> {
  const { mark } = await readVaultFile(home, keys);
  await noteMark(home, mark, change);
}

/** Notes a saved state of the vault. */
export function noteMark(home: Home, mark: VaultMark, change: VaultChange): Promise<void> {
  return note(home, [vaultChangedEvent(mark, change, PARTS)]);
}

/** Notes that the keys were rotated, and the vault that was sealed anew. */
export function noteRotation(home: Home, keys: { readonly from: string; readonly to: string }, mark: VaultMark): Promise<void> {
  return note(home, [keysRotatedEvent(keys, PARTS), vaultChangedEvent(mark, { change: "resealed" }, PARTS)]);
}

async function note(home: Home, events: readonly AuditEventInput[]): Promise<void> {
  await using audit = await openHomeAudit(home);
  await audit.append(events);
}

/** The newest state that the home's logs note. */
async function notedMark(home: Home): Promise<VaultMark | undefined> {
  let newest: { readonly mark: VaultMark; readonly atMs: number } | undefined;
  for (const file of await listAuditFiles(home.dir)) {
    for await (const event of readAuditLog(file, { filter: { eventType: "vault_changed" } })) {
      const mark = readVaultMark({ eventType: "vault_changed", metadata: event.metadata });
      if (mark !== undefined && (newest === undefined || event.atMs >= newest.atMs)) newest = { mark, atMs: event.atMs };
    }
  }
  return newest?.mark;
}

/**
 * Holds the vault against the home's logs.
 *
 * @throws ConsentError `vault_invalid` where it is not the one that was saved last.
 */
export async function checkRollback(home: Home, mark: VaultMark): Promise<void> {
  const noted = await notedMark(home);
  const result = noted === undefined ? "newer" : compareVaultMark(mark, noted);
  if (result === "same" || result === "newer") return;
  const what = result === "rolled_back" ? "an older one" : "another one";
  throw new ConsentError(
    "vault_invalid",
    `Cannot use vault "${home.vaultPath}": it is ${what} (save ${mark.counter}) than the log notes (save ${noted?.counter ?? 0}); put the newer file back, or look at acp vault list and take it as it is with acp vault set or acp vault rotate`,
  );
}
