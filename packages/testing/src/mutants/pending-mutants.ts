/**
 * Pending store mutants: open questions and their ends, kept with one fault each. Source of the
 * laws: spec/ports.md.
 */
import type { JsonValue, PendingRecord, PendingStore, Store } from "@acp/core";
import type { Mutant } from "./mutant.js";
import { ending, keeping, later, pending, without } from "./store-fault.js";

function rounded<T extends JsonValue>(value: T): T;
function rounded(value: JsonValue): JsonValue {
  if (typeof value === "number") return Math.round(value);
  if (Array.isArray(value)) return value.map((item: JsonValue) => rounded(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, rounded(inner)]));
}

const RECORDS: readonly Mutant<Store>[] = [
  keeping("drops counted approvals", (record) => ({ ...record, approvals: [] })),
  keeping("keeps the last approval alone", (record) => ({
    ...record,
    approvals: record.approvals.slice(-1),
  })),
  keeping("drops the signed answers of approvals", (record) => ({
    ...record,
    approvals: record.approvals.map((approval) => without(approval, "response")),
  })),
  keeping(
    "drops edits",
    ending((end) => without(end, "modifications")),
  ),
  keeping(
    "drops the digest of what was approved",
    ending((end) => without(end, "effectiveDigest")),
  ),
  keeping(
    "drops the signed answers of an end",
    ending((end) => without(end, "responses")),
  ),
  keeping(
    "drops the people of an end",
    ending((end) => ({ ...end, approverIds: [] })),
  ),
  keeping(
    "drops the offer that was taken",
    ending((end) => without(end, "grantId")),
  ),
  keeping(
    "drops the question that took its place",
    ending((end) => without(end, "successorId")),
  ),
  keeping(
    "drops why it ended",
    ending((end) => without(end, "denyCode")),
  ),
  keeping(
    "drops until when a decision holds",
    ending((end) => ({ ...end, validUntilMs: Number.MAX_SAFE_INTEGER })),
  ),
  keeping(
    "takes every end as recorded",
    ending((end) => ({ ...end, recorded: true })),
  ),
  keeping("drops escalations", (record) => without(record, "escalated")),
  keeping("drops that the caller calls again", (record) => ({ ...record, deferred: false })),
  keeping("drops that a decision was taken", (record) => ({ ...record, adopted: false })),
  keeping("drops the approvers of a question", (record) => ({
    ...record,
    request: without(record.request, "approvers"),
  })),
  keeping("drops the steps of a question", (record) => ({
    ...record,
    request: without(record.request, "escalation"),
  })),
  keeping("drops the offers of a question", (record) => ({
    ...record,
    request: { ...record.request, offers: [] },
  })),
  keeping("rounds amounts in an action", (record) => ({
    ...record,
    action: rounded(record.action),
  })),
  keeping("cuts long texts", (record) => ({
    ...record,
    request: { ...record.request, text: record.request.text.slice(0, 1_000) },
  })),
  keeping("keeps ASCII alone", (record) => ({
    ...record,
    request: { ...record.request, text: record.request.text.replaceAll(/[^\u0000-\u007f]/g, "?") },
  })),
];

async function* all(good: PendingStore, ids: ReadonlySet<string>): AsyncGenerator<PendingRecord> {
  for (const id of ids) {
    const record = await good.get(id);
    if (record !== undefined) yield record;
  }
}

/** The ids that were put, beside the good store's own put. */
function noting(good: PendingStore): {
  readonly ids: ReadonlySet<string>;
  readonly put: PendingStore["put"];
} {
  const ids = new Set<string>();
  return { ids, put: (record) => good.put(record).then((isNew) => (ids.add(record.id), isNew)) };
}

/** Lists some of what ended besides. */
const listing = (name: string, isListed: (record: PendingRecord) => boolean): Mutant<Store> =>
  pending(name, (good) => {
    const { ids, put } = noting(good);
    return {
      put,
      async *open() {
        yield* good.open();
        for await (const record of all(good, ids))
          if (record.status === "ended" && isListed(record)) yield record;
      },
    };
  });

/** Leaves out some of what it has to list. */
const unlisting = (name: string, isLeftOut: (record: PendingRecord) => boolean): Mutant<Store> =>
  pending(name, (good) => ({
    async *open() {
      for await (const record of good.open()) if (!isLeftOut(record)) yield record;
    },
  }));

const LISTING: readonly Mutant<Store>[] = [
  unlisting("lists no approval that nobody took", ({ status }) => status === "ended"),
  unlisting(
    "lists no approval that its caller waits for",
    ({ status, deferred }) => status === "ended" && !deferred,
  ),
  unlisting(
    "lists no approval that is kept for a retry",
    ({ status, deferred }) => status === "ended" && deferred,
  ),
  listing("lists an approval that was taken", ({ adopted }) => adopted),
  listing(
    "lists an approval that is known not to be collected",
    ({ outcome }) => outcome !== undefined,
  ),
  listing(
    "lists an approval before its end is recorded",
    ({ end }) => end?.recorded === false && end.effectiveDigest !== undefined,
  ),
  listing("lists a denial", ({ end }) => end?.status === "denied"),
];

