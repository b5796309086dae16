/**
 * Look-up writer: adds the table of each stretch to the look-up tables beside a log, joins tables of
 * one file so that few are read for a key, and first makes what is missing from the log. Never fails
 * a log: what goes wrong here ends it until the next opening.
 */
import type { FileHandle } from "node:fs/promises";
import type { AuditReceipt } from "@acp/core";
import { nextSeq } from "../event-line.js";
import { writeAll } from "../log-file.js";
import { type LogPart, openParts } from "../log-parts.js";
import { catchUp, EVERY_EVENTS, startOfLog } from "./catch-up.js";
import { readLineFields } from "./line-fields.js";
import {
  type FoundTable,
  lookupPath,
  openLookup,
  readTables,
  readWholeTable,
  tableIn,
  tablesOfLog,
} from "./lookup-file.js";
import { joinContents, sealTable, STRETCHES_MAX, type TableContent } from "./lookup-table.js";
import { isNext } from "./record.js";
import { copyRange, replaceFile } from "./replace-file.js";
import { createStretchBuilder } from "./stretch-builder.js";

/** The tables of an open log. */
export interface LookupWriter {
  /** Adds a table, which follows the one before. */
  add(content: TableContent): void;
  /** Settles when what was added is written; at once while what was missing is still being made. */
  keptUp(): Promise<void>;
  /** Settles when that is made, too. */
  written(): Promise<void>;
  /** Ends what is missing where it is, and closes. Never rejects. */
  close(): Promise<void>;
}

/** How fine the tables are. */
export interface LookupSizes {
  /** Lines that are read together. */
  readonly spanLines?: number | undefined;
  /** So many tables of one file become one. */
  readonly joinTables?: number | undefined;
}

/** What a writer works with. */
export interface LookupWriterParts {
  readonly path: string;
  readonly key: Uint8Array;
  /** The last event before what is added; none at the log's start. */
  readonly head: AuditReceipt | undefined;
  /** Events of a table that is made of the log; for tests. */
  readonly everyEvents?: number | undefined;
  /** Ends the making of what is missing; what is there by then stays. */
  readonly signal?: AbortSignal | undefined;
  /** For tests. */
  readonly sizes?: LookupSizes | undefined;
}

const JOIN_TABLES = 16;

/** The tables as they are written. */
interface Open {
  readonly handle: FileHandle;
  /** Where the next one goes. */
  size: number;
  last: FoundTable | undefined;
  /** The last ones of one file, which may become one. */
  loose: FoundTable[];
}

/** Opens the file behind what its user does; what is added meanwhile waits. */
export function createLookupWriter(parts: LookupWriterParts): LookupWriter {
  const { key, sizes } = parts;
  const terms = { key, joinTables: sizes?.joinTables ?? JOIN_TABLES };
  const closing = new AbortController();
  let opened: Open | undefined;
  let isFailed = false;
  let isPrepared = false;
  let running: Promise<void> = Promise.resolve();
  const next = (work: () => Promise<void>): void => {
    running = running
      .then(() => (isFailed ? undefined : work()))
      .catch(() => {
        isFailed = true;
      });
  };
  const signals = parts.signal === undefined ? [] : [parts.signal];
  next(async () => {
    opened = await prepare(parts, AbortSignal.any([closing.signal, ...signals]));
    isPrepared = true;
  });
  return {
    add: (content) =>
      next(async () => {
        if (opened === undefined) throw new Error("it cannot be written");
        await addTable(opened, content, terms);
      }),
    keptUp: async () => (isPrepared ? running : undefined),
    written: () => running,
    async close() {
      closing.abort();
      await running;
      await opened?.handle.close().catch(() => undefined);
    },
  };
}

/** Brings the tables to where the index goes on; `undefined` where they cannot be. */
async function prepare(parts: LookupWriterParts, signal: AbortSignal): Promise<Open | undefined> {
  const { path, key, head } = parts;
  const handle = await openLookup(path, "write");
  if (handle === undefined) return undefined;
  let open: Open | undefined;
  try {
    await using log = await openParts(path, signal);
    const all = await tablesOfLog(await readTables(handle, key), log.parts);
    const good = all.filter((table) => table.head.nextSeq <= nextSeq(head));
    const first = await log.parts[0]?.startSeq();
    const kept = good.filter((table) => first === undefined || table.head.file >= first);
    // What is missing before them would be read for every question.
    if (kept[0]?.head.seq !== first) kept.length = 0;
    await handle.truncate(kept.at(-1)?.end ?? 0);
    const dropped = kept[0]?.at ?? 0;
    const moved = kept.map((table) => moveBack(table, dropped));
    open = {
      ...(await dropBefore(path, handle, dropped)),
      last: moved.at(-1),
      loose: looseOf(moved),
    };
    if (await fill(open, log.parts, parts)) return open;
  } catch {
    // It is made again by the next one who opens the log.
  }
  await (open?.handle ?? handle).close().catch(() => undefined);
  return undefined;
}

