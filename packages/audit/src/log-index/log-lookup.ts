/** Log lookup: the look-up tables of an opened log, opened with the first question that needs them. */
import type { FileHandle } from "node:fs/promises";
import type { LogPart, LogParts } from "../log-parts.js";
import { findSkips, type IndexOf, type IndexQuery, type Skip } from "./index-reader.js";
import { openLookup, readTables, tablesOfLog } from "./lookup-file.js";

/** What the tables say. */
export interface LogLookup extends AsyncDisposable {
  /** What need not be read, of one file alone where that is given; nothing where there are no good tables. */
  findSkips(query: IndexQuery, part?: LogPart): Promise<readonly Skip[]>;
}

/** Of a log, with the key that seals its index; without one every question reads all. */
export function openLogLookup(
  { parts }: LogParts,
  path: string,
  key: Uint8Array | undefined,
): LogLookup {
  let handle: FileHandle | undefined;
  const open = async (): Promise<IndexOf | undefined> => {
    if (key === undefined) return undefined;
    handle = await openLookup(path, "read");
    if (handle === undefined) return undefined;
    const tables = await tablesOfLog(await readTables(handle, key), parts);
    return { handle, key, tables, parts };
  };
  let opening: ReturnType<typeof open> | undefined;
  return {
    async findSkips(query, part) {
      if (Object.values(query.filter).every((value) => value === undefined)) return [];
      try {
        const of = await (opening ??= open());
        if (of === undefined || of.tables.length === 0) return [];
        if (part === undefined) return await findSkips(of, query);
        const file = await part.startSeq();
        return file === undefined ? [] : await findSkips(of, query, file);
      } catch {
        return []; // Somebody changes it, or it cannot be read: the log says all.
      }
    },
    async [Symbol.asyncDispose]() {
      await opening?.catch(() => undefined);
      await handle?.close();
    },
  };
}
