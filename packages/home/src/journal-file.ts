/** Journal file: the records of a pending journal on disk, one a line. Format: spec/home.md §6. */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { PendingRecord } from "@acp/core";
import { writeFileAtomic } from "./atomic.js";
import { printRecord } from "./pending-line.js";

/**
 * A file that has grown by this much since it was last written whole is written whole again,
 * without what is no longer needed.
 */
const GROWTH_BYTES_MAX: number = 4 * 1024 * 1024;

/**
 * The file: the last line of every record that is needed, and older ones until it is written anew.
 */
export interface JournalFile {
  /** Adds a line for each record; resolves when they are durable. */
  append(changed: readonly PendingRecord[]): Promise<void>;
  /** Where the file has grown enough, writes it anew with the records that are still needed. */
  shrink(isNeeded: (id: string) => Promise<boolean>): Promise<void>;
  close(): Promise<void>;
}

/** Writes the file with these records, in place of an old one. */
export async function createJournalFile(
  path: string,
  records: readonly PendingRecord[],
): Promise<JournalFile> {
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
