/**
 * Group commit: calls that come while a write is under way share the next one. The first failure of
 * the store is final: whatever waits and every later call is refused.
 */
import type { AppendTerms, AuditReceipt, ConsentError } from "@acp/core";
import { nextSeq } from "./event-line.js";
import { cannot, causeText } from "./errors.js";
import type { EventFacts } from "./event-facts.js";
import { createLineBuffer, type LineBuffer } from "./line-buffer.js";

/** Lines that are written at once. */
export interface LineGroup {
  /** Each with its newline; good until the append is over. */
  readonly bytes: Buffer;
  readonly firstSeq: number;
  /** Of each line; left out where nobody knows more than the lines. */
  readonly facts?: readonly EventFacts[];
}

/** Where lines become durable. */
export interface LogStore {
  /**
   * Adds lines at the end; resolves when they are durable. After a rejection nothing more may be
   * added.
   */
  append(group: LineGroup): Promise<void>;
  close(): Promise<void>;
}

/**
 * Adds the lines of one call that follow `head`, and the facts of each. Returns the new head; where
 * it throws, nothing of the call is written.
 */
export type Fill = (
  { lines, facts }: Pick<Group, "lines" | "facts">,
  head: AuditReceipt | undefined,
) => AuditReceipt;

/** A store with its queue. */
export interface GroupCommit {
  /**
   * Resolves with what `fill` returned when its lines and those of all calls before are durable.
   *
   * @param terms - What may wait is written with the next call that may not, or soon by itself.
   */
  write(fill: Fill, terms?: AppendTerms): Promise<AuditReceipt>;
  /** Waits for what was written, then refuses more. Never rejects; more calls change nothing. */
  close(): Promise<void>;
}

/** A group that has this many bytes takes no more calls: it is written at once. */
const GROUP_BYTES_MAX = 8 * 1024 * 1024;

/**
 * What may wait does so for this long. A client that makes one call after another has made the next
 * one by then, so that each call takes one write; what one leaves to itself stays open no longer.
 */
const WAIT_MS = 5;

/** A call of `write`. */
interface Call {
  readonly receipt: AuditReceipt;
  readonly resolve: (receipt: AuditReceipt) => void;
  readonly reject: (error: ConsentError) => void;
}

/** A call whose lines are not made yet. */
interface Waiting extends Pick<Call, "resolve"> {
  readonly fill: Fill;
  readonly reject: (error: unknown) => void;
}

/** Calls that share a write. */
export interface Group {
  readonly lines: LineBuffer;
  readonly facts: EventFacts[];
  readonly firstSeq: number;
  readonly calls: Call[];
}

/** Starts after `head`. `path` names the log in errors. */
export function createGroupCommit(
  store: LogStore,
  path: string,
  head: AuditReceipt | undefined,
): GroupCommit {
  const queue = createQueue();
  let last = head;
  let failure: ConsentError | undefined;
  let closed: Promise<void> | undefined;
  let draining: Promise<void> | undefined;
  const later = createLater(fillGroup);
  const start = createStart(() => {
    later.fill();
    draining ??= writeGroups(queue, store, { latch, onEmpty: () => (draining = undefined) });
  });

  function latch(cause: unknown, calls: readonly Call[]): void {
    failure = cannot("append to", path)(
      `${causeText(cause)}; nothing is recorded until you fix this and open the log again`,
      cause,
    );
    for (const { reject } of [...calls, ...queue.takeCalls()]) reject(failure);
  }

  function refuseAfterEnd(): void {
    if (failure !== undefined) throw failure;
    if (closed !== undefined) throw cannot("append to", path)("it is closed");
  }

  function fillGroup({ fill, resolve, reject }: Waiting): void {
    if (failure !== undefined) throw failure;
    const group = queue.open(nextSeq(last));
    last = fillWhole(group, () => fill(group, last), path);
    group.calls.push({ receipt: last, resolve, reject });
  }

  return {
    write(fill, { mayWait = false } = {}) {
      return new Promise((resolve, reject) => {
        refuseAfterEnd();
        later.add({ fill, resolve, reject });
        if (mayWait) return start.soon();
        later.fill();
        start.now();
      });
    },
    close() {
      later.fill();
      start.ifWaiting();
      closed ??= Promise.resolve(draining)
        .then(() => store.close())
        .catch(() => {}); // what matters was synced before
      return closed;
    },
  };
}

