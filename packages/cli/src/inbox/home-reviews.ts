/**
 * HomeReviews: what agents of `acp run --review` wrote, for the inbox's page: listed, shown, taken
 * and dropped by the functions of `acp review`. What is not shown there with its lines is not taken
 * from there.
 */
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type {
  InboxReviews,
  ReviewBy,
  ReviewOrder,
  ReviewRow,
  ReviewSettled,
  ReviewShown,
  ReviewSummary,
} from "@acp/channel-web";
import { escapeText, isConsentError } from "@acp/core";
import type { Home } from "@acp/home";
import type { ReviewChange, ReviewSnapshot } from "@acp/sandbox-linux";
import type { Io } from "../command.js";
import { resultOf } from "../review/result.js";
import { drop, takeFrom } from "../review/settle.js";
import type { SettleParts } from "../review/settle.js";
import { freeze, isRunning, listReviews, withFrozen } from "../review/store.js";
import type { Review } from "../review/store.js";
import { diffOfOne } from "../review/diff-text.js";

/** Reviews on one page. */
const REVIEWS_MAX = 100;
/** Changes of one review on the page. */
const ROWS_MAX = 1_000;
/** Lines and characters of all of them: a phone shows it. */
const LINES_MAX = 20_000;
const CHARS_MAX: number = 2 * 1024 * 1024;
const REFUSED_MAX = 200;
const NAME_CHARS_MAX = 4_096;

/** Whose reviews, and who may settle them. */
export interface HomeReviewsParts {
  readonly home: Home;
  readonly io: Pick<Io, "userHome">;
  /** The approver id of the home's owner. */
  readonly reviewer: string;
}

/** The reviews of a home. */
export function homeReviews({ home, io, reviewer }: HomeReviewsParts): InboxReviews {
  const count = changeCounter();
  const find = async (id: string): Promise<Review | undefined> =>
    (await listReviews(home)).find((review) => review.id === id);
  const partsBy = (by: ReviewBy): SettleParts => ({ home, io, by: { ...by } });
  return {
    reviewers: [reviewer],
    async list() {
      const found = (await listReviews(home)).slice(-REVIEWS_MAX);
      return await Promise.all(found.map(async (review) => summaryOf(review, await count(review))));
    },
    async show(id) {
      const review = await find(id);
      if (review === undefined) return undefined;
      const snapshot = await freeze(review);
      return {
        ...(await summaryOf(review, snapshot.listing.changes.length)),
        ...(await shownOf(snapshot)),
      };
    },
    async take(order, by) {
      const review = await find(order.id);
      return review === undefined ? { status: "unknown" } : await take(review, order, partsBy(by));
    },
    async drop({ id, digest }, by) {
      const review = await find(id);
      if (review === undefined) return { status: "unknown" };
      if (await isRunning(review)) return { status: "running" };
      if ((await frozenAs(review, digest)) === undefined) return { status: "changed" };
      await drop(review, partsBy(by));
      return {
        status: "done",
        lines: [`Review ${id} is dropped; the workspace is as it was`],
        isOver: true,
        isWhole: true,
      };
    },
  };
}

async function summaryOf(review: Review, changes: number | undefined): Promise<ReviewSummary> {
  const { id, workspace, agent, command, startedMs } = review;
  return {
    id,
    workspace: shorten(escapeText(workspace)),
    agent: shorten(escapeText(agent)),
    ...(command === undefined ? {} : { command: shorten(escapeText(command)) }),
    startedMs,
    isRunning: await isRunning(review),
    ...(changes === undefined ? {} : { changes }),
  };
}

function shorten(text: string): string {
  return text.length > NAME_CHARS_MAX ? `${text.slice(0, NAME_CHARS_MAX)}…` : text;
}

/** A list of changes may be long: it is read once for each time that one was frozen. */
function changeCounter(): (review: Review) => Promise<number | undefined> {
  const known = new Map<string, { readonly frozenMs: number; readonly changes: number }>();
  return async (review) => {
    const { id, directory } = review;
    const found = await lstat(join(directory, "snapshot")).catch(() => undefined);
    if (found === undefined) return undefined;
    const before = known.get(id);
    if (before?.frozenMs === found.mtimeMs) return before.changes;
    // Somebody settles it this moment, or it is not of this version: the number is left out, and
    // the rest is listed.
    const changes = await withFrozen(
      review,
      async (snapshot) => snapshot?.listing.changes.length,
    ).catch(() => undefined);
    if (changes !== undefined) known.set(id, { frozenMs: found.mtimeMs, changes });
    if (known.size > REVIEWS_MAX) known.delete([...known.keys()][0] ?? "");
    return changes;
  };
}

