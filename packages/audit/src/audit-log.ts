/**
 * Audit log: hash-chained events with one writer. An append resolves when its events are durable.
 * On opening, what a crash left undone is mended and recorded. Format: spec/audit.md.
 */
import {
  logEvent,
  type AuditReceipt,
  type AuditSink,
  type Ids,
  isConsentError,
  randomIds,
  systemClock,
} from "@acp/core";
import { type AfterRelease, createAfterRelease } from "./after-release.js";
import { type Appender, createAppender } from "./appender.js";
import type { LineGroup } from "./group-commit.js";
import {
  type Checkpointer,
  type CheckpointerParts,
  createCheckpointer,
  type CheckpointSchedule,
} from "./checkpointer.js";
import { cannot, causeText } from "./errors.js";
import { nextSeq } from "./event-line.js";
import {
  createFileStore,
  type FileStore,
  type GroupPlace,
  type PlainTail,
  type Rotation,
} from "./file-store.js";
import { lockWriter } from "./lock.js";
import { stampAt } from "./stamp.js";
import { checkDirectory } from "./log-file.js";
import { type IndexWriter, openIndexWriter } from "./log-index/index-writer.js";
import { currentSigner } from "./current-signer.js";
import {
  endsOf,
  isQuestionEnd,
  isYesEnd,
  openedEvent,
  type OpenItem,
  type OpenWork,
  type RecoveryTerms,
} from "./open-work.js";
import { findOpenWork } from "./recover.js";
import { openTail, type OpenedTail } from "./open-tail.js";
import { resumeTree } from "./resume-tree.js";
import type { TornTail } from "./tail.js";
import type { TreeEdge } from "./tree-edge.js";
import type { LogClock } from "./wall-clock.js";
import { recheckFile } from "./recheck.js";
import { checkpointsPath, fileWitness, newestOf, type Witness } from "./witness.js";

/** Signed checkpoints of a log. */
export interface CheckpointOptions extends CheckpointSchedule {
  /**
   * The secret key that signs: `PRIVATE+KEY+…` of {@link generateNoteKey}. The key's name is the
   * log's name unless `origin` is given. A function is asked before each checkpoint, so that an open
   * log takes over a key of the same name that follows it; it must neither throw nor wait.
   */
  readonly signerKey: string | (() => string);
  /** Public keys of before: a checkpoint of theirs holds as one of the key that signs now. */
  readonly formerKeys?: readonly string[];
  /** Name of this log, unique among the logs that the key signs. */
  readonly origin?: string;
  /** Who gets each checkpoint in addition to the file `<log>.checkpoints`; nobody unless given. */
  readonly witnesses?: readonly Witness[];
}

/** Options of {@link openAuditLog}. */
export interface AuditLogOptions {
  /** Path of the log's file, as it was given. */
  readonly path: string;
  /**
   * Source of time for the events that the log itself records, for rotation, and to notice that the
   * wall clock went back; the system's clock unless given. Events that are appended have their own
   * time.
   */
  readonly clock?: LogClock;
  /** Source of ids for the events that the log itself records; random ones unless given. */
  readonly ids?: Ids;
  /** When a new file is started; never unless given. */
  readonly rotation?: Rotation;
  /** Signs how far the log has come; no checkpoints are made unless given. */
  readonly checkpoints?: CheckpointOptions;
  /**
   * Ends what the last process left open: a question that no store holds has expired, an approval
   * that nobody collected was not collected, and of an approval that was collected and of a call
   * that was forwarded the outcome is unknown. Then records `log_opened`, where the next recovery
   * starts to read. Unless given, nothing is ended.
   */
  readonly recover?: RecoverOptions;
  /**
   * Key of the index `<log>.index`, 32 bytes that only who may read the log knows: with it opening
   * reads the end of the log alone, and look-ups read little. Left out: no index is kept, and
   * opening reads what it needs. Source: spec/audit-index.md.
   */
  readonly indexKey?: Uint8Array;
}

/**
 * What is known about questions that a log shows as open, and about approvals whose outcome it does
 * not have.
 */
export interface RecoverOptions {
  /**
   * Ids of the questions that a PendingStore lists as `open()`, of this process or another: their
   * gate ends them.
   */
  readonly pendingIds: ReadonlySet<string>;
  /**
   * Ids of questions that a PendingStore keeps as ended and whose answer nobody can collect
   * anymore: for an approval among them, the log says that it was not collected. For all others it
   * says that the outcome is unknown. None unless given.
   */
  readonly untakenIds?: ReadonlySet<string>;
  /**
   * How many questions, approvals and calls of an earlier process were ended when the log was
   * opened.
   */
  readonly endedElsewhere?: (
    ids: readonly string[],
    isEnd: (eventType: string) => boolean,
  ) => Promise<ReadonlySet<string>>;
}

