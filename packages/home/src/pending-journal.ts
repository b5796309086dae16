/**
 * Pending journal: open questions and the latest ends, in a file, so that they survive a restart.
 * Format: spec/home.md §6.
 *
 * What a change makes of the records is decided on one table, written and synced, and only then
 * done on the table that is read: nobody sees what a crash could take back. Changes that come
 * together share one sync.
 */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { type ConsentError, type PendingRecord, type PendingStore, memoryPending } from "@acp/core";
import { writeFileAtomic } from "./atomic.js";
import { inBatches } from "./batches.js";
import { causeText, cannot } from "./errors.js";
import { printRecord } from "./pending-line.js";

/**
 * A file that has grown by this much since it was last written whole is written whole again,
 * without what is no longer needed.
 */
const GROWTH_BYTES_MAX: number = 4 * 1024 * 1024;

/** A store over one file, which no other process writes. */
export interface PendingJournal extends PendingStore, AsyncDisposable {}

/**
 * What a change makes of a table: the record it answers with, if any, and whether that is a new
 * one.
 */
interface Decided {
  readonly record: PendingRecord | undefined;
  readonly isChanged: boolean;
}

type Decide = (table: PendingStore) => Promise<Decided>;

/**
 * Writes `records` to a new file of that name, in place of an old one, and keeps it.
 *
 * After a write that failed every later change rejects: what cannot be kept is not decided.
 *
 * @throws ConsentError `home_invalid` where the file cannot be written.
 */
export async function createPendingJournal(
  path: string,
  records: readonly PendingRecord[],
): Promise<PendingJournal> {
  const [ahead, seen] = [memoryPending(), memoryPending()];
  for (const record of records) {
    await ahead.put(record);
    await seen.put(record);
  }
  const file = await createFile(path, records);
  const stop = (error: unknown): ConsentError => cannot("write", path)(causeText(error), error);
  let failure: ConsentError | undefined;

  async function show(record: PendingRecord): Promise<void> {
    const before = await seen.get(record.id);
    await (before === undefined
      ? seen.put(record)
      : seen.transition(record.id, before.version, record));
  }

  async function decideAll(batch: readonly Decide[]): Promise<readonly Decided[]> {
    const results: Decided[] = [];
    for (const decide of batch) results.push(await decide(ahead));
    const changed = results.flatMap(({ record, isChanged }) =>
      record !== undefined && isChanged ? [record] : [],
    );
    if (changed.length === 0) return results;
    await file.append(changed);
    for (const record of changed) await show(record);
    await file.shrink(async (id) => (await seen.get(id)) !== undefined);
    return results;
  }

  const batches = inBatches<Decide, Decided>(async (batch) => {
    if (failure !== undefined) throw failure;
    try {
      return await decideAll(batch);
    } catch (error) {
      throw (failure = stop(error));
    }
  });

  return {
    put: async (record) =>
      (await batches.take(async (table) => ({ record, isChanged: await table.put(record) })))
        .isChanged,
    transition: async (id, fromVersion, next) =>
      (
        await batches.take(async (table) => ({
          record: next,
          isChanged: await table.transition(id, fromVersion, next),
        }))
      ).isChanged,
    async takeDecision(agentId, digest, nowMs) {
      const taken = await batches.take(async (table) => {
        const record = await table.takeDecision(agentId, digest, nowMs);
        return { record, isChanged: record?.adopted === true };
      });
      return taken.record;
    },
    get: (id) => seen.get(id),
    open: () => seen.open(),
    watch: (id, signal) => seen.watch(id, signal),
    async [Symbol.asyncDispose]() {
      failure ??= cannot("write", path)("it is closed");
      await batches.idle();
      await file.close();
    },
  };
}

/**
 * The file: the last line of every record that is needed, and older ones until it is written anew.
 */
interface JournalFile {
  append(changed: readonly PendingRecord[]): Promise<void>;
  /** Where the file has grown enough, writes it anew with the records that are still needed. */
  shrink(isNeeded: (id: string) => Promise<boolean>): Promise<void>;
  close(): Promise<void>;
}

async function createFile(path: string, records: readonly PendingRecord[]): Promise<JournalFile> {
  const lines = new Map(records.map((record) => [record.id, printRecord(record)]));
  let handle = await writeWhole(path, lines);
  let grownBytes = 0;
  return {
    async append(changed) {
      const printed = changed.map(printRecord);
      const bytes = Buffer.from(printed.join(""));
      await handle.appendFile(bytes);
      await handle.datasync();
      for (const [at, { id }] of changed.entries()) lines.set(id, printed[at] ?? "");
      grownBytes += bytes.length;
    },
    async shrink(isNeeded) {
      if (grownBytes <= GROWTH_BYTES_MAX) return;
      for (const id of lines.keys()) if (!(await isNeeded(id))) lines.delete(id);
      const old = handle;
      handle = await writeWhole(path, lines);
      grownBytes = 0;
      await old.close();
    },
    close: () => handle.close(),
  };
}

async function writeWhole(path: string, lines: ReadonlyMap<string, string>): Promise<FileHandle> {
  await writeFileAtomic(path, [...lines.values()].join(""));
  return open(path, constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW);
}
