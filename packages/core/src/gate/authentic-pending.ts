/**
 * Authentic pending store: what a gate sees of its store of questions. Whatever the store gives
 * back is copied, compared with what was asked for, and counts only where this gate or another one
 * with its key wrote it. What does not count is absent, and is noted. So a store can forget what
 * people said, and cannot make it up. Format: spec/consent.md §8.
 */
import { isUnfinished, isUnreleased, type PendingRecord } from "../approval/pending-record.js";
import { PENDING_MAX } from "../limits.js";
import type { Claims, PendingStore } from "../ports.js";
import { claimAgain, claimDecision } from "./claim-decision.js";
import { idOf, IGNORED, type OnIgnored } from "./ignored.js";
import { hashOfPart, type RecordMac } from "./record-mac.js";
import type { Clock } from "../types/clock.js";

/** What a gate knows of a question that it wrote or read. */
interface Seen {
  readonly requestHash: string;
  readonly version: number;
  /** How many versions the gate had seen when it saw this one. */
  readonly at: number;
}

/** What this gate has seen of its questions, so that the store cannot go back behind it. */
interface SeenQuestions {
  /** Takes a record in. */
  note(record: PendingRecord): void;
  /** How many versions were seen so far: what a read that begins now must not fall behind. */
  mark(): number;
  /** Why the record is not the one that is known by its id; `undefined` where it may be. */
  whyOther(record: PendingRecord, since: number): string | undefined;
}

function createSeenQuestions(): SeenQuestions {
  const seen = new Map<string, Seen>();
  let count = 0;
  return {
    note({ id, request, version }) {
      const known = seen.get(id);
      if (known !== undefined && known.version >= version) return;
      const [oldest] = seen.size < PENDING_MAX ? [] : seen.keys();
      if (known === undefined && oldest !== undefined) seen.delete(oldest);
      seen.set(id, { requestHash: hashOfPart(request), version, at: ++count });
    },
    mark: () => count,
    whyOther({ id, request, version }, since) {
      const known = seen.get(id);
      if (known === undefined) return undefined;
      // A version that was seen while the store was reading is no reason to call what it read old.
      if (version < known.version && known.at <= since) return IGNORED.older;
      return hashOfPart(request) === known.requestHash ? undefined : IGNORED.other;
    },
  };
}

/** Parts of {@link authenticPending}. */
export interface AuthenticPendingParts {
  readonly store: PendingStore;
  readonly mac: RecordMac<PendingRecord>;
  readonly claims: Claims;
  readonly clock: Pick<Clock, "now">;
  readonly onIgnored: OnIgnored;
}

/** Reads and writes records of the store. */
interface Records {
  /** What a read that begins now must not fall behind. */
  mark(): number;
  /** The record that a store gave; `undefined` where it does not count. */
  open(stored: unknown, since: number): PendingRecord | undefined;
  /** The same, asked for by its id. */
  openAs(stored: unknown, id: string, since: number): PendingRecord | undefined;
  write(record: PendingRecord, keep: (signed: PendingRecord) => Promise<boolean>): Promise<boolean>;
  ignore(id: unknown, reason: string): undefined;
}

function createRecords({
  mac,
  onIgnored,
}: Pick<AuthenticPendingParts, "mac" | "onIgnored">): Records {
  const seen = createSeenQuestions();
  const ignore = (id: unknown, reason: string): undefined => {
    onIgnored("question", id, reason);
    return undefined;
  };
  const open = (stored: unknown, since: number): PendingRecord | undefined => {
    const record = mac.open(stored);
    if (record === undefined) return ignore(idOf(stored), IGNORED.forged);
    const why = seen.whyOther(record, since);
    if (why !== undefined) return ignore(record.id, why);
    seen.note(record);
    return record;
  };
  return {
    mark: seen.mark,
    ignore,
    open,
    openAs(stored, id, since) {
      const record = stored === undefined ? undefined : open(stored, since);
      return record === undefined || record.id === id ? record : ignore(id, IGNORED.other);
    },
    async write(record, keep) {
      const signed = mac.sign(record);
      const isKept = await keep(signed);
      if (isKept) seen.note(signed);
      return isKept;
    },
  };
}

/** The questions that gates with this key wrote. */
export function authenticPending({
  store,
  claims,
  clock,
  ...parts
}: AuthenticPendingParts): PendingStore {
  const { mark, open, openAs, write, ignore } = createRecords(parts);
  return {
    put: (record) => write(record, (signed) => store.put(signed)),
    transition: (id, fromVersion, next) =>
      write(next, (signed) => store.transition(id, fromVersion, signed)),
    async get(id) {
      const since = mark();
      return openAs(await store.get(id), id, since);
    },
    async *open() {
      const since = mark();
      for await (const stored of store.open()) {
        const record = open(stored, since);
        if (record !== undefined && isUnfinished(record)) yield record;
      }
    },
    async takeDecision(...wanted) {
      const [agentId, digest, , call] = wanted;
      const since = mark();
      const stored = await store.takeDecision(...wanted);
      const record = stored === undefined ? undefined : open(stored, since);
      if (record === undefined) return undefined;
      if (record.agentId !== agentId || record.originalDigest !== digest)
        return ignore(record.id, IGNORED.other);
      if (record.end === undefined) return record;
      // Once for each decision, whatever the store says of it later; and once more for the very call
      // that had taken it when its process died.
      if (await claimDecision(claims, record, clock.now())) return record;
      const isGoingOn = call !== undefined && record.call === call && isUnreleased(record);
      return isGoingOn && (await claimAgain(claims, record, clock.now()))
        ? record
        : ignore(record.id, IGNORED.taken);
    },
    async *watch(id, signal) {
      let since = mark();
      let version = -1;
      for await (const stored of store.watch(id, signal)) {
        const record = openAs(stored, id, since);
        if (record === undefined || record.version < version) continue;
        // From here on this watch's own order counts: others of this gate may be ahead of it.
        since = -1;
        version = record.version;
        yield record;
      }
    },
  };
}
