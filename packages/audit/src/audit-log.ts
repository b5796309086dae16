/**
 * Audit log: one file of hash-chained events with one writer. An append resolves when its events are durable.
 * Does not sign and does not rotate. Format: spec/audit.md.
 */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { type AuditReceipt, type AuditSink, type Clock, type Ids, isConsentError, randomIds, systemClock } from "@acp/core";
import { type Appender, createAppender } from "./appender.js";
import { cannot, causeText } from "./errors.js";
import { lockWriter } from "./lock.js";
import { checkDirectory, createFileStore, openLogFile } from "./log-file.js";
import { type Tail, type TornTail, readTail, recoverTail } from "./tail.js";

/** Options of {@link openAuditLog}. */
export interface AuditLogOptions {
  /** The log's file; made where it does not exist. Its directory must exist and nobody else may write in it. */
  readonly path: string;
  /** Time of the event that records a repair. */
  readonly clock?: Pick<Clock, "now">;
  /** Id of the event that records a repair. */
  readonly ids?: Ids;
}

/** An open log. */
export interface AuditLog extends AuditSink, AsyncDisposable {
  readonly path: string;
  /** Where the log ended when it was opened; `undefined` where it was empty. */
  readonly start: AuditReceipt | undefined;
  /** What opening cut off the end and recorded as `log_recovered`; `undefined` where nothing was torn. */
  readonly recovered: TornTail | undefined;
  /** Waits for what was appended, then refuses more and lets the next writer in. Never rejects; more calls change nothing. */
  close(): Promise<void>;
}

/**
 * Opens a log and becomes its only writer. A last line that a crash cut short is cut off, and that is recorded in the log.
 *
 * @throws ConsentError `audit_busy` where another live process writes the log; `audit_failed` where others could write the file or its
 * directory, or where its last full line is no good event.
 */
export async function openAuditLog(options: AuditLogOptions): Promise<AuditLog> {
  const { path } = options;
  await checkDirectory(path);
  const lock = await lockWriter(path);
  try {
    const { appender, start, recovered } = await openChain(options);
    let closed: Promise<void> | undefined;
    const close = (): Promise<void> => (closed ??= appender.close().then(() => lock.release()));
    return { path, start, recovered, append: (events) => appender.append(events), close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await lock.release();
    throw isConsentError(error) ? error : cannot("open", path)(causeText(error), error);
  }
}

interface OpenedChain {
  readonly appender: Appender;
  readonly start: AuditReceipt | undefined;
  readonly recovered: TornTail | undefined;
}

async function openChain(options: AuditLogOptions): Promise<OpenedChain> {
  const { path } = options;
  const handle = await openLogFile(path);
  try {
    const found = await readTail(path, handle);
    const tail = await repair(options, handle, found);
    const store = await createFileStore(path, handle, tail.size);
    return { appender: createAppender(path, store, tail.head), start: tail.head, recovered: tail.torn };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Through a handle of its own: the log's handle can only append. */
async function repair(options: AuditLogOptions, handle: FileHandle, tail: Tail): Promise<Tail> {
  const { torn } = tail;
  if (torn === undefined) return tail;
  const { path, clock = systemClock, ids = randomIds } = options;
  await using writing = await open(path, constants.O_WRONLY | constants.O_NOFOLLOW);
  const [ours, theirs] = [await handle.stat(), await writing.stat()];
  if (ours.ino !== theirs.ino || ours.dev !== theirs.dev) throw cannot("open", path)("it was replaced while it was opened");
  return await recoverTail(writing, { ...tail, torn }, { id: ids.next("ae"), atMs: clock.now() });
}
