/**
 * Plain log: decisions as ACP v0.3 §6 keeps them, one JSON line a decision, durable, with one
 * writer. For programs that read that format. It proves nothing: lines can be changed, removed or
 * added unseen, and what happened after a decision is not in it. Put it beside a chained log with
 * teeSinks. Format: spec/audit.md §11.
 */
import type { FileHandle } from "node:fs/promises";
import {
  type AuditEventInput,
  type AuditReceipt,
  type AuditSink,
  canonicalJson,
  isConsentError,
  systemClock,
} from "@acp/core";
import { sha256 } from "./codec.js";
import { cannot, causeText } from "./errors.js";
import { createFileStore } from "./file-store.js";
import { createGroupCommit } from "./group-commit.js";
import type { LineBuffer } from "./line-buffer.js";
import { lineText, splitLines } from "./lines.js";
import { lockWriter } from "./lock.js";
import { checkDirectory, openLogFile } from "./log-file.js";
import {
  isPlainEntry,
  plainEntries,
  plainLine,
  type PlainSource,
  type PlainEntry,
} from "./plain-format.js";
import { readChunks } from "./source.js";
import { hashRange, readRange, type TornTail } from "./tail.js";

/** An open plain log. */
export interface PlainLog extends AuditSink, AsyncDisposable {
  /** Path of the log's file, as it was given. */
  readonly path: string;
  /**
   * What opening cut off at the end; `undefined` where no line was cut short. The format has no
   * place for it, so report it yourself.
   */
  readonly recovered: TornTail | undefined;
  /**
   * Waits for what was appended, refuses further appends, and lets the next writer in. Never
   * rejects; calling it again changes nothing.
   */
  close(): Promise<void>;
}

/** Options of {@link openPlainLog}. */
export interface PlainLogOptions {
  /**
   * The log's file; created if it does not exist. Its directory must exist, and nobody else may
   * write in it.
   */
  readonly path: string;
}

/**
 * Opens a plain log and becomes its only writer. A last line that a crash cut short is cut off.
 *
 * An append resolves when its decisions, and those of all calls before, are durable; an event that
 * decides nothing adds no line. A receipt holds the number of the last line, from 0 (-1: there is
 * none), and the SHA-256 of its bytes.
 *
 * @throws ConsentError `audit_busy` where another live process writes it; `audit_failed` where
 *   others could write the file or its directory, or where it is no log of this format.
 */
export async function openPlainLog({ path }: PlainLogOptions): Promise<PlainLog> {
  await checkDirectory(path);
  const lock = await lockWriter(path);
  try {
    const handle = await openLogFile(path);
    const { size, head, torn } = await readEnd(path, handle).catch(async (error: unknown) => {
      await handle.close();
      throw error;
    });
    const opened = { path, handle, size, firstSeq: 0, startedMs: 0 };
    const { write, close: closeStore } = createGroupCommit(
      await createFileStore(opened, systemClock),
      path,
      head,
    );
    const next = plainEntries();
    let closed: Promise<void> | undefined;
    const close = (): Promise<void> => (closed ??= closeStore().then(() => lock.release()));
    return {
      path,
      recovered: torn,
      append: (events) => write(({ lines }, before) => addEntries(events, next, { lines, before })),
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await lock.release();
    throw isConsentError(error) ? error : cannot("open", path)(causeText(error), error);
  }
}

const NO_LINE: AuditReceipt = { seq: -1, hash: sha256("") };

interface Lines {
  readonly lines: LineBuffer;
  readonly before: AuditReceipt | undefined;
}

function addEntries(
  events: readonly AuditEventInput[],
  next: (event: PlainSource) => PlainEntry | undefined,
  { lines, before = NO_LINE }: Lines,
): AuditReceipt {
  if (events.length === 0) throw new RangeError("there is no event to append");
  let head = before;
  for (const event of events) {
    const entry = next(event);
    if (entry === undefined) continue;
    canonicalJson(entry); // refuses what JSON.stringify would leave out or write otherwise
    const line = plainLine(entry);
    lines.add(line);
    head = { seq: head.seq + 1, hash: sha256(line) };
  }
  return head;
}

interface PlainEnd {
  readonly size: number;
  readonly head: AuditReceipt;
  readonly torn: TornTail | undefined;
}

/** How an existing file starts whose only line is torn: somebody's file must not be cut. */
const LINE_START = '{"timestamp":"';

/** Counts the lines, checks the last full one, and cuts off what follows it. */
async function readEnd(path: string, handle: FileHandle): Promise<PlainEnd> {
  let count = 0;
  let size = 0;
  let last = "";
  for await (const { bytes, ends, fault } of splitLines(readChunks(handle, { path }))) {
    const end = ends.at(-1);
    if (fault === "line_too_long")
      throw cannot("open", path)("a line is longer than a log line can be");
    if (end === undefined) continue;
    count += ends.length;
    size += end + 1;
    last = lineText(bytes.subarray((ends.at(-2) ?? -1) + 1, end)) ?? "";
  }
  if (count > 0 && !isEntryText(last))
    throw cannot(
      "open",
      path,
    )("its last line is not an entry of ACP v0.3; move the file away to start a new log");
  const { size: fileSize } = await handle.stat();
  const head = count === 0 ? NO_LINE : { seq: count - 1, hash: sha256(last) };
  if (size === fileSize) return { size, head, torn: undefined };
  const start = (await readRange(handle, 0, Math.min(fileSize, LINE_START.length))).toString(
    "latin1",
  );
  if (count === 0 && !LINE_START.startsWith(start))
    throw cannot("open", path)("it is not a log of ACP v0.3");
  const torn = { bytes: fileSize - size, hash: await hashRange(handle, size, fileSize) };
  await handle.truncate(size);
  await handle.sync();
  return { size, head, torn };
}

function isEntryText(text: string): boolean {
  try {
    return isPlainEntry(JSON.parse(text));
  } catch {
    return false;
  }
}
