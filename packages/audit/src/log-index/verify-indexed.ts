/**
 * Verify indexed: what `verifyAuditLog` finds, by reading the bytes of a log once and proving only
 * the lines that its index does not speak of: for all others the index has a hash from when they
 * were written or proven good. Whatever is not as the index says is verified in full, so that the
 * first bad line is named the same way. Format: spec/audit-index.md §5.1.
 */
import type { FileHandle } from "node:fs/promises";
import { type ChainWalk, walkChain } from "../chain.js";
import type { Checkpoint } from "../checkpoint.js";
import { type SortedClaims, sortClaims } from "../checkpoint-check.js";
import { type LogPart, type LogParts, openParts } from "../log-parts.js";
import { hashText } from "../merkle.js";
import { findPruned, type PrunedStart } from "../pruned.js";
import { createSlices } from "../slices.js";
import { throwIfAborted } from "../source.js";
import { type GrowingTree, growTree, type TreeEdge } from "../tree-edge.js";
import {
  type AuditVerification,
  type BadLine,
  fileOf,
  firstSeqOf,
  verifyAuditLog,
  type VerifyOptions,
} from "../verify.js";
import { readIndex } from "./index-file.js";
import { withIndex } from "./index-reader.js";
import type { IndexRecord, Stretch } from "./record.js";

/** Options of {@link verifyIndexedLog}. */
export interface VerifyIndexedOptions extends VerifyOptions {
  /** {@link AuditLogOptions.indexKey}; without it every line is verified. */
  readonly indexKey: Uint8Array | undefined;
}

/**
 * Verifies a log as {@link verifyAuditLog} does, several times as fast where there is a good index:
 * lines that it speaks of are compared with what they were when they were proven good. Who has the
 * key of the index could have it say anything; `verifyAuditLog` believes no index.
 *
 * @throws ConsentError as {@link verifyAuditLog}.
 */
export async function verifyIndexedLog(
  path: string,
  { indexKey, ...options }: VerifyIndexedOptions,
): Promise<AuditVerification> {
  const found = indexKey === undefined ? undefined : await compare(path, indexKey, options);
  throwIfAborted(options.signal, path);
  return found ?? (await verifyAuditLog(path, options));
}

/** `undefined` where anything is not as the index says. */
async function compare(
  path: string,
  key: Uint8Array,
  options: VerifyOptions,
): Promise<AuditVerification | undefined> {
  await using log = await openParts(path, options.signal);
  if (log.isOneArchive) return undefined;
  const firstSeq = await firstSeqOf(log.parts[0]);
  const pruned = firstSeq === 0 ? undefined : await findPruned(log.parts, firstSeq);
  if (firstSeq > 0 && pruned === undefined) return undefined;
  const { checkpoints: claims } = options;
  const sorted = claims === undefined ? undefined : sortClaims(claims);
  if (sorted?.contradiction !== undefined) return undefined;
  // Awaited here: the log is read until then.
  return await withIndex({ path }, (handle) =>
    compareLog({ log, firstSeq, pruned, sorted, options, path, key }, handle),
  );
}

interface Compared {
  readonly log: LogParts;
  readonly firstSeq: number;
  readonly pruned: PrunedStart | undefined;
  readonly sorted: SortedClaims | undefined;
  readonly options: VerifyOptions;
  readonly path: string;
  readonly key: Uint8Array;
}

/** How far it came: the next line is that of event `seq`, at `at` of the file number `part`. */
interface Place {
  part: number;
  at: number;
  seq: number;
  hash: string | null;
  edge(): TreeEdge | undefined;
}

async function compareLog(
  compared: Compared,
  handle: FileHandle,
): Promise<AuditVerification | undefined> {
  const { log, firstSeq, pruned, sorted, options, path, key } = compared;
  const slices = createSlices(options);
  const promised = holdCheckpoints(sorted, firstSeq);
  const place: Place = {
    part: 0,
    at: 0,
    seq: firstSeq,
    hash: pruned?.hash ?? null,
    edge: () => pruned?.edge ?? { size: 0, hashes: [] },
  };
  let bytes = 0;
  for await (const found of readIndex(handle, path, { key, signal: options.signal })) {
    if (found === undefined) return undefined;
    // Of files that retention removed, until the next opening drops it.
    if (found.record.stretch.nextSeq <= firstSeq) continue;
    const part = await partAt(log.parts, place, found.record.stretch);
    if (part === undefined) return undefined;
    // Written since the log was opened here.
    if (found.record.stretch.to > part.size) break;
    if (!(await isAsIndexed(part, found.record, { place, promised }))) return undefined;
    bytes += found.record.stretch.to - found.record.stretch.from;
    const { seq: events } = place;
    options.onProgress?.({ events: events - firstSeq, bytes, bytesTotal: log.bytesTotal });
    if (slices.isOver()) await slices.rest();
  }
  // Without a record there is nothing to compare with.
  return place.seq === firstSeq ? undefined : await readTail(compared, place, promised);
}

