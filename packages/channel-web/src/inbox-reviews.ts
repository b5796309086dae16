/**
 * Review parts: what the inbox shows of what agents wrote into overlays of their workspaces, and
 * how a person settles it. Types only. Routes and messages: spec/web-inbox.md §7.
 */

/** A review that nobody has settled. */
export interface ReviewSummary {
  /** As `acp review` shows it. */
  readonly id: string;
  /** The workspace's real path. */
  readonly workspace: string;
  /** The agent's ID. */
  readonly agent: string;
  /** What ran, as one line; left out where that is not known. */
  readonly command?: string;
  /** When the command started, in milliseconds since 1970. */
  readonly startedMs: number;
  /** Whether its agent may still be writing. */
  readonly isRunning: boolean;
  /** Of what was frozen last; left out where nothing was. */
  readonly changes?: number;
}

/** One change as it is shown. Texts have no character that hides, reorders or breaks a line. */
export interface ReviewRow {
  /** Its place in what was frozen: an order names it by that. */
  readonly index: number;
  /** Its kind, path and what a name does not say, as one line. */
  readonly text: string;
  /** The lines that differ. */
  readonly lines: readonly string[];
  /**
   * `plain`; `apart`: other programs run it by themselves; `here`: somebody changed it in the
   * workspace since; `folder`: comes with what is in it.
   */
  readonly part: "plain" | "apart" | "here" | "folder";
}

/** A review as it was frozen this moment. */
export interface ReviewShown extends ReviewSummary {
  /** SHA-256 of what was frozen, 64 hexadecimal digits: an order names it. */
  readonly digest: string;
  /** What differs from the workspace, a row per path. */
  readonly rows: readonly ReviewRow[];
  /** Changes that are not among the rows, because there is a limit. */
  readonly more: number;
  /** What is never taken, and why, a line each. */
  readonly refused: readonly string[];
  /** Whether what was frozen is all that differs. */
  readonly isComplete: boolean;
}

/** What a person takes. */
export interface ReviewOrder {
  /** As `acp review` shows it. */
  readonly id: string;
  /** Of what that person has seen. */
  readonly digest: string;
  /** Places of the changes that are taken; what is not among them stays. */
  readonly picks: readonly number[];
}

/** Who settles it, for the log. */
export interface ReviewBy {
  /** Approver ID of the person who is signed in. */
  readonly approver: string;
  /** Name of the channel, for the log. */
  readonly channel: "inbox";
  /** The passkey that confirmed it; left out where it took none. */
  readonly passkey?: string;
}

/** What came of it. */
export type ReviewSettled =
  | {
      readonly status: "done";
      /** Say what was taken and what was not, for the person. */
      readonly lines: readonly string[];
      /** Whether nothing of the review is left to settle. */
      readonly isOver: boolean;
      /** Whether everything that was to be taken was. */
      readonly isWhole: boolean;
    }
  /** It is not what was shown; nothing was changed. */
  | { readonly status: "changed" }
  | { readonly status: "running" }
  | { readonly status: "unknown" };

/** Reviews on the page: where they lie is not the inbox's affair. */
export interface InboxReviews {
  /** Approver ids of those who may see and settle them. Nobody else learns that there are any. */
  readonly reviewers: readonly string[];
  /** The open reviews. */
  list(): Promise<readonly ReviewSummary[]>;
  /** Freezes it; `undefined` where there is none of this id. */
  show(id: string): Promise<ReviewShown | undefined>;
  /** Takes what the order names into the workspace; nothing if its digest is not the one shown. */
  take(order: ReviewOrder, by: ReviewBy): Promise<ReviewSettled>;
  /** Throws away all that the agent wrote. */
  drop(order: Pick<ReviewOrder, "id" | "digest">, by: ReviewBy): Promise<ReviewSettled>;
}
