/**
 * Appender: puts events into the chain in the order of the calls and hands them to a store.
 */
import {
  logEvent,
  type AuditEventInput,
  type AuditReceipt,
  type AuditSink,
  type Ids,
  randomIds,
  systemClock,
} from "@acp/core";
import { hashText, lineParts, nextSeq } from "./event-line.js";
import { factsOf } from "./event-facts.js";
import { createGroupCommit, type Fill, type LogStore } from "./group-commit.js";
import { stampAt } from "./stamp.js";
import { type LogClock, watchClock } from "./wall-clock.js";

/** A sink with an end. */
export interface Appender extends AuditSink {
  /** Waits for what was appended, then refuses more. Never rejects; more calls change nothing. */
  close(): Promise<void>;
}

/** What an appender starts from. */
export interface AppenderStart {
  /** Names the log in errors. */
  readonly path: string;
  /** Where the chain ends so far. */
  readonly head?: AuditReceipt | undefined;
  /** Wall time of the last event so far. */
  readonly lastMs?: number | undefined;
  readonly clock?: LogClock | undefined;
  readonly ids?: Ids | undefined;
}

const NOTHING = "there is no event to append";

/** Chains events after the start into the store. */
export function createAppender(
  store: LogStore,
  { path, head, lastMs, clock = systemClock, ids = randomIds }: AppenderStart,
): Appender {
  const look = watchClock(clock, lastMs);
  const { write, close } = createGroupCommit(store, path, head);
  return {
    append(events, terms) {
      const fill: Fill = (group, before) => {
        if (events.length === 0) throw new RangeError(NOTHING);
        const { nowMs, monoMs, backMs } = look();
        const noted =
          backMs === undefined
            ? events
            : [logEvent("clock_went_back", stampAt(ids, nowMs), { back_ms: backMs }), ...events];
        return chainAll(noted, group, { before, monoMs });
      };
      return write(fill, terms);
    },
    close,
  };
}

/** Where the chain goes on. */
interface ChainStart {
  readonly before: AuditReceipt | undefined;
  readonly monoMs: number;
}

function chainAll(
  events: readonly AuditEventInput[],
  { lines, facts }: Parameters<Fill>[0],
  { before, monoMs }: ChainStart,
): AuditReceipt {
  let head = before;
  for (const event of events) {
    const hash = hashText(lines.addEvent(lineParts(event, head, { monoMs })));
    head = { seq: nextSeq(head), hash };
    facts.push(factsOf(event, head));
  }
  if (head === undefined) throw new RangeError(NOTHING);
  return head;
}