async function dropBefore(
  path: string,
  handle: FileHandle,
  position: number,
): Promise<Pick<Open, "handle" | "size">> {
  const kept =
    position === 0
      ? handle
      : await replaceFile(lookupPath(path), handle, async (writing) => {
          await copyRange(handle, writing, { position });
          return true;
        });
  const { size } = await kept.stat();
  return { handle: kept, size };
}

const moveBack = (table: FoundTable, bytes: number): FoundTable => ({
  ...table,
  at: table.at - bytes,
  body: table.body - bytes,
  end: table.end - bytes,
});

/** The last tables of one file, as many as may become one. */
function looseOf(tables: readonly FoundTable[]): FoundTable[] {
  const loose: FoundTable[] = [];
  for (const table of tables.toReversed()) {
    const [other] = loose;
    const isOfFile = other === undefined || other.head.file === table.head.file;
    if (!isOfFile || stretchesOf([table, ...loose]) > STRETCHES_MAX) break;
    loose.unshift(table);
  }
  return loose;
}

const stretchesOf = (tables: readonly FoundTable[]): number =>
  tables.reduce((sum, { head }) => sum + head.stretches, 0);

/** Makes the tables that are missing before the first one that is added; false where it cannot. */
async function fill(
  open: Open,
  parts: readonly LogPart[],
  { head, key, sizes, everyEvents = EVERY_EVENTS }: LookupWriterParts,
): Promise<boolean> {
  const before = open.last?.head;
  const start =
    before === undefined
      ? (await startOfLog(parts))?.head
      : { seq: before.nextSeq - 1, hash: before.hash };
  if (nextSeq(start) === nextSeq(head)) return start?.hash === head?.hash;
  const builder = createStretchBuilder(start, sizes?.spanLines);
  const terms = { key, joinTables: sizes?.joinTables ?? JOIN_TABLES };
  const made: TableContent[] = [];
  const seal = (): void => {
    const table = builder.seal();
    if (table !== undefined) made.push(table);
  };
  const write = async (): Promise<void> => {
    for (const table of made.splice(0)) await addTable(open, table, terms);
  };
  const taker = {
    head: () => builder.head(),
    take(line: Parameters<typeof builder.add>[0]) {
      const pending = builder.pending();
      if (pending !== undefined && (pending.file !== line.file || pending.events >= everyEvents))
        seal();
      const fields = readLineFields(line.bytes, line.start, line.end);
      if (fields !== undefined) builder.add(line, fields);
      return fields !== undefined;
    },
    keptUp: write,
  };
  const isMade = await catchUp(parts, taker, { from: before, beforeSeq: nextSeq(head) });
  seal();
  await write();
  return isMade && builder.head()?.hash === head?.hash;
}

async function addTable(
  open: Open,
  content: TableContent,
  { key, joinTables }: { readonly key: Uint8Array; readonly joinTables: number },
): Promise<void> {
  const { loose, last } = open;
  if (last !== undefined && !isNext(content.stretch, last.head))
    throw new Error("it does not follow");
  const isOfFile = loose.every(({ head }) => head.file === content.stretch.file);
  if (!isOfFile || stretchesOf(loose) + content.rows.length > STRETCHES_MAX) {
    await join(open, key);
    open.loose = [];
  }
  await put(open, content, { at: open.size, key });
  if (open.loose.length >= joinTables) await join(open, key);
}

/** Writes a table where the file ends, or in the place of the last ones. */
async function put(
  open: Open,
  content: TableContent,
  { at, key }: { readonly at: number; readonly key: Uint8Array },
): Promise<void> {
  const bytes = sealTable(content, key);
  const table = tableIn(bytes, { at, key });
  if (table === undefined) throw new Error("it is too large");
  await writeAll(open.handle, bytes, at);
  if (table.end < open.size) await open.handle.truncate(table.end);
  [open.size, open.last] = [table.end, table];
  open.loose.push(table);
}

/**
 * Puts one table in the place of the last ones of a file. Killed meanwhile, all of them are missing:
 * the next opening makes them again.
 */
async function join(open: Open, key: Uint8Array): Promise<void> {
  const { loose, handle } = open;
  const [first] = loose;
  if (first === undefined || loose.length < 2) return;
  const contents: TableContent[] = [];
  for (const table of loose) {
    const content = await readWholeTable({ handle, key }, table);
    // Where one is damaged, they stay as they are.
    if (content === undefined) {
      open.loose = [];
      return;
    }
    contents.push(content);
  }
  const joined = joinContents(contents);
  if (joined === undefined) return;
  open.loose = [];
  await put(open, joined, { at: first.at, key });
}