/** The file in which a stretch follows what came before; `undefined` where it does not. */
async function partAt(
  parts: readonly LogPart[],
  place: Place,
  { file, from, seq, previousHash }: Stretch,
): Promise<LogPart | undefined> {
  if (place.at > 0 && place.at === parts[place.part]?.size && from === 0) {
    place.part += 1;
    place.at = 0;
  }
  const part = parts[place.part];
  const follows = seq === place.seq && previousHash === place.hash && from === place.at;
  return follows && (await part?.startSeq()) === file ? part : undefined;
}

/** Whether the bytes of a stretch are those of then, and the tree at checkpoints the promised one. */
async function isAsIndexed(
  part: LogPart,
  record: IndexRecord,
  { place, promised }: { readonly place: Place; readonly promised: Promised },
): Promise<boolean> {
  const { stretch } = record;
  if ((await part.digest(stretch.from, stretch.to)) !== stretch.digest) return false;
  if (promised.isDue(stretch.nextSeq)) {
    const edge = place.edge();
    if (edge === undefined) return false;
    const tree = growTree(edge);
    if (!promised.holds(tree)) return false;
    for await (const { bytes, ends } of part.blocks({ from: stretch.from, to: stretch.to })) {
      let start = 0;
      for (const end of ends) {
        tree.add(bytes, start, end);
        if (!promised.holds(tree)) return false;
        start = end + 1;
      }
    }
  }
  place.at = stretch.to;
  place.seq = stretch.nextSeq;
  place.hash = stretch.hash;
  place.edge = () => record.state()?.edge;
  return true;
}

/** The lines that no record speaks of, each proven. */
async function readTail(
  { log: { parts }, firstSeq, sorted, options }: Compared,
  place: Place,
  promised: Promised,
): Promise<AuditVerification | undefined> {
  const edge = place.edge();
  if (edge === undefined) return undefined;
  const tree = growTree(edge);
  promised.holds(tree);
  const chain = walkChain({
    firstSeq: place.seq,
    onLine(bytes, start, end) {
      tree.add(bytes, start, end);
      promised.holds(tree);
      return undefined;
    },
  });
  const slices = createSlices(options);
  let firstBad: BadLine | undefined;
  for (const part of parts.slice(place.part)) {
    const isFirst = part === parts[place.part];
    const seq = tree.size();
    if (!isFirst && part.firstSeq !== undefined && part.firstSeq !== seq) return undefined;
    for await (const block of part.blocks({ from: isFirst ? place.at : 0, inPlace: true })) {
      const fault = chain.walk(block);
      if (fault !== undefined && fault.code !== "torn_line") return undefined;
      const startSeq = isFirst ? await part.startSeq() : seq;
      if (startSeq === undefined) return undefined;
      if (fault !== undefined)
        firstBad = { line: tree.size() - startSeq + 1, ...fileOf(parts, part), ...fault };
      if (slices.isOver()) await slices.rest();
    }
    // Nothing may follow a line without an end.
    if (firstBad !== undefined && part !== parts.at(-1)) return undefined;
  }
  // One that does not hold is never over.
  if (!promised.isOver() || !followsIndex(chain, place)) return undefined;
  return {
    ok: firstBad === undefined && sorted?.firstBad === undefined,
    events: tree.size() - firstSeq,
    head: chain.head() ?? { seq: place.seq - 1, hash: place.hash ?? "" },
    ...(firstBad !== undefined && { firstBad }),
    ...(firstSeq > 0 && { startSeq: firstSeq }),
    ...(sorted !== undefined && { checkpoints: promised.report() }),
  };
}

const followsIndex = (chain: ChainWalk, { hash }: Place): boolean =>
  chain.events() === 0 || chain.startHash() === hash;

/** Checkpoints that a growing tree is held against, smallest first. */
interface Promised {
  /** Whether one is of a tree of at most this size. */
  isDue(size: number): boolean;
  /** Whether those of the tree's size are its; they are done then. */
  holds(tree: GrowingTree): boolean;
  /** Whether none is left. */
  isOver(): boolean;
  report(): NonNullable<AuditVerification["checkpoints"]>;
}

function holdCheckpoints(sorted: SortedClaims | undefined, firstSeq: number): Promised {
  const { checkpoints = [], firstBad } = sorted ?? {};
  const due = checkpoints.filter(({ size }) => size >= firstSeq);
  let next: Checkpoint | undefined = due[0];
  let verified = 0;
  let events = 0;
  return {
    isDue: (size) => next !== undefined && next.size <= size,
    holds(tree) {
      for (; next !== undefined && next.size === tree.size(); next = due[verified]) {
        if (hashText(next.root) !== hashText(tree.root())) return false;
        events = next.size;
        verified += 1;
      }
      return true;
    },
    isOver: () => next === undefined,
    report: () => ({
      verified,
      events,
      tooOld: checkpoints.length - due.length,
      ...(firstBad !== undefined && { firstBad }),
    }),
  };
}