/** Writes group after group; whoever waits for one goes on when it is durable. */
async function writeGroups(
  queue: Queue,
  store: LogStore,
  { latch, onEmpty }: Writing,
): Promise<void> {
  await Promise.resolve(); // calls of the same tick go into the first group
  for (let group = queue.take(); group !== undefined; group = queue.take()) {
    const { lines, facts, firstSeq, calls } = group;
    try {
      if (lines.size() > 0) await store.append({ bytes: lines.bytes(), firstSeq, facts });
    } catch (error) {
      latch(error, calls);
      break;
    }
    for (const { resolve, receipt } of calls) resolve(receipt);
    queue.giveBack(lines);
  }
  onEmpty();
}

interface Writing {
  /** Ends the log, and refuses these calls and all that wait. */
  readonly latch: (cause: unknown, calls: readonly Call[]) => void;
  /** In the step in which no group was found: whoever comes then begins again. */
  readonly onEmpty: () => void;
}

/** Calls whose lines are made once whoever made the call has gone on. */
interface Later {
  add(call: Waiting): void;
  /** Makes them now, in their order. */
  fill(): void;
}

function createLater(fillGroup: (call: Waiting) => void): Later {
  const waiting: Waiting[] = [];
  const fill = (): void => {
    for (const call of waiting.splice(0))
      try {
        fillGroup(call);
      } catch (error) {
        call.reject(error);
      }
  };
  return {
    fill,
    add: (call) => void (waiting.push(call) === 1 && setImmediate(fill)),
  };
}

/** Begins work now, or after {@link WAIT_MS}. */
interface Start {
  now(): void;
  soon(): void;
  ifWaiting(): void;
}

function createStart(work: () => void): Start {
  let waiting: NodeJS.Timeout | undefined;
  const now = (): void => {
    clearTimeout(waiting);
    waiting = undefined;
    work();
  };
  return {
    now,
    soon: () => void (waiting ??= setTimeout(now, WAIT_MS)),
    ifWaiting: () => (waiting === undefined ? undefined : now()),
  };
}

/** All lines of a call, or none of them. */
function fillWhole({ lines, facts }: Group, fill: () => AuditReceipt, path: string): AuditReceipt {
  const size = lines.size();
  const { length } = facts;
  try {
    return fill();
  } catch (error) {
    lines.cutTo(size);
    facts.length = length;
    throw cannot("append to", path)(causeText(error), error);
  }
}

/** Groups that wait, and the memory of those that were written. */
interface Queue {
  /**
   * The group that the next call goes into; where a new one is started, `seq` is its first number.
   */
  open(seq: number): Group;
  /** The oldest group. From now on no call goes into it. */
  take(): Group | undefined;
  /** The calls of all groups, oldest first; the groups are gone. */
  takeCalls(): readonly Call[];
  /** Lines that were written: their memory is used again. */
  giveBack(lines: LineBuffer): void;
}

function createQueue(): Queue {
  const waiting: Group[] = [];
  let spare: LineBuffer | undefined;
  return {
    open(seq) {
      const open = waiting.at(-1);
      if (open !== undefined && open.lines.size() < GROUP_BYTES_MAX) return open;
      const group = { lines: spare ?? createLineBuffer(), facts: [], firstSeq: seq, calls: [] };
      spare = undefined;
      waiting.push(group);
      return group;
    },
    take: () => waiting.shift(),
    takeCalls: () => waiting.splice(0).flatMap(({ calls }) => calls),
    giveBack(lines) {
      lines.clear();
      spare = lines;
    },
  };
}