type Shown = Pick<ReviewShown, "digest" | "rows" | "more" | "refused" | "isComplete">;

/** As many changes as may be shown with all their lines. */
export async function shownOf(snapshot: ReviewSnapshot): Promise<Shown> {
  const { changes, refused, isComplete } = snapshot.listing;
  const above = foldersAbove(changes);
  const rows: ReviewRow[] = [];
  let [lines, chars] = [0, 0];
  for (const [index, change] of changes.entries()) {
    await setImmediate(); // the page answers questions meanwhile
    const [text = "", ...rest] = diffOfOne(snapshot, change);
    lines += rest.length + 1;
    chars += rest.reduce((sum, { length }) => sum + length, text.length);
    if (rows.length >= ROWS_MAX || lines > LINES_MAX || chars > CHARS_MAX) break;
    rows.push({ index, text, lines: rest, part: partOf(change, above) });
  }
  const told = refused
    .slice(0, REFUSED_MAX)
    .map(({ path, reason }) => `${shorten(escapeText(path))}: ${escapeText(reason)}`);
  return {
    digest: snapshot.digest,
    rows,
    more: changes.length - rows.length,
    refused:
      refused.length > REFUSED_MAX ? [...told, `and ${refused.length - REFUSED_MAX} more`] : told,
    isComplete,
  };
}

function partOf(
  { path, apart, isChangedHere }: ReviewChange,
  above: ReadonlySet<string>,
): ReviewRow["part"] {
  if (above.has(path)) return "folder";
  if (apart !== null) return "apart";
  return isChangedHere ? "here" : "plain";
}

/** Paths with changes below them. */
function foldersAbove(changes: readonly ReviewChange[]): Set<string> {
  const above = new Set<string>();
  for (const { path } of changes)
    for (
      let at = path.lastIndexOf("/");
      at > 0 && !above.has(path.slice(0, at));
      at = path.lastIndexOf("/", at - 1)
    )
      above.add(path.slice(0, at));
  return above;
}

/**
 * The paths that an order names: a folder's name would take all below it, so it is named where all
 * below it is.
 *
 * @returns `undefined` where a place was not shown, or is none to choose.
 */
export async function pathsOf(
  snapshot: ReviewSnapshot,
  picks: readonly number[],
): Promise<readonly string[] | undefined> {
  const { changes } = snapshot.listing;
  const rows = new Map((await shownOf(snapshot)).rows.map((row) => [row.index, row]));
  const canBePicked = (index: number): boolean =>
    ["plain", "apart"].includes(rows.get(index)?.part ?? "folder");
  if (!picks.every(canBePicked)) return undefined;
  const picked = new Set(picks);
  const above = foldersAbove(changes);
  const isLeft = (change: ReviewChange, index: number): boolean =>
    !above.has(change.path) && !picked.has(index);
  const withLeft = foldersAbove(changes.filter(isLeft));
  const withPicked = foldersAbove(changes.filter((_, index) => picked.has(index)));
  return changes.flatMap(({ path }, index) =>
    picked.has(index) || (above.has(path) && withPicked.has(path) && !withLeft.has(path))
      ? [path]
      : [],
  );
}

/** What was frozen last, where it is what was shown. */
function frozenAs(review: Review, digest: string): Promise<ReviewSnapshot | undefined> {
  return withFrozen(review, async (snapshot) =>
    snapshot?.digest === digest ? snapshot : undefined,
  );
}

async function take(
  review: Review,
  { digest, picks }: ReviewOrder,
  parts: SettleParts,
): Promise<ReviewSettled> {
  const snapshot = await frozenAs(review, digest);
  const paths = snapshot === undefined ? undefined : await pathsOf(snapshot, picks);
  if (paths === undefined) return { status: "changed" };
  try {
    const settled = await takeFrom(review, { digest, paths, overwrites: false }, parts);
    const isWhole = settled.conflicts.length + settled.failed.length + settled.apart.length === 0;
    return { status: "done", lines: resultOf(review, settled), isOver: settled.isOver, isWhole };
  } catch (error) {
    // Frozen anew since: nothing was taken.
    if (isConsentError(error, "options_invalid")) return { status: "changed" };
    throw error;
  }
}
