/**
 * Past: reads what an index covers once more where that was long ago, and notes in the index that it
 * is good, stretch by stretch, so that the next one goes on there. Format: spec/audit-index.md §5.
 */
import { systemClock } from "@acp/core";
import { walkChain } from "../chain.js";
import { lineText, piecesOf } from "../lines.js";
import { writeAll } from "../log-file.js";
import { type LogPart, openParts } from "../log-parts.js";
import { createSlices, type Slices, type SlicesOptions } from "../slices.js";
import { throwIfAborted } from "../source.js";
import { readRange } from "../tail.js";
import type { BadLine } from "../verify.js";
import { isOfLog, openIndexFile, partOf, readIndex } from "./index-file.js";
import { withIndex } from "./index-reader.js";
import { type IndexRecord, isNext, openRecord, recheckedLine, type Stretch } from "./record.js";

/** Options of {@link checkAuditPast}. */
export interface PastOptions extends SlicesOptions {
  /** {@link AuditLogOptions.indexKey}. */
  readonly indexKey: Uint8Array;
  /** What was proven good longer ago than this, in milliseconds, is read. */
  readonly maxAgeMs: number;
  /** The time, in milliseconds since 1970; the system's unless given. */
  readonly now?: () => number;
}

/** What {@link checkAuditPast} did. */
export interface PastCheck {
  /** Bytes of lines that were read and are good. */
  readonly bytes: number;
  /** The first line that is not what it was. Nothing behind it was read. */
  readonly firstBad?: BadLine;
}

/** A stretch, and where its record stands in the index. */
interface Known {
  readonly stretch: Stretch;
  readonly from: number;
  readonly end: number;
}

/**
 * Verifies what an index covers, link by link, where it was proven good too long ago, or where a
 * full file was written to since. The index notes each stretch that is good; what it does not cover
 * is read by whoever opens the log. A log without a good index is not read.
 *
 * @throws ConsentError `audit_failed` where the log cannot be read, `aborted` where the signal
 *   ended it; what was good by then is noted.
 */
export async function checkAuditPast(path: string, options: PastOptions): Promise<PastCheck> {
  const { indexKey: key, maxAgeMs, now = () => systemClock.now(), signal } = options;
  const slices = createSlices(options);
  const known = await readKnown(path, key, slices);
  let bytes = 0;
  for (const all of byFile(known)) {
    const due = await dueOf(path, all, { nowMs: now(), maxAgeMs });
    for (const each of due) {
      throwIfAborted(signal, path);
      const firstBad = await faultIn(path, each.stretch, slices);
      // Who sets a log aside or removes its files may have come between.
      if (firstBad !== undefined && (await isStill(path, key, known))) return { bytes, firstBad };
      if (firstBad !== undefined) return { bytes };
      await note(path, each, { key, checkedMs: Math.floor(now()) });
      bytes += each.stretch.to - each.stretch.from;
    }
  }
  return { bytes };
}

/** The stretches that lead without a gap to the last one; nothing where that is not of this log. */
async function readKnown(path: string, key: Uint8Array, slices: Slices): Promise<readonly Known[]> {
  await using log = await openParts(path);
  const found = await withIndex({ path }, async (handle) => {
    let known: Known[] = [];
    let last: IndexRecord | undefined;
    for await (const each of readIndex(handle, path, { key })) {
      if (slices.isOver()) await slices.rest();
      const before = known.at(-1)?.stretch;
      if (each === undefined) known = [];
      else {
        const { record, from, end } = each;
        if (before !== undefined && !isNext(record.stretch, before)) known = [];
        known.push({ stretch: record.stretch, from, end });
      }
      last = each?.record;
    }
    return last !== undefined && (await isOfLog(last.stretch, log.parts)) ? known : [];
  });
  return found ?? [];
}

/** Whether the log is still the one that these stretches are of. */
async function isStill(path: string, key: Uint8Array, known: readonly Known[]): Promise<boolean> {
  const now = await readKnown(path, key, createSlices());
  return now.some(({ stretch }) => stretch.hash === known.at(-1)?.stretch.hash);
}

function byFile(known: readonly Known[]): readonly (readonly Known[])[] {
  const files = new Map<number, Known[]>();
  for (const each of known) {
    const all = files.get(each.stretch.file) ?? [];
    all.push(each);
    files.set(each.stretch.file, all);
  }
  return [...files.values()];
}

/** Those of one file that are to be read. */
async function dueOf(
  path: string,
  all: readonly Known[],
  { nowMs, maxAgeMs }: { readonly nowMs: number; readonly maxAgeMs: number },
): Promise<readonly Known[]> {
  await using log = await openParts(path);
  const part = await partOf(log.parts, all[0]?.stretch.file ?? 0);
  if (part === undefined) return [];
  const newestMs = Math.max(...all.map(({ stretch }) => stretch.checkedMs));
  // Its last record was written when it was full: nobody has a reason to write to it since.
  const isTouched = part.firstSeq !== undefined && part.changedMs > newestMs;
  return all.filter(({ stretch: { checkedMs } }) => {
    if (isTouched && checkedMs < part.changedMs) return true;
    // A time that has not come is of a clock that was ahead, and says nothing.
    return checkedMs < nowMs - maxAgeMs || checkedMs > nowMs;
  });
}

/** The first bad line of a stretch; nothing where its file was removed. */
async function faultIn(
  path: string,
  stretch: Stretch,
  slices: Slices,
): Promise<BadLine | undefined> {
  await using log = await openParts(path);
  const part = await partOf(log.parts, stretch.file);
  return part === undefined ? undefined : await walkStretch(part, stretch, slices);
}

async function walkStretch(
  part: LogPart,
  { file, from, to, seq, nextSeq, previousHash, hash }: Stretch,
  slices: Slices,
): Promise<BadLine | undefined> {
  const chain = walkChain({ firstSeq: seq });
  const bad = (fault: Pick<BadLine, "code" | "message">): BadLine => ({
    ...fault,
    line: seq - file + chain.events() + 1,
    file: part.name,
  });
  for await (const block of part.blocks({ from, to, inPlace: true }))
    for (const piece of piecesOf(block)) {
      const fault = chain.walk(piece);
      if (fault !== undefined) return bad(fault);
      if (slices.isOver()) await slices.rest();
    }
  const isSame = chain.head()?.hash === hash && chain.startHash() === previousHash;
  if (isSame && chain.events() === nextSeq - seq) return undefined;
  return bad({
    code: "chain_broken",
    message: "the events before it are not those that were there when they were verified last",
  });
}

/**
 * Puts a record in its own place. Whoever reads meanwhile finds the old one, the new one, or none
 * and reads the lines; so does a crash.
 */
async function note(
  path: string,
  { stretch, from, end }: Known,
  { key, checkedMs }: { readonly key: Uint8Array; readonly checkedMs: number },
): Promise<void> {
  const handle = await openIndexFile(path, "change");
  if (handle === undefined) return;
  try {
    const line = lineText(await readRange(handle, from, end - 1)) ?? "";
    // The index may have been made anew.
    if (openRecord(line, key)?.stretch.hash !== stretch.hash) return;
    const next = recheckedLine(line, checkedMs, key);
    if (next !== undefined) await writeAll(handle, Buffer.from(next), from);
  } catch {
    // It is shorter now, or cannot be written: the stretch is read again.
  } finally {
    await handle.close();
  }
}
