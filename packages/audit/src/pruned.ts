/**
 * Pruned: what a log says of its own events that retention removed. Written before a file is
 * removed, so that a missing start can be told from a removed one. Format: spec/audit.md §8.
 */
import type { JsonObject } from "@acp/core";
import { decodeEvent } from "./codec.js";
import { lineText } from "./lines.js";
import type { PartLines } from "./log-parts.js";
import { isTreeEdge, type TreeEdge } from "./tree-edge.js";

/** Events that are gone. */
export interface PrunedStart {
  /** All before this number. */
  readonly beforeSeq: number;
  /** `event_hash` of the last of them. */
  readonly hash: string;
  /** Edge of the tree of their lines. */
  readonly edge: TreeEdge;
}

const MARK = '"event_type":"log_pruned"';

/** The file that goes. */
interface PrunedFile {
  /** Its name. */
  readonly file: string;
  /** Wall time of its last event. */
  readonly lastMs: number | undefined;
}

/** The metadata of the event that says so. */
export function prunedMetadata(
  { beforeSeq, hash, edge }: PrunedStart,
  { file, lastMs }: PrunedFile,
): JsonObject {
  const until = lastMs === undefined ? {} : { last_ms: lastMs };
  return { before_seq: beforeSeq, file, hash, ...until, tree: [...edge.hashes] };
}

/**
 * What the log says was before this number; `undefined` where it says nothing. Its lines are
 * checked when the chain is.
 */
export async function findPruned(
  parts: readonly PartLines[],
  beforeSeq: number,
): Promise<PrunedStart | undefined> {
  for (const part of parts) {
    for await (const { bytes, ends } of part.blocks()) {
      for (let at = bytes.indexOf(MARK); at !== -1; at = bytes.indexOf(MARK, at + 1)) {
        const start = bytes.lastIndexOf(0x0a, at) + 1;
        const end = ends.find((each) => each > at);
        const found = end === undefined ? undefined : readPruned(bytes.subarray(start, end));
        if (found?.beforeSeq === beforeSeq) return found;
      }
    }
  }
  return undefined;
}

function readPruned(line: Uint8Array): PrunedStart | undefined {
  const decoded = decodeEvent(lineText(line) ?? "");
  if (!decoded.ok || decoded.event.eventType !== "log_pruned") return undefined;
  const { before_seq: beforeSeq, hash, tree } = decoded.event.metadata;
  if (typeof beforeSeq !== "number" || typeof hash !== "string" || !isTreeEdge(beforeSeq, tree))
    return undefined;
  return { beforeSeq, hash, edge: { size: beforeSeq, hashes: tree } };
}
