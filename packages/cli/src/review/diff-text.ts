/**
 * Diff text: how the files of a review differ, line by line. Names and lines are an agent's: what
 * would move a cursor or hide is shown escaped.
 */
import { isUtf8 } from "node:buffer";
import { escapeText } from "@acp/core";
import { readContents } from "@acp/sandbox-linux";
import type { FileState, ReviewChange, ReviewSnapshot } from "@acp/sandbox-linux";
import { unifiedDiff } from "./line-diff.js";
import { lineOf } from "./text.js";

const DIFF_BYTES_MAX = 262_144;
const DIFF_LINES_MAX = 20_000;
/** Lines may be long. */
const DIFF_CHARS_MAX: number = 8 * 1024 * 1024;

/** The changes of files as a unified diff, escaped line by line. */
export function diffOf(snapshot: ReviewSnapshot, paths: readonly string[]): readonly string[] {
  const chosen = snapshot.listing.changes.filter(
    ({ path }) =>
      paths.length === 0 || paths.some((each) => path === each || path.startsWith(`${each}/`)),
  );
  const lines: string[] = [];
  let chars = 0;
  for (const change of chosen) {
    if (lines.length > DIFF_LINES_MAX || chars > DIFF_CHARS_MAX)
      return [...lines.slice(0, DIFF_LINES_MAX), "… and more; name paths to see them"];
    const fresh = diffOfOne(snapshot, change);
    chars += fresh.reduce((sum, { length }) => sum + length, 0);
    for (const line of fresh) lines.push(line);
  }
  return lines;
}

/** The change of one path: its line, then how the file differs. */
export function diffOfOne(snapshot: ReviewSnapshot, change: ReviewChange): readonly string[] {
  const { path, before, after } = change;
  const head = lineOf(change).trim();
  if (before?.kind !== "file" && after?.kind !== "file") return [head];
  const contents = readContents(snapshot, change, DIFF_BYTES_MAX);
  const isShown = (state: FileState | null, bytes: Uint8Array | undefined): boolean =>
    state?.kind !== "file" || (bytes !== undefined && !bytes.includes(0) && isUtf8(bytes));
  // Bytes that are no text would all look alike.
  if (!isShown(before, contents.before) || !isShown(after, contents.after))
    return [head, `  not shown: ${sizeOf(before)} becomes ${sizeOf(after)}`];
  const text = (bytes: Uint8Array | undefined): string =>
    bytes === undefined ? "" : Buffer.from(bytes).toString("utf8");
  const name = escapeText(path);
  return [
    head,
    `--- ${before?.kind === "file" ? `a/${name}` : "/dev/null"}`,
    `+++ ${after?.kind === "file" ? `b/${name}` : "/dev/null"}`,
    ...unifiedDiff(text(contents.before), text(contents.after)).map(showLine),
  ];
}

/** A tab is no trick. */
function showLine(line: string): string {
  return line.split("\t").map(escapeText).join("\t");
}

function sizeOf(state: FileState | null): string {
  if (state === null) return "nothing";
  return state.kind === "file"
    ? `${state.size} bytes (sha256 ${state.sha256.slice(0, 16)}…)`
    : state.kind;
}