/** An open log. */
export interface AuditLog extends AuditSink, AsyncDisposable {
  /** Absolute or relative, as it was opened. */
  readonly path: string;
  /** Where the log ended when it was opened; `undefined` where it was empty. */
  readonly start: AuditReceipt | undefined;
  /**
   * What opening cut off at the end and recorded as `log_recovered`; `undefined` where no line was
   * cut short.
   */
  readonly recovered: TornTail | undefined;
  /** How many questions, yeses and calls of an earlier process opening ended. */
  readonly ended: number;
  /**
   * Signs a checkpoint now; resolves when every witness has it or has failed.
   *
   * @throws ConsentError `audit_failed` where the log was opened without checkpoints.
   */
  checkpoint(): Promise<string>;
  /**
   * Number of the first event that has to stay when the log is pruned: the oldest that is open, or
   * that a witness does not have although it was told just now. `Infinity` where all may go.
   *
   * @throws ConsentError `audit_failed` where the log cannot be read.
   */
  heldFrom(): Promise<number>;
  /**
   * What the log wrote at the end of its file since its last event about a state of a file of the
   * home: who follows these states need not read it.
   */
  plainTail(): PlainTail;
  /**
   * Waits for what was appended, refuses further appends, signs a last checkpoint, and lets the
   * next writer in. Never rejects; calling it again changes nothing.
   */
  close(): Promise<void>;
}

/**
 * Opens a log and becomes its only writer. A last line that a crash cut short is cut off, and that
 * is recorded in the log.
 *
 * @example
 * ```ts
 * import { openAuditLog, verifyAuditLog } from "@acp/audit";
 *
 * const log = await openAuditLog({ path: "audit.jsonl" }); // pass it to the gate as `audit`
 * await log.close();
 * const { ok, events } = await verifyAuditLog("audit.jsonl");
 * ```
 *
 * @throws ConsentError `audit_busy` where another live process writes the log; `audit_failed` where
 *   others could write the file or its directory, where its last full line is no good event, or
 *   where it ends before its last checkpoint or that of a witness; `key_rejected` for a bad key.
 */
