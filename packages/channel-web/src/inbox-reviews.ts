/**
 * Review parts: what the inbox shows of what agents wrote into overlays of their workspaces, and
 * how a person settles it. Types only. Routes and messages: spec/web-inbox.md §7.
 */

/** A review that nobody has settled yet. */
export interface ReviewSummary {
  /** Id of the review, as `acp review` shows it. */
  readonly id: string;
  /** The workspace's real path. */
  readonly workspace: string;
  /** The agent's ID. */
  readonly agent: string;
  /** The command that ran, as one line; absent where it is not known. */
  readonly command?: string;
  /** When the command started, in milliseconds since 1970. */
  readonly startedMs: number;
  /** True if the agent may still be writing. */
  readonly isRunning: boolean;
  /**
   * Number of changes in the last snapshot; absent where there is none, or it cannot be read now.
   */
  readonly changes?: number;
}

/**
 * One change, as the page shows it. Its texts have no characters that hide or reorder text or break
 * a line.
 */
export interface ReviewRow {
  /** Position of the change in the snapshot; an order refers to it. */
  readonly index: number;
  /** Kind and path of the change, and what the path does not show, as one line. */
  readonly text: string;
  /** The lines that differ. */
  readonly lines: readonly string[];
  /**
   * `plain`: an ordinary change. `apart`: other programs run this file by themselves. `here`:
   * somebody changed it in the workspace since the agent started. `folder`: it comes with what is
   * in it.
   */
  readonly part: "plain" | "apart" | "here" | "folder";
}

/** A review with a snapshot that was made just now. */
export interface ReviewShown extends ReviewSummary {
  /** SHA-256 of the snapshot's list of changes, 64 hex digits; an order names it. */
  readonly digest: string;
  /** What differs from the workspace, one row per path. */
  readonly rows: readonly ReviewRow[];
  /** Number of changes without a row, because the number of rows is limited. */
  readonly more: number;
  /** What is never taken, and why, one line each. */
  readonly refused: readonly string[];
  /** True if the snapshot has everything that differs. */
  readonly isComplete: boolean;
}

/** Which changes of a review a person takes. */
export interface ReviewOrder {
  /** Id of the review, as `acp review` shows it. */
  readonly id: string;
  /** Digest of the snapshot that the person saw. */
  readonly digest: string;
  /** Indexes of the changes to take; the others stay in the review. */
  readonly picks: readonly number[];
}

/** Who settles a review, for the log. */
export interface ReviewBy {
  /** Approver ID of the person who is signed in. */
  readonly approver: string;
  /** Name of the channel, for the log. */
  readonly channel: "inbox";
  /** Id of the passkey that confirmed it; absent where none was needed. */
  readonly passkey?: string;
}

/** The result of taking or dropping a review. */
export type ReviewSettled =
  | {
      readonly status: "done";
      /** What was taken and what was not, for the person, one line each. */
      readonly lines: readonly string[];
      /** True if nothing of the review is left to settle. */
      readonly isOver: boolean;
      /**
       * True if every picked change is in the workspace now; false if one was in conflict, failed, or
       * is left alone because other programs run it. After a drop, true.
       */
      readonly isWhole: boolean;
    }
  /** The order is about another snapshot than the last one; nothing was changed. */
  | { readonly status: "changed" }
  | { readonly status: "running" }
  | { readonly status: "unknown" };

/**
 * Reviews on the page. The inbox calls these functions, and does not know where reviews are stored.
 */
export interface InboxReviews {
  /**
   * Approver ids of those who may see and settle reviews. Nobody else learns that there are any.
   */
  readonly reviewers: readonly string[];
  /** The open reviews. */
  list(): Promise<readonly ReviewSummary[]>;
  /** Makes a snapshot of a review and returns it; `undefined` where there is none with this id. */
  show(id: string): Promise<ReviewShown | undefined>;
  /**
   * Copies the picked changes into the workspace; nothing if the order's digest is not that of the
   * last snapshot.
   */
  take(order: ReviewOrder, by: ReviewBy): Promise<ReviewSettled>;
  /**
   * Discards everything that the agent wrote; nothing if the digest is not that of the last
   * snapshot.
   */
  drop(order: Pick<ReviewOrder, "id" | "digest">, by: ReviewBy): Promise<ReviewSettled>;
}
