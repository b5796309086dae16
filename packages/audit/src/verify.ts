/**
 * Verify: reads a log from its first line and names the first broken promise. Streams; its memory
 * does not grow with the log. Finds changed, missing, repeated and moved lines; with checkpoints
 * also an end cut off and a log written anew. Format: spec/audit.md. Vectors:
 * spec/vectors/audit.json.
 */
import type { AuditReceipt } from "@acp/core";
import { type ChainWalk, walkChain } from "./chain.js";
import { decodeEvent } from "./codec.js";
import {
  type CheckpointCheck,
  type CheckpointClaims,
  checkpointCheck,
  type CheckpointReport,
} from "./checkpoint-check.js";
import type { AuditFault } from "./event.js";
import { type LineBlock, lineText } from "./lines.js";
import { type PartLines, type LogParts, openParts } from "./log-parts.js";
import { findPruned, type PrunedStart } from "./pruned.js";
import { createSlices, type Slices, type SlicesOptions } from "./slices.js";
import { throwIfAborted } from "./source.js";

/** The first bad line of a log. */
export interface BadLine extends AuditFault {
  /** Number of the line in its file, from 1. */
  readonly line: number;
  /** Name of the file; absent where the log is one file. */
  readonly file?: string;
}

/** The result of {@link verifyAuditLog}. */
export interface AuditVerification {
  /** True if every event is valid, the end is where it should be, and every checkpoint held. */
  readonly ok: boolean;
  /** How many events are valid, counted from the start. */
  readonly events: number;
  /** Where the valid part ends; absent where it is empty. */
  readonly head?: AuditReceipt;
  /** The first bad line; absent where all lines are valid. */
  readonly firstBad?: BadLine;
  /**
   * Sequence number of the first event, where earlier ones are not there: removed by retention, or
   * in another file. Absent where it is 0.
   */
  readonly startSeq?: number;
  /** Which checkpoints held; absent where none were given. */
  readonly checkpoints?: CheckpointReport;
}

/** How far a verification is. */
export interface VerifyProgress {
  /** How many events were checked so far. */
  readonly events: number;
  /** How many bytes were read so far. */
  readonly bytes: number;
  /** Bytes of all the log's files together when the check began. */
  readonly bytesTotal: number;
}

/** Options of {@link verifyAuditLog}; `signal` ends the check early, with the ConsentError `aborted`. */
export interface VerifyOptions extends SlicesOptions {
  /** Called after every block that was read. */
  readonly onProgress?: (progress: VerifyProgress) => void;
  /** Signed checkpoints to check the log against; none unless given. */
  readonly checkpoints?: CheckpointClaims;
}

/**
 * Verifies a log over all its files: every line is canonical and has its own hash, the chain has no
 * gap, and the checkpoints hold. A log that is not whole is a result, not an error.
 *
 * @param path - The log, or one of its full files (`<log>.<12 digits>`), which is then checked by
 *   itself.
 * @throws ConsentError `audit_failed` where the log cannot be read, `aborted` where the signal
 *   ended it, `key_rejected` for a bad key.
 */
export async function verifyAuditLog(
  path: string,
  options: VerifyOptions = {},
): Promise<AuditVerification> {
  await using log = await openParts(path, options.signal);
  const firstSeq = await firstSeqOf(log.parts[0]);
  const pruned =
    firstSeq === 0 || log.isOneArchive ? undefined : await findPruned(log.parts, firstSeq);
  const report = (events: number): void =>
    options.onProgress?.({
      events,
      bytes: Math.min(log.bytesRead(), log.bytesTotal),
      bytesTotal: log.bytesTotal,
    });
  if (firstSeq > 0 && pruned === undefined && !log.isOneArchive) return startMissing(log, firstSeq);
  // The tree of one file that starts later is not known.
  const claims = log.isOneArchive && firstSeq > 0 ? undefined : options.checkpoints;
  const slices = createSlices(options);
  try {
    return await verifyParts(log.parts, { firstSeq, pruned, claims, report, slices });
  } catch (error) {
    throwIfAborted(options.signal, path);
    throw error;
  }
}

/**
 * Verifies the file of a log that is written to by itself: what it follows is not looked at.
 *
 * @throws ConsentError `audit_failed` where it cannot be read.
 */
