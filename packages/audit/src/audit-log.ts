/**
 * Audit log: one file of hash-chained events with one writer. An append resolves when its events are durable.
 * Does not sign and does not rotate. Format: spec/audit.md.
 */
import { type AuditReceipt, type AuditSink, type Clock, type Ids, isConsentError, randomIds, systemClock } from "@acp/core";
import { type Appender, createAppender } from "./appender.js";
import { cannot, causeText } from "./errors.js";
import { lockWriter } from "./lock.js";
import { checkDirectory, createFileStore, openLogFile } from "./log-file.js";
import { type TornTail, readTail, recoverTail } from "./tail.js";

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

async function openChain({ path, clock = systemClock, ids = randomIds }: AuditLogOptions): Promise<OpenedChain> {
  const handle = await openLogFile(path);
  try {
    const found = await readTail(path, handle);
    const { torn } = found;
    const stamp = { id: ids.next("ae"), atMs: clock.now() };
    const tail = torn === undefined ? found : await recoverTail({ path, handle, tail: { ...found, torn } }, stamp);
    const store = await createFileStore(path, handle, tail.size);
    return { appender: createAppender(path, store, tail.head), start: tail.head, recovered: torn };
  } catch (error) {
    await handle.close();
    throw error;
  }
}
