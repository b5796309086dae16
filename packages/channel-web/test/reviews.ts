/**
 * Reviews in the test's hands: one of agent "coder", with two files, one that runs by itself and
 * names that would do harm where somebody did not show them as text.
 */
import type {
  InboxReviews,
  ReviewBy,
  ReviewOrder,
  ReviewRow,
  ReviewSummary,
} from "../src/index.js";

export const REVIEW_ID = "0123456789ab";
export const OLD_DIGEST: string = "0".repeat(64);
export const NEW_DIGEST: string = "1".repeat(64);

export interface ReviewsDouble extends InboxReviews {
  /** What was done, in order. */
  readonly done: readonly {
    readonly verb: "take" | "drop";
    readonly order: Partial<ReviewOrder>;
    readonly by: ReviewBy;
  }[];
  /** Somebody freezes it anew, and it is another one. */
  change(): void;
  /** Its agent runs. */
  run(): void;
}

/** As the command line writes such names. */
const HOSTILE = String.raw`A b\u001b[2K\u000ac\u202e<img src=x onerror=alert(1)>`;

export function reviewsDouble(reviewer = "ada", lines = 2): ReviewsDouble {
  const done: ReviewsDouble["done"][number][] = [];
  const state = { digest: OLD_DIGEST, isRunning: false, isThere: true };
  const rows: readonly ReviewRow[] = [
    { index: 0, text: "A .envrc", lines: ["+++ b/.envrc", "+evil"], part: "apart" },
    {
      index: 1,
      text: "M a.txt",
      lines: Array.from(
        { length: lines },
        (_, number) => `+line ${number} <script>alert(2)</script>`,
      ),
      part: "plain",
    },
    { index: 2, text: HOSTILE, lines: ["+<img src=x onerror=alert(3)>"], part: "plain" },
    { index: 3, text: "M here.txt", lines: ["+x"], part: "here" },
  ];
  const summary = (): ReviewSummary => ({
    id: REVIEW_ID,
    workspace: "/home/ada/work",
    agent: "coder",
    command: "node agent.mjs",
    startedMs: 1_000,
    isRunning: state.isRunning,
    changes: rows.length,
  });
  return {
    done,
    change: () => void (state.digest = NEW_DIGEST),
    run: () => void (state.isRunning = true),
    reviewers: [reviewer],
    list: async () => (state.isThere ? [summary()] : []),
    show: async (id) =>
      id !== REVIEW_ID || !state.isThere
        ? undefined
        : {
            ...summary(),
            digest: state.digest,
            rows,
            more: 0,
            refused: ["dev: a device"],
            isComplete: true,
          },
    async take(order, by) {
      if (order.digest !== state.digest) return { status: "changed" };
      done.push({ verb: "take", order, by });
      return {
        status: "done",
        lines: [`Took ${order.picks.length} changes`],
        isOver: false,
        isWhole: true,
      };
    },
    async drop(order, by) {
      if (state.isRunning) return { status: "running" };
      if (order.digest !== state.digest) return { status: "changed" };
      done.push({ verb: "drop", order, by });
      state.isThere = false;
      return { status: "done", lines: ["It is dropped"], isOver: true, isWhole: true };
    },
  };
}