export async function openAuditLog(options: AuditLogOptions): Promise<AuditLog> {
  const { path } = options;
  await checkDirectory(path);
  const lock = await lockWriter(path);
  try {
    const chain = await openChain(options);
    const { appender, store, tail, checkpointer, index, kept } = chain;
    let closed: Promise<void> | undefined;
    const close = (): Promise<void> => (closed ??= endLog(chain).then(() => lock.release()));
    return {
      path,
      start: tail.head,
      recovered: tail.torn,
      ended: chain.ended,
      append: (events, terms) => appender.append(events, terms),
      plainTail: store.plainTail,
      async checkpoint() {
        if (checkpointer === undefined)
          throw cannot("sign", path)("it was opened without checkpoints");
        kept.flush();
        return checkpointer.publish();
      },
      async heldFrom() {
        kept.flush();
        const work = index?.work() ?? (await findOpenWork(path));
        await checkpointer?.publish();
        return Math.min(oldestOf(work), checkpointer?.witnessed() ?? Infinity);
      },
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await lock.release();
    throw isConsentError(error) ? error : cannot("open", path)(causeText(error), error);
  }
}

function oldestOf(work: OpenWork): number {
  const open = [...work.questions(), ...work.yeses(), ...work.calls()];
  return Math.min(...open.map(({ seq }) => seq));
}

interface OpenChain {
  readonly appender: Appender;
  readonly store: FileStore;
  readonly tail: OpenedTail;
  readonly checkpointer: Checkpointer | undefined;
  readonly index: IndexWriter | undefined;
  /** What the index has not heard yet. */
  readonly kept: AfterRelease;
  readonly ended: number;
}

async function endLog({ appender, checkpointer, index, kept }: OpenChain): Promise<void> {
  await appender.close();
  kept.flush();
  await checkpointer?.close();
  await index?.close();
}

async function openChain(options: AuditLogOptions): Promise<OpenChain> {
  const { path, clock = systemClock, ids = randomIds } = options;
  const tail = await openTail(path, () => stampAt(ids, clock.now()));
  try {
    return await startChain({ ...options, clock, ids }, tail);
  } catch (error) {
    await tail.handle.close();
    throw error;
  }
}

type StartOptions = AuditLogOptions & Required<Pick<AuditLogOptions, "clock" | "ids">>;

async function startChain(options: StartOptions, tail: OpenedTail): Promise<OpenChain> {
  const { path, indexKey: key, clock } = options;
  const index =
    key === undefined
      ? undefined
      : await openIndexWriter({ path, key, now: () => clock.now(), nextSeq: nextSeq(tail.head) });
  try {
    return { ...(await startAppending(options, tail, index)), index };
  } catch (error) {
    await index?.close();
    throw error;
  }
}

async function startAppending(
  options: StartOptions,
  tail: OpenedTail,
  index: IndexWriter | undefined,
): Promise<Omit<OpenChain, "index">> {
  const { path, clock, ids, rotation, recover } = options;
  // Read before the first append, so that nothing of this process is taken for left open.
  const work = recover === undefined ? undefined : (index?.work() ?? (await findOpenWork(path)));
  const record: CheckpointerParts["record"] = (eventType, metadata) =>
    appender.append([logEvent(eventType, stampAt(ids, clock.now()), metadata)]);
  const checkpointer = await startCheckpoints(options, { tail, edge: index?.edge() }, record);
  const opened = {
    path,
    handle: tail.handle,
    size: tail.size,
    firstSeq: tail.firstSeq,
    startedMs: tail.startedMs ?? clock.now(),
  };
  const kept = createAfterRelease((group, at) => {
    checkpointer?.add(group);
    index?.add(group, at);
  });
  const onDurable = (group: LineGroup, at: GroupPlace): void => {
    if (checkpointer !== undefined || index !== undefined) kept.take(group, at);
  };
  const store = await createFileStore(opened, {
    rotation,
    now: () => clock.now(),
    recheck: (next) => recheckFile(path, next),
    onDurable,
  });
  const appender = createAppender(store, {
    path,
    head: tail.head,
    lastMs: tail.lastMs,
    clock,
    ids,
  });
  const ended =
    work === undefined || recover === undefined
      ? 0
      : await endOpenWork(appender, work, {
          ...(await readTerms(work, recover)),
          nowMs: clock.now(),
          ids,
        });
  return { appender, store, tail, checkpointer, kept, ended };
}

async function readTerms(
  work: OpenWork,
  { pendingIds, untakenIds = new Set(), endedElsewhere }: RecoverOptions,
): Promise<Omit<RecoveryTerms, "nowMs" | "ids">> {
  const endedOf = async (
    open: readonly OpenItem[],
    isEnd: (eventType: string) => boolean,
  ): Promise<Iterable<string>> => {
    const left = open.flatMap(({ requestId }) => (pendingIds.has(requestId) ? [] : requestId));
    return left.length === 0 || endedElsewhere === undefined ? [] : endedElsewhere(left, isEnd);
  };
  const questions = await endedOf(work.questions(), isQuestionEnd);
  const yeses = await endedOf(work.yeses(), isYesEnd);
  return { pendingIds, untakenIds, endedElsewhere: new Set([...questions, ...yeses]) };
}

/** How much was ended. */
async function endOpenWork(
  appender: Appender,
  work: OpenWork,
  terms: RecoveryTerms,
): Promise<number> {
  const ends = endsOf(work, terms);
  // Logs that nobody writes are looked at whenever a gate starts: they are not to grow by that.
  const open = [...work.questions(), ...work.yeses()];
  if (
    work.isSettled() &&
    ends.length === 0 &&
    open.every(({ requestId }) => terms.pendingIds.has(requestId))
  )
    return 0;
  await appender.append([...ends, openedEvent(work, terms)]);
  return ends.length;
}

async function startCheckpoints(
  { path, checkpoints }: AuditLogOptions,
  end: { readonly tail: OpenedTail; readonly edge: TreeEdge | undefined },
  record: CheckpointerParts["record"],
): Promise<Checkpointer | undefined> {
  if (checkpoints === undefined) return undefined;
  const { signerKey, witnesses = [], formerKeys = [], ...schedule } = checkpoints;
  const signer = currentSigner(signerKey);
  const { name, verifierKey } = signer();
  const { origin = name } = checkpoints;
  const witnessed = await newestOf(witnesses);
  const resumed = await resumeTree(path, {
    origin,
    verifierKeys: [verifierKey, ...formerKeys],
    ...end,
    witnessed,
  });
  const beside = fileWitness(checkpointsPath(path), "checkpoints");
  return createCheckpointer({
    origin,
    signer,
    ...resumed,
    schedule,
    witnesses: [beside, ...witnesses],
    record,
  });
}
