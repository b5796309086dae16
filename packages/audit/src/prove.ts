/**
 * Prove: inclusion and consistency proofs over a log's lines, for somebody who has a checkpoint but
 * not the log. Holds every hash of the tree in memory: 64 bytes an event. Format:
 * spec/checkpoints.md §3.
 */
import { cannot, causeText } from "./errors.js";
import { openParts } from "./log-parts.js";
import type { ConsistencyProof, InclusionProof } from "./merkle.js";
import { type MerkleTree, merkleTree } from "./tree.js";

/** Makes proofs of a log as it was when it was read. */
export interface AuditProver {
  /** How many events it covers. */
  readonly size: number;
  /**
   * Root hash of the first `size` events; of all unless given.
   *
   * @throws ConsentError `audit_failed` where there are not that many.
   */
  root(size?: number): Uint8Array;
  /**
   * A proof that event `seq` is among the first `size` events; among all unless given.
   *
   * @throws ConsentError `audit_failed` where there is no such event.
   */
  inclusion(seq: number, size?: number): InclusionProof;
  /**
   * A proof that the first `from` events are the beginning of the first `to`; of all unless given.
   *
   * @throws ConsentError `audit_failed` where there are not that many.
   */
  consistency(from: number, to?: number): ConsistencyProof;
}

/**
 * Reads a log for proofs. Its lines are hashed, not checked: verify it first.
 *
 * @throws ConsentError `audit_failed` where the log cannot be read or its start was removed.
 */
export async function openAuditProver(path: string, signal?: AbortSignal): Promise<AuditProver> {
  await using log = await openParts(path, signal);
  const tree = merkleTree();
  for (const part of log.parts) {
    if (part.firstSeq !== undefined && part.firstSeq !== tree.size())
      throw cannot("prove", path)("its first file, or one in between, is missing");
    for await (const { bytes, ends } of part.blocks()) {
      let start = 0;
      for (const end of ends) {
        tree.add(bytes, start, end);
        start = end + 1;
      }
    }
  }
  return proverOf(path, tree);
}

function proverOf(path: string, tree: MerkleTree): AuditProver {
  const orRefuse = <T>(make: () => T): T => {
    try {
      return make();
    } catch (error) {
      throw cannot("prove", path)(causeText(error), error);
    }
  };
  return {
    size: tree.size(),
    root: (size) => orRefuse(() => tree.root(size)),
    inclusion: (seq, size) => orRefuse(() => tree.inclusion(seq, size)),
    consistency: (from, to) => orRefuse(() => tree.consistency(from, to)),
  };
}
