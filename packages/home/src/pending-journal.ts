/**
 * Pending journal: open questions and the latest ends, in a file, so that they survive a restart.
 * Format: spec/home.md §6.
 *
 * What a change makes of the records is decided on one table, written and synced, and only then
 * done on the table that is read: nobody sees what a crash could take back. Changes that come
 * together share one sync.
 */
import { type ConsentError, type PendingRecord, type PendingStore, memoryPending } from "@acp/core";
import { inBatches } from "./batches.js";
import { causeText, cannot } from "./errors.js";
import { createJournalFile, type JournalFile } from "./journal-file.js";

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
  const [ahead, seen] = [await tableOf(records), await tableOf(records)];
  const file = await createJournalFile(path, records);
  let failure: ConsentError | undefined;

  const batches = inBatches<Decide, Decided>(async (batch) => {
    if (failure !== undefined) throw failure;
    try {
      return await decideAll(batch, { ahead, seen, file });
    } catch (error) {
      throw (failure = cannot("write", path)(causeText(error), error));
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

async function tableOf(records: readonly PendingRecord[]): Promise<PendingStore> {
  const table = memoryPending();
  for (const record of records) await table.put(record);
  return table;
}

/** The two tables of a journal, and its file between them. */
interface JournalTables {
  /** What is decided on: it may hold what is not written yet. */
  readonly ahead: PendingStore;
  /** What is read: it holds only what is written. */
  readonly seen: PendingStore;
  readonly file: JournalFile;
}

async function decideAll(
  batch: readonly Decide[],
  { ahead, seen, file }: JournalTables,
): Promise<readonly Decided[]> {
  const results: Decided[] = [];
  for (const decide of batch) results.push(await decide(ahead));
  const changed = results.flatMap(({ record, isChanged }) =>
    record !== undefined && isChanged ? [record] : [],
  );
  if (changed.length === 0) return results;
  await file.append(changed);
  for (const record of changed) await show(seen, record);
  await file.shrink(async (id) => (await seen.get(id)) !== undefined);
  return results;
}

async function show(seen: PendingStore, record: PendingRecord): Promise<void> {
  const before = await seen.get(record.id);
  await (before === undefined
    ? seen.put(record)
    : seen.transition(record.id, before.version, record));
}
