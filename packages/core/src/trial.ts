/**
 * Trial: a command that runs in a throw-away overlay of its workspace, and what comes of it. Types
 * only: `@acp/exec-approval` asks for trials, `@acp/sandbox-linux` runs them.
 */
import type { SandboxExit } from "./sandbox.js";

/**
 * Runs commands offline in throwaway overlays of a workspace, where nothing of this process or of a
 * home can be seen, or not at all. `Output` is the platform's own stream (on Node, `Readable` of
 * node:stream); `Writes` is what is known about what a trial wrote.
 */
export interface CommandTrials<Output = unknown, Writes extends TrialWrites = TrialWrites> {
  /** How each trial is isolated, as the log says it, e.g. `full:namespace`. */
  readonly isolation: string;
  /**
   * Prepares a trial. When it resolves, the boundary between its command and the host is in place.
   *
   * @throws Anything means that there is no trial of this command, and nothing is left of one: a
   *   person is asked about the command.
   */
  hold(order: TrialOrder): Promise<HeldTrial<Output, Writes>>;
  /**
   * What an agent's trial wrote, while it can still be kept; `undefined` afterwards.
   *
   * @param digest - {@link TrialWrites.digest} of that trial.
   */
  find(agent: string, digest: string): Writes | undefined;
  /**
   * Copies what a trial wrote into its workspace: every path that is still as it was before the
   * trial, except for those that other programs run by themselves.
   *
   * @throws ConsentError `options_invalid` where there is no such trial, `sandbox_failed` where its
   *   workspace is now another folder. Nothing is changed then.
   */
  keep(agent: string, digest: string): Promise<KeptWrites>;
}

/** One command to try. */
export interface TrialOrder {
  /** Id of the agent; no other agent can keep what its trial wrote. */
  readonly agent: string;
  /** The agent's workspace, as a real path. */
  readonly workspace: string;
  /** The working directory, in the workspace, as a real path. */
  readonly cwd: string;
  /** The program and its arguments; for a shell, the last one is the command's text. */
  readonly argv: readonly string[];
  /** The whole environment except for `HOME`, which is a private directory. */
  readonly variables: Readonly<Record<string, string>>;
  /** Whether a path of the workspace must look empty, with everything below it. */
  readonly isCovered: (path: string) => boolean;
  /** Ends the trial. */
  readonly signal: AbortSignal;
}

/** A prepared trial whose command has not begun. Call `go` or `close`, once. */
export interface HeldTrial<Output = unknown, Writes extends TrialWrites = TrialWrites> {
  /** Real paths of the workspace that look empty. */
  readonly covered: readonly string[];
  /** Lets the command begin. */
  go(): Promise<RunningTrial<Output, Writes>>;
  /** Ends the trial before its command began, and removes everything of it. */
  close(): Promise<void>;
}

/** A trial whose command runs. */
export interface RunningTrial<Output = unknown, Writes extends TrialWrites = TrialWrites> {
  /** What the command writes to its standard output. */
  readonly stdout: Output;
  /** What the command writes to its standard error. */
  readonly stderr: Output;
  /** Settles (never rejects) with how it ended, when nothing of it runs. */
  readonly exited: Promise<SandboxExit>;
  /** Why it was ended for using more than it may; `undefined` where it was not. */
  excess(): string | undefined;
  /** Ends the command and everything it started. */
  kill(): void;
  /**
   * What it wrote, frozen. Call it after the trial has ended: what can be kept stays for a while,
   * everything else is removed.
   */
  freeze(): Promise<Writes>;
  /** Ends it, and removes what it wrote. */
  close(): Promise<void>;
}

/** What is at a path of a workspace. */
export interface TrialState {
  /**
   * The kind of file. `other` is what a trial never changes: a device, a pipe, what cannot be read.
   */
  readonly kind: "file" | "link" | "folder" | "other";
  /** Size of a file in bytes; absent for other kinds. */
  readonly size?: number;
}

/** What a trial wrote, compared with its workspace. */
export interface TrialWrites {
  /** SHA-256 of the list of changes with what is and what was at each path: 64 hex digits. */
  readonly digest: string;
  /** Every path that differs from the workspace, sorted. */
  readonly changes: readonly {
    /** Below the workspace, without a slash at either end. */
    readonly path: string;
    /** What is in the workspace; null where there is nothing. */
    readonly before: TrialState | null;
    /** What the trial made of it; null where it removed it. */
    readonly after: TrialState | null;
    /**
     * This path, or the folder above it, that other programs run by themselves and that is
     * therefore never kept. Null where there is none.
     */
    readonly apart: string | null;
  }[];
  /** What is never kept, and why. */
  readonly refused: readonly {
    /** Below the workspace, without a slash at either end. */
    readonly path: string;
    /** Why it is never kept. */
    readonly reason: string;
  }[];
  /** Real path of the workspace that it ran on. */
  readonly workspace: string;
  /** The program that ran, and its arguments. */
  readonly argv: readonly string[];
  /** Whether it can be kept: something was written, and the list of changes is whole. */
  readonly canKeep: boolean;
}

/** What became of each path of a trial that was to be kept. Paths are below the workspace. */
export interface KeptWrites {
  /** Paths that were written. */
  readonly taken: readonly string[];
  /** Paths that were as wanted already. */
  readonly already: readonly string[];
  /** Paths that changed since the trial, and were left alone. */
  readonly conflicts: readonly string[];
  /** Paths that other programs run by themselves, and that were left alone. */
  readonly apart: readonly string[];
  /** Paths that could not be written, and why. */
  readonly failed: readonly {
    /** Below the workspace, without a slash at either end. */
    readonly path: string;
    /** What kept it from being written. */
    readonly reason: string;
  }[];
}
