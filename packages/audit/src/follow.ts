/** Follow: the events of a log as they are written, over every new file it starts. */
import type { FileHandle } from "node:fs/promises";
import { stat } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { cannot } from "./errors.js";
import type { AuditEvent } from "./event.js";
import { type AuditFilter, matchesFilter } from "./filter.js";
import { lineText, splitLines } from "./lines.js";
import { listArchives } from "./log-parts.js";
import { readPlainLine } from "./plain-line.js";
import { readEventOf } from "./wanted-line.js";
import { seekSeq } from "./seek.js";
import { openSource, readChunks } from "./source.js";
import { readNextSeq } from "./last-event.js";

/** Options of {@link followAuditLog}. */
export interface FollowOptions {
  /** Which events to return; all unless given. */
  readonly filter?: AuditFilter;
  /** Ends the iteration; nothing is thrown then. */
  readonly signal: AbortSignal;
  /** Sequence number of the first event to return; only new events unless given. */
  readonly fromSeq?: number;
  /** Waits before it looks for new events again; 250 ms unless given. */
  readonly pause?: (signal: AbortSignal) => Promise<void>;
}

const PAUSE_MS = 250;

/**
 * The log's events as they become durable, until the signal aborts. Waits for a log that does not
 * exist yet. However long the log is, events before the first one to return are skipped, not read.
 *
 * @throws ConsentError `audit_failed` at a line that is not an event, or where events are missing.
 */
export async function* followAuditLog(
  path: string,
  options: FollowOptions,
): AsyncGenerator<AuditEvent> {
  const {
    filter = {},
    signal,
    pause = (ended) => wait(PAUSE_MS, undefined, { signal: ended }),
  } = options;
  let nextSeq = options.fromSeq ?? (await readNextSeq(path));
  try {
    for (;;) {
      for await (const event of readOnce({ path, signal, pause, nextSeq })) {
        nextSeq = event.seq + 1;
        if (matchesFilter(event, filter)) yield event;
      }
      await pause(signal); // the file was replaced: look for the next one
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

interface Following {
  readonly path: string;
  readonly signal: AbortSignal;
  readonly pause: (signal: AbortSignal) => Promise<void>;
  readonly nextSeq: number;
}

/**
 * Events from `nextSeq` on: of the full files, then of the one that is written to until it is full
 * too.
 */
async function* readOnce({
  path,
  signal,
  pause,
  nextSeq: from,
}: Following): AsyncGenerator<AuditEvent> {
  await using current = await openSource(path, "may_be_missing");
  let nextSeq = from;
  const take = function* (events: readonly AuditEvent[]): Generator<AuditEvent> {
    for (const event of events) {
      if (event.seq < nextSeq) continue;
      if (event.seq > nextSeq && nextSeq > from)
        throw cannot(
          "follow",
          path,
        )(`events from ${nextSeq} on are missing; run \`acp audit verify\``);
      nextSeq = event.seq + 1;
      yield event;
    }
  };
  const archives = await listArchives(path);
  for (const [index, archive] of archives.entries()) {
    if ((archives[index + 1]?.firstSeq ?? Number.POSITIVE_INFINITY) <= nextSeq) continue;
    await using handle = await openSource(archive.path, "may_be_missing");
    if (handle === undefined) continue;
    for await (const { events } of readFrom(handle, path, await seekSeq(handle, nextSeq)))
      yield* take(events);
  }
  if (current === undefined) return;
  for (let at = await seekSeq(current, nextSeq); ; ) {
    signal.throwIfAborted();
    // before reading: what was written until then is read
    const isLast = await isReplaced(path, current);
    for await (const { events, end } of readFrom(current, path, at)) {
      at = end;
      yield* take(events);
    }
    if (isLast) return;
    await pause(signal);
  }
}

async function isReplaced(path: string, handle: FileHandle): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  const own = await handle.stat();
  return found === undefined || found.ino !== own.ino || found.dev !== own.dev;
}

/** Events of the full lines from `at` on, and where the last of them ends. */
async function* readFrom(
  handle: FileHandle,
  path: string,
  at: number,
): AsyncGenerator<{ readonly events: readonly AuditEvent[]; readonly end: number }> {
  let end = at;
  for await (const { bytes, ends } of splitLines(readChunks(handle, { path, position: at }))) {
    const events: AuditEvent[] = [];
    let start = 0;
    for (const lineEnd of ends) {
      const line = lineText(bytes.subarray(start, lineEnd));
      const event =
        line === undefined
          ? undefined
          : readEventOf(line, readPlainLine(bytes, start, lineEnd) !== undefined);
      if (event === undefined)
        throw cannot("follow", path)("a line is not an event; run `acp audit verify`");
      events.push(event);
      start = lineEnd + 1;
    }
    end += start;
    yield { events, end };
  }
}
