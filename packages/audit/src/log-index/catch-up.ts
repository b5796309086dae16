/** Catch up: the lines of a log that an index lacks, one after the other, each proven to follow. */
import type { AuditReceipt } from "@acp/core";
import { readPlace } from "../chain.js";
import { nextSeq } from "../event-line.js";
import type { LogPart } from "../log-parts.js";
import { findPruned } from "../pruned.js";
import { createSlices } from "../slices.js";
import { type BuilderStart, EMPTY_STATE } from "./builder.js";
import type { AddedLine } from "./stretch-builder.js";

/** A record and a table are written when they cover so many events. */
export const EVERY_EVENTS = 1_000;

/** Where a log starts: at event 0, or behind what was removed, which the log then states. */
export async function startOfLog(parts: readonly LogPart[]): Promise<BuilderStart | undefined> {
  const first = parts[0] === undefined ? undefined : await parts[0].startSeq();
  if (first === undefined || first === 0) return { head: undefined, state: EMPTY_STATE };
  const pruned = await findPruned(parts, first);
  if (pruned === undefined) return undefined;
  const { hash, edge } = pruned;
  return { head: { seq: first - 1, hash }, state: { ...EMPTY_STATE, edge } };
}

/** Which lines: behind a record, to the end of the log or before an event. */
export interface LinesBetween {
  readonly from: { readonly file: number; readonly to: number } | undefined;
  readonly beforeSeq?: number;
  readonly onRead?: ((bytes: number) => void) | undefined;
}

/** Takes lines. */
export interface LineTaker {
  head(): AuditReceipt | undefined;
  /** False where it cannot be taken. */
  take(line: AddedLine): boolean;
  /** Settles when what was taken is written, so that it does not pile up. */
  keptUp(): Promise<void>;
}

/** Adds lines; false at one that is not good or does not follow. */
export async function catchUp(
  parts: readonly LogPart[],
  writer: LineTaker,
  { from, beforeSeq = Number.POSITIVE_INFINITY, onRead }: LinesBetween,
): Promise<boolean> {
  const slices = createSlices();
  for (const part of parts) {
    const file = await part.startSeq();
    if (file === undefined || (from !== undefined && file < from.file)) continue;
    let at = file === from?.file ? from.to : 0;
    for await (const { bytes, ends } of part.blocks({ from: at, inPlace: true })) {
      let start = 0;
      for (const end of ends) {
        if (slices.isOver()) await slices.rest();
        if (nextSeq(writer.head()) === beforeSeq) return true;
        if (!follows(readPlace(bytes, start, end), writer.head())) return false;
        if (!writer.take({ bytes, start, end, file, from: at })) return false;
        at += end + 1 - start;
        start = end + 1;
      }
      onRead?.(start);
      await writer.keptUp();
    }
  }
  return true;
}

function follows(place: ReturnType<typeof readPlace>, head: AuditReceipt | undefined): boolean {
  if ("code" in place || place.seq !== nextSeq(head)) return false;
  return place.previousHex === (head === undefined ? "" : head.hash.slice("sha256:".length));
}
