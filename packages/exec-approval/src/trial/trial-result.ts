/** TrialResult: what comes of asking a hub for a trial. */
import type { CommandOutcome } from "../executor/run-shell.js";

/** How a trial ended. */
export type TrialEnd =
  | CommandOutcome
  | { readonly end: "resource_limit"; readonly reason: string; readonly outputBytes: number };

/** The result of a trial. Nothing of it is in the workspace. */
export interface Tried {
  readonly tried: true;
  readonly kept: false;
  /** How the run ended. */
  readonly outcome: TrialEnd;
  /** Names its writes for `keepTrial`; absent where they cannot be kept. */
  readonly digest?: string;
  /** What it wrote, one line per path: `+` made, `~` changed, `-` removed. At most 50 lines. */
  readonly changes: readonly string[];
  /** How many paths changed in all. */
  readonly changeCount: number;
  /** How many of them are never kept: other programs run them, or they lead outside. */
  readonly neverKept: number;
  /** Paths of the workspace that looked empty to the command; at most 50. */
  readonly covered: readonly string[];
  /** How many such paths there were in all. */
  readonly coveredCount: number;
  /** True if the trial's end is in the log. */
  readonly recorded: boolean;
}

/** There was no trial: decide about the command with `onApprovalNeeded`. */
export interface NotTried {
  readonly tried: false;
  /** Why not, in words. */
  readonly reason: string;
}

/** The result of asking for a trial. */
export type TrialResult = Tried | NotTried;

/** Lines that an agent gets of a list. */
export const LINES_MAX = 50;
