/** TrialResult: what comes of asking a hub for a trial. */
import type { CommandOutcome } from "../executor/run-shell.js";

/** How a trial ended. */
export type TrialEnd =
  | CommandOutcome
  | { readonly end: "resource_limit"; readonly reason: string; readonly outputBytes: number };

/** What came of a trial. Nothing of it is in the workspace. */
export interface Tried {
  readonly tried: true;
  readonly kept: false;
  readonly outcome: TrialEnd;
  /** What its writes are kept by, with `keepTrial`; left out where they cannot be kept. */
  readonly digest?: string;
  /** What it wrote, a line each: `+` made, `~` changed, `-` removed. At most {@link LINES_MAX}. */
  readonly changes: readonly string[];
  readonly changeCount: number;
  /** Of these, how many are never kept: other programs run them, or they lead out. */
  readonly neverKept: number;
  /** What of the workspace looked empty, below it; at most {@link LINES_MAX}. */
  readonly covered: readonly string[];
  readonly coveredCount: number;
  /** Whether the log has its end. */
  readonly recorded: boolean;
}

/** No trial: the command is decided about as ever. */
export interface NotTried {
  readonly tried: false;
  readonly reason: string;
}

/** What came of asking for a trial. */
export type TrialResult = Tried | NotTried;

/** Lines that an agent gets of a list. */
export const LINES_MAX = 50;
