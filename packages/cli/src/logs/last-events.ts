/**
 * Last events: the newest events of several logs by their time, oldest first. Reads from the ends,
 * as far as it needs, and holds no more than a few thousand events, however many are asked for.
 */
import { readAuditLog, readAuditLogBackward } from "@acp/audit";
import type { AuditEvent, ReadOptions } from "@acp/audit";

/** Which events of which logs. */
export interface WantedEvents extends Pick<ReadOptions, "filter" | "indexKey" | "nowMs"> {
  readonly files: readonly string[];
  /** How many; infinite for all. */
  readonly limit: number;
  /** More are counted first and then read again; for tests. */
  readonly keptMax?: number;
}

const KEPT_MAX = 2_000;

/**
 * The newest `limit` events of all files, oldest first.
 *
 * @throws ConsentError `audit_failed` at a line that is no event, where the reading comes to it.
 */
export async function* lastEvents(wanted: WantedEvents): AsyncGenerator<AuditEvent> {
  const { files, limit, keptMax = KEPT_MAX, ...options } = wanted;
  const forward = (): AsyncGenerator<Taken> =>
    merge(
      files.map((file) => readAuditLog(file, options)),
      isEarlier,
    );
  if (limit === Number.POSITIVE_INFINITY) {
    for await (const { event } of forward()) yield event;
    return;
  }
  if (limit === 0) return;
  const kept: AuditEvent[] = [];
  const firstSeqs = new Map<number, number>();
  let count = 0;
  const backward = files.map((file) => readAuditLogBackward(file, options));
  for await (const { event, from } of merge(backward, isLater)) {
    count += 1;
    firstSeqs.set(from, event.seq);
    if (count <= keptMax) kept.push(event);
    else kept.length = 0;
    if (count === limit) break;
  }
  if (count <= keptMax) {
    yield* kept.sort((one, other) => (isEarlier(one, other) ? -1 : 1));
    return;
  }
  for await (const { event, from } of forward())
    if (event.seq >= (firstSeqs.get(from) ?? Number.POSITIVE_INFINITY)) yield event;
}

/** An event, and the number of the log that it is from. */
interface Taken {
  readonly event: AuditEvent;
  readonly from: number;
}

type Order = (one: AuditEvent, other: AuditEvent) => boolean;

const isEarlier: Order = (one, other) =>
  one.atMs === other.atMs ? one.seq < other.seq : one.atMs < other.atMs;
const isLater: Order = (one, other) => isEarlier(other, one);

/** The events of all logs, always the one that goes before the others' next ones. */
async function* merge(
  logs: readonly AsyncGenerator<AuditEvent>[],
  isFirst: Order,
): AsyncGenerator<Taken> {
  try {
    const next = await Promise.all(logs.map((log) => log.next()));
    for (;;) {
      let first: Taken | undefined;
      for (const [from, { done, value }] of next.entries())
        if (done !== true && (first === undefined || isFirst(value, first.event)))
          first = { event: value, from };
      if (first === undefined) return;
      const log = logs[first.from];
      if (log === undefined) return;
      yield first;
      next[first.from] = await log.next();
    }
  } finally {
    await Promise.all(logs.map((log) => log.return(undefined)));
  }
}