const FINDING: readonly Mutant<Store>[] = [
  pending("gives another record than the one asked for", (good) => {
    const { ids, put } = noting(good);
    return { put, get: (id) => good.get([...ids].find((other) => other !== id) ?? id) };
  }),
  pending("gives a record for ids that nobody put", (good) => {
    const { ids, put } = noting(good);
    return { put, get: async (id) => (await good.get(id)) ?? good.get([...ids][0] ?? "") };
  }),
  pending("gives the first version for ever", (good) => {
    const first = new Map<string, PendingRecord>();
    return {
      put: (record) => (first.has(record.id) || first.set(record.id, record), good.put(record)),
      get: (id) => Promise.resolve(first.get(id)),
    };
  }),
  pending("loses a record that ended", (good) => ({
    get: async (id) => {
      const record = await good.get(id);
      return record?.status === "ended" ? undefined : record;
    },
  })),
  pending("replaces a record that is there", (good) => {
    const replaced = new Map<string, PendingRecord>();
    return {
      put: async (record) => (replaced.set(record.id, record), await good.put(record), true),
      get: async (id) => replaced.get(id) ?? good.get(id),
    };
  }),
  pending("adds changes to what is there", (good) => ({
    transition: async (id, from, next) =>
      good.transition(id, from, { ...(await good.get(id)), ...next }),
  })),
  pending("lists ends as open", (good) => {
    const { ids, put } = noting(good);
    return { put, open: () => all(good, ids) };
  }),
  pending("lists nothing as open", () => ({
    async *open() {
      // Nothing.
    },
  })),
  pending("lists only what was shown to no one yet", (good) => ({
    async *open() {
      for await (const record of good.open()) if (record.status === "created") yield record;
    },
  })),
];

const CHANGING: readonly Mutant<Store>[] = [
  pending("takes any version", (good) => ({
    async transition(id, _, next) {
      const record = await good.get(id);
      return record !== undefined && good.transition(id, record.version, next);
    },
  })),
  pending("looks at the version first and writes a moment later", (good) => ({
    async transition(id, from, next) {
      const isCurrent = (await good.get(id))?.version === from;
      await later();
      const record = await good.get(id);
      return isCurrent && record !== undefined && good.transition(id, record.version, next);
    },
  })),
  pending("reports a change that it did not make", (good) => ({
    transition: (id, from, next) => good.transition(id, from, next).then(() => true),
  })),
  pending("denies a change that it made", (good) => ({
    transition: (id, from, next) => good.transition(id, from, next).then(() => false),
  })),
  pending("puts a record that it does not know", (good) => ({
    transition: async (id, from, next) =>
      (await good.transition(id, from, next)) ||
      ((await good.get(id)) === undefined && good.put(next)),
  })),
  pending("drops changes after the end", (good) => ({
    transition: async (id, from, next) =>
      (await good.get(id))?.status === "ended" ? true : good.transition(id, from, next),
  })),
];

const RETRIES: readonly Mutant<Store>[] = [
  pending("gives a decision to any agent", (good) => {
    const agents = new Set<string>();
    return {
      put: (record) => (agents.add(record.agentId), good.put(record)),
      async takeDecision(_, digest, nowMs) {
        for (const agentId of agents) {
          const taken = await good.takeDecision(agentId, digest, nowMs);
          if (taken !== undefined) return taken;
        }
        return undefined;
      },
    };
  }),
  pending("gives a decision for any action", (good) => {
    const digests = new Set<string>();
    return {
      put: (record) => (digests.add(record.originalDigest), good.put(record)),
      async takeDecision(agentId, _, nowMs) {
        for (const digest of digests) {
          const taken = await good.takeDecision(agentId, digest, nowMs);
          if (taken !== undefined) return taken;
        }
        return undefined;
      },
    };
  }),
  pending("gives a decision after its time", (good) => ({
    takeDecision: (agentId, digest) => good.takeDecision(agentId, digest, 0),
  })),
  pending("gives a decision twice", (good) => {
    const given = new Map<string, PendingRecord>();
    return {
      async takeDecision(agentId, digest, nowMs) {
        const key = JSON.stringify([agentId, digest]);
        const taken = (await good.takeDecision(agentId, digest, nowMs)) ?? given.get(key);
        if (taken !== undefined) given.set(key, taken);
        return taken;
      },
    };
  }),
  pending("gives no decision at all", () => ({ takeDecision: () => Promise.resolve(undefined) })),
  pending("gives a decision as not taken", (good) => ({
    async takeDecision(agentId, digest, nowMs) {
      const taken = await good.takeDecision(agentId, digest, nowMs);
      return taken === undefined ? undefined : { ...taken, adopted: false };
    },
  })),
];

const WATCHING: readonly Mutant<Store>[] = [
  pending("watches another record than the one asked for", (good) => {
    const { ids, put } = noting(good);
    return {
      put,
      watch: (id, signal) => good.watch([...ids].find((other) => other !== id) ?? id, signal),
    };
  }),
  pending("ends a watch after the first record", (good) => ({
    async *watch(id, signal) {
      for await (const record of good.watch(id, signal)) {
        yield record;
        return;
      }
    },
  })),
  pending("yields changes alone, not the record as it is", (good) => ({
    async *watch(id, signal) {
      let isFirst = true;
      for await (const record of good.watch(id, signal)) {
        if (!isFirst) yield record;
        isFirst = false;
      }
    },
  })),
  pending("hides ends from who watches", (good) => ({
    async *watch(id, signal) {
      for await (const record of good.watch(id, signal))
        if (record.status !== "ended") yield record;
    },
  })),
];

/** Stores that keep questions badly. */
export const pendingMutants: readonly Mutant<Store>[] = [
  ...RECORDS,
  ...FINDING,
  ...LISTING,
  ...CHANGING,
  ...RETRIES,
  ...WATCHING,
];
