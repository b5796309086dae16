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
  /** The store of one client's gate: its own, and what is left of that client. */
  withOwn(own: PendingStore, owner: LeftOwner): PendingStore;
  /** What no client has come back for: whoever reads it has it. */
  unclaimed(): PendingStore;
}

/** A view of the records that one gate has. */
interface View {
  readonly parts: LeftParts;
  /** Ids of records that some gate has. */
  readonly claimed: Set<string>;
  /** Ids of the records that this one has. */
  readonly mine: Set<string>;
  /** Ids of those that a call of this process went on with: they are its own from then on. */
  readonly given: Set<string>;
}

/** Nobody has come back yet. */
export function createLeftQuestions(parts: LeftParts): LeftQuestions {
  const { left, store } = parts;
  const claimed = new Set<string>();
  return {
    withOwn(own, { client, isOwn }) {
      const view: View = { parts, claimed, mine: new Set(), given: new Set() };
      const storeOf = (id: string): PendingStore => (view.mine.has(id) ? store : own);
      return {
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
    },
    unclaimed: () => ({
      ...store,
      takeDecision: () => Promise.resolve(undefined),
      async *open() {
        for (const { id } of left) {
          const record = claimed.has(id) ? undefined : await store.get(id);
          if (record === undefined || !isUnfinished(record) || claimed.has(id)) continue;
          claimed.add(id);
          yield record;
        }
      },
    }),
  };
}

/** Takes those that a client may have, and yields what its gate has to go on with. */
async function* claim(
  { parts: { left, store }, claimed, mine }: View,
  isOurs: (record: PendingRecord) => boolean,
): AsyncGenerator<PendingRecord> {
  for (const { id } of left.filter((each) => mine.has(each.id) || isOurs(each))) {
    if (claimed.has(id) && !mine.has(id)) continue;
    claimed.add(id);
    mine.add(id);
    const record = await store.get(id);
    if (record === undefined) continue;
    // One whose yes was taken waits for its very call, and for nothing else.
    if (isUnfinished(record) && !isUnreleased(record)) yield record;
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
