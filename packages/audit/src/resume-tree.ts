/**
 * Resume tree: the tree of a log's lines as it is when the log is opened, from a checkpoint on
 * where there is one, and as every witness says.
 */
import { type Checkpoint, openCheckpoint } from "./checkpoint.js";
import { readPlace } from "./chain.js";
import { cannot } from "./errors.js";
import { type LogPart, openParts } from "./log-parts.js";
import { hashText } from "./merkle.js";
import { noteVerifier } from "./note.js";
import type { OpenedTail } from "./open-tail.js";
import { findPruned } from "./pruned.js";
import { type GrowingTree, growTree, type TreeEdge } from "./tree-edge.js";
import { checkpointsPath, readCheckpoints, readNewestCheckpoints } from "./witness.js";

/** Whose tree is resumed. */
export interface TreeOwner {
  readonly origin: string;
  /** Of the key that signs now, and of those before it. */
  readonly verifierKeys: readonly string[];
  readonly tail: OpenedTail;
  /**
   * The newest note that each witness has: the log must hold what they say, whatever became of the
   * checkpoints beside it.
   */
  readonly witnessed: readonly string[];
  /** The tree at the end of the log as its index has it; read from the lines where it is not given. */
  readonly edge?: TreeEdge | undefined;
}

/**
 * The tree of all events, and how many of them the last checkpoint beside the log covers. Reads the
 * lines from the oldest of these checkpoints on, and holds the tree against the others; without a
 * checkpoint every line is read.
 *
 * @throws ConsentError `audit_failed` where the log ends before a checkpoint or has other events
 *   than one says, or where lines are missing.
 */
export async function resumeTree(
  path: string,
  { origin, verifierKeys, tail, witnessed, edge }: TreeOwner,
): Promise<{ readonly tree: GrowingTree; readonly covered: number }> {
  const verifiers = verifierKeys.map(noteVerifier);
  const read = (note: string): readonly Checkpoint[] => {
    const opened = openCheckpoint(note, verifiers);
    return opened.ok && opened.checkpoint.origin === origin ? [opened.checkpoint] : [];
  };
  // Every writer adds larger ones: only where none of the last counts are those before looked at.
  const kept = checkpointsPath(path);
  const beside =
    largest(await readNewestCheckpoints(kept), read) ?? largest(await readCheckpoints(kept), read);
  const promised = [
    ...(beside === undefined ? [] : [beside]),
    ...witnessed.flatMap((note) => read(note)),
  ].sort((one, other) => one.size - other.size);
  const events = tail.head === undefined ? 0 : tail.head.seq + 1;
  const refuse = cannot("open", path);
  const remedy =
    "run `acp audit verify`, then move it and its checkpoints away to start a new log under another origin";
  const missing = promised.findLast(({ size }) => size > events);
  if (missing !== undefined) {
    const who = missing === beside ? "its last checkpoint" : "a checkpoint that a witness keeps";
    throw refuse(
      `it has ${events} events, but ${who} covers ${missing.size}: its end was cut off; ${remedy}`,
    );
  }
  // Held against nothing, the lines say no more than the index, which has read them.
  const tree =
    promised.length === 0 && edge !== undefined
      ? growTree(edge)
      : await readTree(path, tail, promised);
  if (tree === "replaced")
    throw refuse(
      `its events differ from those that a signed checkpoint covers: one of them was replaced; ${remedy}`,
    );
  if (tree.size() !== events)
    throw refuse("lines are missing from its files; run `acp audit verify`");
  return { tree, covered: beside?.size ?? 0 };
}

/**
 * The largest that is signed, the last of them. Every run adds one and a signature takes long to
 * check, so they are tried from the one that says it is the largest.
 */
function largest(
  notes: readonly string[],
  read: (note: string) => readonly Checkpoint[],
): Checkpoint | undefined {
  const said = notes
    .map((note) => ({ note, size: Number(note.split("\n", 2)[1]) }))
    .filter(({ size }) => size >= 0) // not NaN, which no checkpoint says
    .toReversed()
    .toSorted((one, other) => other.size - one.size);
  for (const { note } of said) {
    const [checkpoint] = read(note);
    if (checkpoint !== undefined) return checkpoint;
  }
  return undefined;
}

/**
 * The tree of the lines from the first of these checkpoints on, smallest first; "replaced" where it
 * is not what a later one says.
 */
async function readTree(
  path: string,
  tail: OpenedTail,
  promised: readonly Checkpoint[],
): Promise<GrowingTree | "replaced"> {
  await using log = await openParts(path);
  const start = log.parts[0]?.firstSeq ?? tail.firstSeq;
  // What retention removed is not there to be added: checkpoints of it are too old.
  const first = promised.find(({ size, edge }) => size >= start && edge !== undefined);
  const before =
    first?.edge ?? (start === 0 ? undefined : (await findPruned(log.parts, start))?.edge);
  const tree = growTree(before);
  const due = promised.filter(({ size }) => size >= tree.size());
  const holds = (): boolean => {
    for (; due[0] !== undefined && due[0].size === tree.size(); due.shift())
      if (hashText(due[0].root) !== hashText(tree.root())) return false;
    return true;
  };
  let isSame = holds();
  for (const [index, part] of log.parts.entries()) {
    const next = log.parts[index + 1];
    const nextSeq =
      next === undefined ? Number.POSITIVE_INFINITY : (next.firstSeq ?? tail.firstSeq);
    if (nextSeq <= tree.size()) continue; // covered whole
    const place = await startIn(part, part.firstSeq ?? tail.firstSeq, tree.size());
    let { seq } = place;
    for await (const { bytes, ends } of part.blocks(place)) {
      let lineStart = 0;
      for (const end of ends) {
        if (seq === tree.size()) tree.add(bytes, lineStart, end);
        isSame &&= holds();
        seq += 1;
        lineStart = end + 1;
      }
    }
  }
  return isSame ? tree : "replaced";
}

/** A line at or before an event, and its number; the first one where the file is not in order. */
async function startIn(
  part: LogPart,
  firstSeq: number,
  wanted: number,
): Promise<{ readonly from: number; readonly seq: number }> {
  const from = wanted <= firstSeq ? 0 : await part.seek(wanted);
  if (from > 0)
    for await (const { bytes, ends } of part.blocks({ from })) {
      const [end] = ends;
      if (end === undefined) continue;
      const place = readPlace(bytes, 0, end);
      if (!("code" in place) && place.seq <= wanted) return { from, seq: place.seq };
      break;
    }
  return { from: 0, seq: firstSeq };
}
