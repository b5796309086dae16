/**
 * Checkpoints: a signed statement that a log had these events, as C2SP tlog-checkpoint writes it.
 * Pure. Format: spec/checkpoints.md. Vectors: spec/vectors/checkpoints.json.
 */
import { hashText, TREE_HASH_BYTES } from "./merkle.js";
import { type NoteSigner, type NoteVerifier, openNote } from "./note.js";
import { growTree, isTreeEdge, type TreeEdge } from "./tree-edge.js";

/** What a checkpoint says. */
export interface Checkpoint {
  /** Name of the log, unique among all logs that its key signs. */
  readonly origin: string;
  /** How many events the log had: the next one's `seq`. */
  readonly size: number;
  /** Root hash of the tree of their lines. */
  readonly root: Uint8Array;
  /** The edge of that tree, from which its writer goes on; left out by other writers. */
  readonly edge?: TreeEdge;
}

/** A checkpoint, or why the text is none that may be trusted. */
export type OpenedCheckpoint =
  | { readonly ok: true; readonly checkpoint: Checkpoint }
  | { readonly ok: false; readonly reason: string };

const EDGE = "acp-edge ";
const SIZE = /^(?:0|[1-9]\d{0,15})$/;
const BASE64_HASH = /^[A-Za-z0-9+/]{43}=$/;

/** The signed text of a checkpoint. */
export function signCheckpoint(
  { origin, size, root, edge }: Checkpoint,
  signer: NoteSigner,
): string {
  const edgeLine = edge === undefined ? "" : `${EDGE}${edge.hashes.join(",")}\n`;
  return signer.sign(`${origin}\n${size}\n${Buffer.from(root).toString("base64")}\n${edgeLine}`);
}

/** Reads a checkpoint that one of the keys signed. */
export function openCheckpoint(note: string, verifiers: readonly NoteVerifier[]): OpenedCheckpoint {
  const opened = openNote(note, verifiers);
  if (!opened.ok) return opened;
  const [origin = "", sizeText = "", base64 = "", ...extensions] = opened.text
    .slice(0, -1)
    .split("\n");
  const size = Number(sizeText);
  const root = Buffer.from(base64, "base64");
  const isShaped =
    origin !== "" &&
    SIZE.test(sizeText) &&
    Number.isSafeInteger(size) &&
    BASE64_HASH.test(base64) &&
    !extensions.includes("");
  if (!isShaped || root.length !== TREE_HASH_BYTES || root.toString("base64") !== base64)
    return { ok: false, reason: "it is not a checkpoint" };
  const hashes = extensions
    .find((line) => line.startsWith(EDGE))
    ?.slice(EDGE.length)
    .split(",")
    .filter((hash) => hash !== "");
  if (hashes === undefined) return { ok: true, checkpoint: { origin, size, root } };
  if (!isTreeEdge(size, hashes) || hashText(growTree({ size, hashes }).root()) !== hashText(root))
    return { ok: false, reason: "its edge does not match its tree" };
  return { ok: true, checkpoint: { origin, size, root, edge: { size, hashes } } };
}
