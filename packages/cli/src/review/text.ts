/**
 * Review text: what a person reads before they take something. Names and lines are an agent's: what
 * would move a cursor or hide is shown escaped.
 */
import { escapeText } from "@acp/core";
import { SNAPSHOT_LIMITS } from "@acp/sandbox-linux";
import type { FileState, ReviewChange, ReviewListing, ReviewSnapshot } from "@acp/sandbox-linux";
import type { Review } from "./store.js";

const LINES_MAX = 200;
/** From this many on, a new folder is one line. */
const GROUP_MIN = 20;
const { entries: NAMES_MAX, bytes: CONTENT_MAX, text: LIST_MAX } = SNAPSHOT_LIMITS;
const TOO_MUCH =
  `There is more than a review can hold (${NAMES_MAX} names, ${CONTENT_MAX / 2 ** 30} GiB of content, a list of ${LIST_MAX / 2 ** 20} MiB); the rest is never taken. ` +
  "Take what you see and drop what is left, or drop all of it and have the command write less";

/** What differs, part by part, and how to go on. */
export function summaryOf(
  review: Review,
  { digest, listing }: ReviewSnapshot,
  isRunning: boolean,
): readonly string[] {
  const { changes, refused, isComplete } = listing;
  const ordinary = changes.filter((change) => change.apart === null && !change.isChangedHere);
  const apart = changes.filter(({ apart: place }) => place !== null);
  const here = changes.filter((change) => change.apart === null && change.isChangedHere);
  const part = (title: string, lines: readonly string[]): readonly string[] =>
    lines.length === 0 ? [] : ["", title, ...lines.slice(0, LINES_MAX), ...more(lines)];
  return [
    `Review ${review.id}: what ${escapeText(review.agent)} wrote in ${escapeText(review.workspace)}${isRunning ? ", so far; it is still running" : ""}`,
    ...part("Changes:", groups(ordinary)),
    ...part(
      "Other programs run these by themselves; they are taken only by name:",
      apart.map(lineOf),
    ),
    ...part(
      "Changed in the workspace since the command started; taken only with --overwrite:",
      here.map(lineOf),
    ),
    ...part(
      "Never taken:",
      refused.map(({ path, reason }) => `  ${escapeText(path)}: ${reason}`),
    ),
    ...(isComplete ? [] : ["", TOO_MUCH]),
    ...(changes.length === 0 ? ["Nothing is different"] : ["", `Digest: ${digest}`]),
  ];
}

function more(lines: readonly string[]): readonly string[] {
  return lines.length > LINES_MAX
    ? [`  and ${lines.length - LINES_MAX} more; acp review show --json has all`]
    : [];
}

/** One line a change; a new folder with much in it is one. */
function groups(changes: readonly ReviewChange[]): readonly string[] {
  const lines: string[] = [];
  for (let index = 0; index < changes.length; index++) {
    const change = changes[index];
    if (change === undefined) break;
    const end = isNewFolder(change) ? endOf(changes, index) : index;
    if (end - index < GROUP_MIN) lines.push(lineOf(change));
    else {
      lines.push(`  A ${escapeText(change.path)}/ (${describe(changes.slice(index + 1, end))})`);
      index = end - 1;
    }
  }
  return lines;
}

function isNewFolder({ before, after }: ReviewChange): boolean {
  return before === null && after?.kind === "folder";
}

/** The first change that is not below the folder at an index. */
function endOf(changes: readonly ReviewChange[], index: number): number {
  const top = `${changes[index]?.path ?? ""}/`;
  let end = index + 1;
  while (changes[end]?.path.startsWith(top) === true) end += 1;
  return end;
}

function describe(changes: readonly ReviewChange[]): string {
  const files = changes.flatMap(({ after }) => (after?.kind === "file" ? [after] : []));
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const programs = files.filter(({ mode }) => (mode & 0o111) !== 0).length;
  return `new: ${files.length} files, ${bytes} bytes${programs === 0 ? "" : `, ${programs} executable`}`;
}

/** One change on one line. */
export function lineOf(change: ReviewChange): string {
  const { path, before, after } = change;
  const folder = (after ?? before)?.kind === "folder" ? "/" : "";
  const notes = notesOf(before, after);
  return `  ${letterOf(change)} ${escapeText(path)}${folder}${notes === "" ? "" : ` (${notes})`}`;
}

function letterOf({ before, after }: ReviewChange): string {
  if (before === null) return "A";
  if (after === null) return "D";
  return before.kind === after.kind ? "M" : "T";
}

/** What a name does not say: kinds and rights. */
function notesOf(before: FileState | null, after: FileState | null): string {
  if (after?.kind === "link") return `link to ${escapeText(after.target)}`;
  if (before !== null && after !== null && before.kind !== after.kind)
    return `${before.kind} becomes ${after.kind}`;
  const modes = [before, after].map((state) =>
    state?.kind === "file" || state?.kind === "folder" ? state.mode : undefined,
  );
  const [old, fresh] = modes;
  if (old !== undefined && fresh !== undefined && old !== fresh)
    return `mode ${octal(old)} becomes ${octal(fresh)}`;
  if (before !== null || after === null || after.kind === "other") return "";
  if ((after.mode & 0o002) !== 0) return `mode ${octal(after.mode)}: everybody may write it`;
  return after.kind === "file" && (after.mode & 0o111) !== 0 ? "executable" : "";
}

function octal(mode: number): string {
  return mode.toString(8).padStart(3, "0");
}

/** How many of each, for a line of the log. */
export function countsOf({ changes, refused }: ReviewListing): string {
  return `${changes.length} ${changes.length === 1 ? "change" : "changes"}, ${refused.length} refused`;
}
