/**
 * Scan: every line of a log, oldest first, for who needs few of its events whole. Lines that the
 * index has a hash of are proven together; all others one by one.
 */
import { cannot } from "../errors.js";
import { parseEvent } from "../codec.js";
import type { AuditEvent } from "../event.js";
import { lineText } from "../lines.js";
import { type LogPart, openParts } from "../log-parts.js";
import { readPlainLine } from "../plain-line.js";
import { createSlices } from "../slices.js";
import type { VerifyProgress } from "../verify.js";
import { readEventOf } from "../wanted-line.js";
import { readIndex } from "./index-file.js";
import { withIndex } from "./index-reader.js";
import { readLineCall } from "./line-fields.js";
import type { Stretch } from "./record.js";

/** A good line, for as long as the function lasts that it is given to. */
export interface ScannedLine {
  /** Type of its event, read without the rest. */
  readonly eventType: string;
  /** What was decided, likewise. */
  decision(): string;
  /** Name of the tool, likewise; `undefined` where that needs all of it. */
  tool(): string | undefined;
  /** Id of the call that its metadata names, likewise. */
  call(): string | undefined;
  /** Bytes of it. */
  readonly size: number;
  /** The line as it is stored, without its newline. */
  text(): string;
  /** Parses the line, which takes many times as long as telling its type. */
  event(): AuditEvent;
  /** Gives the event later, from a copy of the line. */
  keep(): () => AuditEvent;
}

/** Options of {@link scanAuditLog}. */
export interface ScanOptions {
  /** {@link AuditLogOptions.indexKey}; without it each line is proven by itself. */
  readonly indexKey?: Uint8Array | undefined;
  /** Ends the reading early, with the ConsentError `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** Called after every block; `events` counts lines. */
  readonly onProgress?: ((progress: VerifyProgress) => void) | undefined;
}

/**
 * Reads all lines of a log. A last line without an end is left out.
 *
 * @param pick - What is wanted of a line.
 * @returns What was picked, block by block.
 * @throws ConsentError `audit_failed` at a line that is not an event, after what stands before it;
 *   `aborted` where the signal ended it.
 */
export async function* scanAuditLog<T>(
  path: string,
  options: ScanOptions,
  pick: (line: ScannedLine) => readonly T[],
): AsyncGenerator<readonly T[]> {
  const { indexKey, signal, onProgress } = options;
  await using log = await openParts(path, signal);
  const stretches = indexKey === undefined ? [] : await readStretches(path, indexKey);
  const slices = createSlices({ signal });
  const { bytesTotal } = log;
  const cursor = createCursor();
  let [events, bytes] = [0, 0];
  for (const part of log.parts) {
    for await (const { from, to, isProven } of rangesOf(part, stretches)) {
      let number = events;
      for await (const { bytes: block, ends, fault } of part.blocks({ from, to, inPlace: true })) {
        const picked: T[] = [];
        let start = 0;
        for (const end of ends) {
          number += 1;
          if (!isProven && !isEvent(block, start, end)) throw noEvent(path, part, from);
          cursor.move(block, start, end);
          for (const each of pick(cursor.line)) picked.push(each);
          start = end + 1;
        }
        if (fault === "line_too_long") throw noEvent(path, part, from);
        bytes += start;
        onProgress?.({ events: number, bytes, bytesTotal });
        if (picked.length > 0) yield picked;
        if (slices.isOver()) await slices.rest();
      }
      events = number;
    }
  }
}

function noEvent(path: string, { name }: LogPart, from: number): Error {
  return cannot(
    "read",
    path,
  )(`a line of "${name}" behind byte ${from} is not an event; run \`acp audit verify\``);
}

/** Every stretch of which there is a record, whether or not the records lead anywhere. */
async function readStretches(path: string, key: Uint8Array): Promise<readonly Stretch[]> {
  const found = await withIndex({ path }, async (handle) => {
    const all: Stretch[] = [];
    for await (const each of readIndex(handle, path, { key }))
      if (each !== undefined) all.push(each.record.stretch);
    return all;
  });
  return found ?? [];
}

/** Read in one go once it is proven: still in the system's memory then. */
const RANGE_BYTES: number = 8 * 1024 * 1024;

/** All of a file, in pieces of which the lines are proven or not. */
async function* rangesOf(
  part: LogPart,
  stretches: readonly Stretch[],
): AsyncGenerator<{ readonly from: number; readonly to?: number; readonly isProven: boolean }> {
  const file = stretches.length === 0 ? undefined : await part.startSeq();
  // What is proven from `at` up to here was not given yet.
  let [at, proven] = [0, 0];
  for (const { from, to, digest } of stretches.filter((each) => each.file === file)) {
    if (from < proven || to > part.size) continue;
    const isGood = (await part.digest(from, to)) === digest;
    if (isGood && from === proven && to - at <= RANGE_BYTES) {
      proven = to;
      continue;
    }
    if (proven > at) yield { from: at, to: proven, isProven: true };
    if (from > proven) yield { from: proven, to: from, isProven: false };
    if (!isGood) yield { from, to, isProven: false };
    [at, proven] = isGood ? [from, to] : [to, to];
  }
  if (proven > at) yield { from: at, to: proven, isProven: true };
  yield { from: proven, isProven: false };
}

const isEvent = (bytes: Buffer, start: number, end: number): boolean =>
  readPlainLine(bytes, start, end) !== undefined ||
  readEventOf(lineText(bytes.subarray(start, end)) ?? "", false) !== undefined;

const EVENT_TYPE = ',"event_type":"';
const DECISION = ',"decision":"';
const TOOL = ',"tool":"';
const TYPE = '","type":"';
const QUOTE = 0x22;

/** The text behind a word, which nobody escapes anything in. */
function textAt(bytes: Buffer, at: number): string {
  return bytes.toString("latin1", at, bytes.indexOf(QUOTE, at));
}

/** One line after the other in the same place: hundreds of thousands cost no memory. */
interface Cursor {
  readonly line: ScannedLine;
  move(bytes: Buffer, start: number, end: number): void;
}

function createCursor(): Cursor {
  let bytes: Buffer = Buffer.alloc(0);
  let [start, end] = [0, 0];
  const line: { -readonly [K in keyof ScannedLine]: ScannedLine[K] } = {
    eventType: "",
    size: 0,
    decision: () => textAt(bytes, bytes.indexOf(DECISION, start) + DECISION.length),
    tool() {
      // Behind it stand texts only, too.
      const at = bytes.lastIndexOf(TOOL, end) + TOOL.length;
      const text = bytes.toString("utf8", at, bytes.lastIndexOf(TYPE, end));
      return /["\\]/.test(text) ? undefined : text;
    },
    call: () => readLineCall(bytes, start, end),
    text: () => lineText(bytes.subarray(start, end)) ?? "",
    event: () => parseEvent(line.text()),
    keep() {
      const copy = Buffer.from(bytes.subarray(start, end));
      return () => parseEvent(lineText(copy) ?? "");
    },
  };
  return {
    line,
    move(next, from, to) {
      [bytes, start, end] = [next, from, to];
      line.size = to - from;
      // Before its type stand texts only, in which no quote is without an escape.
      line.eventType = textAt(bytes, bytes.indexOf(EVENT_TYPE, start) + EVENT_TYPE.length);
    },
  };
}
