/**
 * Left questions: what a resident that died left open, kept for the clients that come back, of every
 * configuration. Each client gets its own, by the part of a call's id that names it; what nobody
 * comes back for ends.
 * Format: spec/resident.md §5.
 */
import { isUnfinished, isUnrecorded, isUnreleased, reduce } from "@acp/core";
import type { PendingRecord, PendingStore } from "@acp/core";

/** Parts of {@link createLeftQuestions}. */
export interface LeftParts {
  /** What dead processes left, as it was when the store was opened. */
  readonly left: readonly PendingRecord[];
  /** Where it is kept now. */
  readonly store: PendingStore;
  /** Whether a log shows one of these calls or questions as forwarded; true where none can be read. */
  isForwarded(ids: readonly string[]): Promise<boolean>;
}

/** Who may come back for what it left. */
export interface LeftOwner {
  /** What the ids of its calls end with; undefined for one that gives its calls none. */
  readonly client: string | undefined;
  /** Whether a question of a call without an id is its own: the first who says so has it. */
  isOwn(record: PendingRecord): boolean;
}

/** The questions that are left, and who has which. */
export interface LeftQuestions {
  /** What one client's gate has: its own, and what is left of that client. */
  withOwn(own: PendingStore, owner: LeftOwner): OwnQuestions;
  /**
   * What no client has come back for, and each yes whose client came back without its call: whoever
   * reads it has it.
   */
  unclaimed(): PendingStore;
}

/** The questions of one client's gate. Dispose of it after the gate: what it left is there again. */
export interface OwnQuestions extends Disposable {
  readonly store: PendingStore;
}

/** A view of the records that one gate has. */
interface View {
  readonly parts: LeftParts;
  /** Ids of records that some gate has. */
  readonly claimed: Set<string>;
  /** Ids of the records that this one has. */
  readonly mine: Set<string>;
  /** Ids of those that a call of this process went on with, at whichever gate. */
  readonly given: Set<string>;
}

/** Nobody has come back yet. */
export function createLeftQuestions(parts: LeftParts): LeftQuestions {
  const { left, store } = parts;
  const claimed = new Set<string>();
  const given = new Set<string>();
  return {
    withOwn(own, { client, isOwn }) {
      const view: View = { parts, claimed, mine: new Set(), given };
      const storeOf = (id: string): PendingStore => (view.mine.has(id) ? store : own);
      const both: PendingStore = {
        put: (record) => own.put(record),
        get: (id) => storeOf(id).get(id),
        transition: (id, version, next) => storeOf(id).transition(id, version, next),
        watch: (id, signal) => storeOf(id).watch(id, signal),
        async *open() {
          yield* own.open();
          yield* claim(view, (record) =>
            record.call === undefined
              ? isOwn(record)
              : client !== undefined && record.call.endsWith(client),
          );
        },
        takeDecision: async (...wanted) =>
          (await takeLeft(view, wanted)) ?? (await own.takeDecision(...wanted)),
      };
      return {
        store: both,
        [Symbol.dispose]() {
          for (const id of view.mine) claimed.delete(id);
          view.mine.clear();
        },
      };
    },
    unclaimed: () => ({
      ...store,
      takeDecision: () => Promise.resolve(undefined),
      async *open() {
        for (const { id } of left) {
          const record = given.has(id) ? undefined : await store.get(id);
          if (record === undefined || !isUnfinished(record) || given.has(id)) continue;
          // A question that a client has back is shown there; a yes waits for its call, and for no
          // longer than this.
          if (claimed.has(id) && !isUnreleased(record)) continue;
          claimed.add(id);
          yield record;
        }
      },
    }),
  };
}

/**
 * Takes those that a client may have, and yields what its gate has to go on with. A yes that its
 * call had taken is bound to that call: every gate of its client may give it to it.
 */
async function* claim(
  { parts: { left, store }, claimed, mine }: View,
  isOurs: (record: PendingRecord) => boolean,
): AsyncGenerator<PendingRecord> {
  for (const { id } of left.filter((each) => mine.has(each.id) || isOurs(each))) {
    const record = await store.get(id);
    if (record === undefined) continue;
    const isWaiting = isUnreleased(record);
    if (claimed.has(id) && !mine.has(id) && !isWaiting) continue;
    claimed.add(id);
    mine.add(id);
    if (isUnfinished(record) && !isWaiting) yield record;
  }
}

type Wanted = Parameters<PendingStore["takeDecision"]>;

/** What the call itself left, else what a retry of its client may continue. */
async function takeLeft(
  { parts, mine, given }: View,
  [agentId, digest, nowMs, call]: Wanted,
): Promise<PendingRecord | undefined> {
  for (const id of mine) {
    const record = await settled(parts.store, id);
    if (record === undefined || record.agentId !== agentId || record.originalDigest !== digest)
      continue;
    const isThis = call !== undefined && record.call === call && !given.has(id);
    if (!isThis && (!record.deferred || record.adopted)) continue;
    if (record.outcome !== undefined) continue;
    // A store that was set back offers again what the log shows as done.
    if (await parts.isForwarded(record.call === undefined ? [id] : [id, record.call])) continue;
    if (isThis && given.has(id)) continue;
    given.add(id);
    const taken = await take(parts.store, record, nowMs);
    if (taken !== undefined) return taken;
  }
  return undefined;
}

/** How long an answer may take to get into the log. */
const ANSWER_MS_MAX = 10_000;

/** A record of which no answer is on its way into the log: that is waited for. */
async function settled(store: PendingStore, id: string): Promise<PendingRecord | undefined> {
  const record = await store.get(id);
  if (record === undefined || !isUnrecorded(record)) return record;
  try {
    for await (const next of store.watch(id, AbortSignal.timeout(ANSWER_MS_MAX)))
      if (!isUnrecorded(next)) return next;
  } catch {
    return record;
  }
  return record;
}

/** An open question as it is; a person's answer once it is marked as taken. */
async function take(
  store: PendingStore,
  record: PendingRecord,
  nowMs: number,
): Promise<PendingRecord | undefined> {
  if (record.status !== "ended" || isUnreleased(record)) return record;
  // Its caller waited, and is back.
  const adopted = reduce({ ...record, deferred: true }, { type: "adopt", atMs: nowMs });
  if (!adopted.ok) return undefined;
  const next = { ...adopted.next, deferred: record.deferred };
  return (await store.transition(record.id, record.version, next)) ? next : undefined;
}
