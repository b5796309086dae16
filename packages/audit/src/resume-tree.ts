/** Resume tree: the tree of a log's lines as it is when the log is opened, from the last checkpoint on where there is one. */
import { type Checkpoint, openCheckpoint } from "./checkpoint.js";
import { cannot } from "./errors.js";
import { openParts } from "./log-parts.js";
import { noteVerifier } from "./note.js";
import type { OpenedTail } from "./open-tail.js";
import { findPruned } from "./pruned.js";
import { type GrowingTree, growTree, type TreeEdge } from "./tree-edge.js";
import { checkpointsPath, readCheckpoints } from "./witness.js";

/** Whose tree is resumed. */
export interface TreeOwner {
  readonly origin: string;
  readonly verifierKey: string;
  readonly tail: OpenedTail;
}

/**
 * The tree of all events, and how many of them the last checkpoint covers. Without a checkpoint every line is read.
 *
 * @throws ConsentError `audit_failed` where the log ends before its last checkpoint, or its start is missing.
 */
export async function resumeTree(
  path: string,
  { origin, verifierKey, tail }: TreeOwner,
): Promise<{ readonly tree: GrowingTree; readonly covered: number }> {
  const verifier = noteVerifier(verifierKey);
  const opened = (await readCheckpoints(checkpointsPath(path))).map((note) => openCheckpoint(note, [verifier]));
  const last = opened
    .flatMap((each) => (each.ok && each.checkpoint.origin === origin ? [each.checkpoint] : []))
    .reduce<Checkpoint | undefined>((largest, each) => (each.size >= (largest?.size ?? 0) ? each : largest), undefined);
  const events = tail.head === undefined ? 0 : tail.head.seq + 1;
  if (last !== undefined && last.size > events) {
    const why = `it has ${events} events, and its last checkpoint promised ${last.size}: its end was cut off`;
    throw cannot(
      "open",
      path,
    )(`${why}; run \`acp audit verify\`, then move it and its checkpoints away to start a new log under another origin`);
  }
  const tree = await readTree(path, tail, last?.edge);
  if (tree.size() !== events) throw cannot("open", path)("lines are missing from its files; run `acp audit verify`");
  return { tree, covered: last?.size ?? 0 };
}

/** Adds the lines that the edge does not cover yet. */
async function readTree(path: string, tail: OpenedTail, edge: TreeEdge | undefined): Promise<GrowingTree> {
  await using log = await openParts(path);
  const start = log.parts[0]?.firstSeq ?? tail.firstSeq;
  const before = edge ?? (start === 0 ? undefined : (await findPruned(log.parts, start))?.edge);
  const tree = growTree(before);
  for (const [index, part] of log.parts.entries()) {
    const next = log.parts[index + 1];
    const nextSeq = next === undefined ? Number.POSITIVE_INFINITY : (next.firstSeq ?? tail.firstSeq);
    if (nextSeq <= tree.size()) continue; // covered whole
    let seq = part.firstSeq ?? tail.firstSeq;
    for await (const { bytes, ends } of part.blocks()) {
      let lineStart = 0;
      for (const end of ends) {
        if (seq === tree.size()) tree.add(bytes, lineStart, end);
        seq += 1;
        lineStart = end + 1;
      }
    }
  }
  return tree;
}