export async function verifyCurrentFile(path: string): Promise<AuditVerification> {
  await using log = await openParts(path);
  const part = log.parts.at(-1);
  const parts = part === undefined ? [] : [part];
  const firstSeq = await firstSeqOf(part);
  return await verifyParts(parts, { firstSeq, claims: undefined, report: () => {} });
}

/** Number of the first event; 0 where there is none that can be read. */
export async function firstSeqOf(part: PartLines | undefined): Promise<number> {
  if (part?.firstSeq !== undefined) return part.firstSeq;
  for await (const { bytes, ends } of part?.blocks() ?? []) {
    const [end] = ends;
    if (end === undefined) continue;
    const decoded = decodeEvent(lineText(bytes.subarray(0, end)) ?? "");
    return decoded.ok ? decoded.event.seq : 0;
  }
  return 0;
}

function startMissing({ parts }: LogParts, firstSeq: number): AuditVerification {
  const message = `the log starts at event ${firstSeq}, and nothing says that the earlier events were removed`;
  return {
    ok: false,
    events: 0,
    firstBad: { line: 1, ...fileOf(parts, parts[0]), code: "start_missing", message },
  };
}

/** What names the file of a bad line. */
export function fileOf(
  parts: readonly PartLines[],
  part: PartLines | undefined,
): { readonly file?: string } {
  return part === undefined || parts.length === 1 ? {} : { file: part.name };
}

/** {@link verifyAuditLog} over lines from anywhere. */
export function verifyLines(
  blocks: AsyncIterable<LineBlock>,
  claims?: CheckpointClaims,
): Promise<AuditVerification> {
  const part: PartLines = {
    name: "",
    firstSeq: undefined,
    async *blocks() {
      yield* blocks;
    },
  };
  return verifyParts([part], { firstSeq: 0, claims, report: () => {} });
}

interface Walking {
  readonly firstSeq: number;
  readonly pruned?: PrunedStart | undefined;
  readonly claims: CheckpointClaims | undefined;
  /** Hears the number of good events after every block. */
  readonly report: (events: number) => void;
  /** Lets others go first. */
  readonly slices?: Slices;
}

async function verifyParts(
  parts: readonly PartLines[],
  { firstSeq, pruned, claims, report, slices }: Walking,
): Promise<AuditVerification> {
  const check = claims === undefined ? undefined : checkpointCheck(claims, pruned?.edge);
  const chain = walkChain({
    firstSeq,
    ...(check === undefined
      ? {}
      : { onLine: (bytes, start, end) => check.line(bytes, start, end) }),
  });
  const end = (firstBad?: BadLine): AuditVerification =>
    summary({ chain, check, firstSeq }, firstBad);
  let line = 1;
  for (const part of parts) {
    const before = chain.events();
    const where = fileOf(parts, part);
    if (part.firstSeq !== undefined && part.firstSeq !== firstSeq + before)
      return end({
        line: 1,
        ...where,
        code: "seq_broken",
        message: `the file starts at event ${part.firstSeq}, expected ${firstSeq + before}`,
      });
    for await (const block of part.blocks()) {
      const fault = chain.walk(block);
      line = chain.events() - before + 1;
      if (fault !== undefined) return end({ line, ...where, ...fault });
      if (pruned !== undefined && chain.events() > 0 && chain.startHash() !== pruned.hash)
        return end({
          line: 1,
          ...where,
          code: "chain_broken",
          message: "it does not follow the events that were removed",
        });
      report(chain.events());
      if (slices?.isOver() === true) await slices.rest();
    }
  }
  const missing = check?.end();
  return end(
    missing === undefined ? undefined : { line, ...fileOf(parts, parts.at(-1)), ...missing },
  );
}

function summary(
  {
    chain,
    check,
    firstSeq,
  }: {
    readonly chain: ChainWalk;
    readonly check: CheckpointCheck | undefined;
    readonly firstSeq: number;
  },
  firstBad: BadLine | undefined,
): AuditVerification {
  const head = chain.head();
  const checkpoints = check?.report();
  return {
    ok: firstBad === undefined && checkpoints?.firstBad === undefined,
    events: chain.events(),
    ...(head === undefined ? {} : { head }),
    ...(firstBad === undefined ? {} : { firstBad }),
    ...(firstSeq === 0 ? {} : { startSeq: firstSeq }),
    ...(checkpoints === undefined ? {} : { checkpoints }),
  };
}
