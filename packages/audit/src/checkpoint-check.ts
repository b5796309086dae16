/**
 * Checkpoint check: holds a log's lines against signed checkpoints of it, in one pass beside the
 * chain. Finds what a chain cannot show: an end cut off, a log written anew, a second history.
 * Format: spec/checkpoints.md §4.
 */
import { type Checkpoint, openCheckpoint } from "./checkpoint.js";
import type { AuditFault } from "./event.js";
import { hashText } from "./merkle.js";
import { noteVerifier } from "./note.js";
import { growTree, type TreeEdge } from "./tree-edge.js";

/** Signed checkpoints to check a log against. */
export interface CheckpointClaims {
  /** The signed notes, from the file beside the log or from any witness, in any order. */
  readonly notes: readonly string[];
  /** The public keys that are trusted: `<name>+<id>+<base64>`. */
  readonly verifierKeys: readonly string[];
  /**
   * Name of the log; a checkpoint of another log is then refused. Unless given, every name is
   * accepted.
   */
  readonly origin?: string;
}

/** Which checkpoints held. */
export interface CheckpointReport {
  /** How many held. */
  readonly verified: number;
  /** How many events the largest of these covers; 0 where none held. */
  readonly events: number;
  /** How many are about events that retention has removed, and were not checked. */
  readonly tooOld: number;
  /**
   * The first note that cannot be trusted; `number` counts the notes from 1. Absent where there is
   * none.
   */
  readonly firstBad?: { readonly number: number; readonly reason: string };
}

/** Checkpoints in the order of their size, each once, and what was wrong with them. */
export interface SortedClaims {
  readonly checkpoints: readonly Checkpoint[];
  readonly firstBad?: { readonly number: number; readonly reason: string };
  /** Two that contradict each other, whatever the log says. */
  readonly contradiction?: number;
}

/** A check under way. */
export interface CheckpointCheck {
  /** Takes the next line. */
  line(bytes: Buffer, start: number, end: number): AuditFault | undefined;
  /** After the last line. */
  end(): AuditFault | undefined;
  report(): CheckpointReport;
}

/**
 * Checks the claims against lines to come. `before` is the tree of the events that retention
 * removed.
 *
 * @throws ConsentError `key_rejected` where a key is none.
 */
export function checkpointCheck(claims: CheckpointClaims, before?: TreeEdge): CheckpointCheck {
  const { checkpoints, firstBad, contradiction } = sortClaims(claims);
  const tree = growTree(before);
  const due = checkpoints.filter(({ size }) => size >= tree.size());
  const tooOld = checkpoints.length - due.length;
  let verified = 0;
  let covered = 0;

  /** Holds every checkpoint of the tree's size against it. */
  function settle(): AuditFault | undefined {
    for (
      let next = due[verified];
      next !== undefined && next.size === tree.size();
      next = due[verified]
    ) {
      if (next.size === contradiction)
        return {
          code: "two_histories",
          message: `two signed checkpoints commit to different events up to number ${next.size}`,
        };
      if (hashText(next.root) !== hashText(tree.root())) {
        const since = `${covered + 1} to ${next.size}`;
        return {
          code: "history_replaced",
          message: `the signed checkpoint of ${next.size} events commits to different events; one of the events ${since} was replaced`,
        };
      }
      verified += 1;
      covered = next.size;
    }
    return undefined;
  }

  const first = settle();
  return {
    line(bytes, start, end) {
      if (first !== undefined) return first;
      tree.add(bytes, start, end);
      return due[verified]?.size === tree.size() ? settle() : undefined;
    },
    end() {
      const missing = due.at(-1);
      if (first !== undefined || missing === undefined || missing.size <= tree.size()) return first;
      const count = missing.size - tree.size();
      return {
        code: "end_missing",
        message: `a signed checkpoint covers ${missing.size} events; the last ${count} are missing`,
      };
    },
    report: () => ({
      verified,
      events: covered,
      tooOld,
      ...(firstBad === undefined ? {} : { firstBad }),
    }),
  };
}

/**
 * Opens the claims.
 *
 * @throws ConsentError `key_rejected` where a key is none.
 */
export function sortClaims({ notes, verifierKeys, origin }: CheckpointClaims): SortedClaims {
  const verifiers = verifierKeys.map(noteVerifier);
  const found = new Map<string, Checkpoint>();
  let firstBad: SortedClaims["firstBad"];
  for (const [index, note] of notes.entries()) {
    const opened = openCheckpoint(note, verifiers);
    const reason = opened.ok ? foreign(opened.checkpoint, origin) : opened.reason;
    if (reason !== undefined) firstBad ??= { number: index + 1, reason };
    else if (opened.ok)
      found.set(`${opened.checkpoint.size} ${hashText(opened.checkpoint.root)}`, opened.checkpoint);
  }
  const checkpoints = [...found.values()].sort((a, b) => a.size - b.size);
  const contradiction = checkpoints.find(
    ({ size }, index) => checkpoints[index + 1]?.size === size,
  )?.size;
  return {
    checkpoints,
    ...(firstBad === undefined ? {} : { firstBad }),
    ...(contradiction === undefined ? {} : { contradiction }),
  };
}

function foreign(checkpoint: Checkpoint, origin: string | undefined): string | undefined {
  return origin === undefined || checkpoint.origin === origin
    ? undefined
    : `it belongs to another log, "${checkpoint.origin}"`;
}
