/**
 * Trial port: what runs a hub's trials, and what comes of one. Types only. `createTrials` of
 * @acp/sandbox-linux is one that does.
 */
import type { Readable } from "node:stream";
import type { CommandOutcome } from "../executor/run-shell.js";

/**
 * Runs commands offline in throw-away overlays of a workspace, where nothing of this process or of
 * a home is to be seen, or not at all.
 */
export interface CommandTrials {
  /** How each one is held, as the log says it: `full:namespace`. */
  readonly isolation: string;
  /**
   * Prepares one. What stands between its command and the host is there when it resolves.
   *
   * @throws Anything means that there is no trial of this command: it is asked about.
   */
  hold(order: TrialOrder): Promise<HeldTrial>;
  /** What an agent's trial wrote, as long as it can be kept. */
  find(agent: string, digest: string): TrialWrites | undefined;
  /** Writes just that into its workspace, where that is as it was. */
  keep(agent: string, digest: string): Promise<KeptWrites>;
}

/** One command to try. */
export interface TrialOrder {
  readonly agent: string;
  /** Real paths. */
  readonly workspace: string;
  readonly cwd: string;
  /** The shell and its arguments; the last one is the command's text. */
  readonly argv: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  /** Whether a path of the workspace has to look empty, with all below it. */
  readonly isCovered: (path: string) => boolean;
  readonly signal: AbortSignal;
}

/** A trial whose command has not begun. */
export interface HeldTrial {
  /** What of the workspace looks empty. */
  readonly covered: readonly string[];
  go(): Promise<RunningTrial>;
  close(): Promise<void>;
}

/** A trial that runs. */
export interface RunningTrial {
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly exited: Promise<{
    readonly code: number | undefined;
    readonly signal: string | undefined;
  }>;
  /** Why it was ended where it used more than it may. */
  excess(): string | undefined;
  kill(): void;
  /** What it wrote, frozen; once it has ended. */
  freeze(): Promise<TrialWrites>;
  /** Ends it, and removes what it wrote. */
  close(): Promise<void>;
}

/** What is at a path. */
export interface TrialState {
  readonly kind: "file" | "link" | "folder" | "other";
  readonly size?: number;
}

/** What a trial wrote. */
export interface TrialWrites {
  /** 64 hexadecimal digits, over every path with what was there and what is to be there. */
  readonly digest: string;
  readonly changes: readonly {
    readonly path: string;
    readonly before: TrialState | null;
    readonly after: TrialState | null;
    /** Whether other programs run it by themselves: it is never kept. */
    readonly apart: string | null;
  }[];
  /** What is never kept. */
  readonly refused: readonly { readonly path: string; readonly reason: string }[];
  readonly workspace: string;
  readonly argv: readonly string[];
  readonly canKeep: boolean;
}

/** What became of each path that was to be kept. */
export interface KeptWrites {
  readonly taken: readonly string[];
  /** Were as wanted. */
  readonly already: readonly string[];
  /** Are not as they were before the trial: left alone. */
  readonly conflicts: readonly string[];
  /** Are run by other programs: left alone. */
  readonly apart: readonly string[];
  readonly failed: readonly { readonly path: string; readonly reason: string }[];
}

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
