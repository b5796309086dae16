/**
 * Write queue: what is done to the file of an index, one after the other. A line that cannot be
 * written ends it; the next opening cuts off what was written of that line.
 */
import type { FileHandle } from "node:fs/promises";
import { writeAll } from "../log-file.js";

/** The file of an index that is written. */
export interface WriteQueue {
  isFailed(): boolean;
  /** Nothing is written any more. */
  fail(): void;
  /** Adds a line. */
  write(line: string): void;
  /** Puts another file in its place, or the same; where that fails, it stays. */
  replace(make: (handle: FileHandle) => Promise<FileHandle>): void;
  /** Settles when all of it is done. */
  written(): Promise<void>;
  /** Closes the file when all of it is done. */
  close(): Promise<void>;
}

/** Nothing is waiting yet. */
export function createWriteQueue(opened: FileHandle): WriteQueue {
  let handle = opened;
  let isFailed = false;
  let writing: Promise<void> = Promise.resolve();
  const fail = (): void => {
    isFailed = true;
  };
  const next = (work: () => Promise<void>, failed: () => void): void => {
    writing = writing.then(() => (isFailed ? undefined : work())).catch(failed);
  };
  return {
    isFailed: () => isFailed,
    fail,
    write: (line) =>
      next(async () => writeAll(handle, Buffer.from(line), (await handle.stat()).size), fail),
    replace: (make) =>
      next(
        async () => {
          handle = await make(handle);
        },
        () => undefined,
      ),
    written: () => writing,
    async close() {
      await writing;
      await handle.close().catch(() => {});
    },
  };
}
