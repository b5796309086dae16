/** Trial parts: what a trial is told and what comes of it. Types only. */
import type { Readable } from "node:stream";
import type { SandboxExit } from "@acp/core";
import type { ReviewChange, ReviewRefusal } from "./review-parts.js";
import type { Taken } from "./review-take.js";

/** The most that a trial may use, and that is kept of all of them. */
export interface TrialLimits {
  /** Bytes that one may have written to its workspace at a time. */
  readonly writtenBytes: number;
  /** Files and folders that one may have written there. */
  readonly writtenEntries: number;
  /** How long what one wrote can still be taken. */
  readonly keptMs: number;
  /**
   * Trials of one agent, and of all agents together, that can still be taken. An older one goes for
   * a newer one.
   */
  readonly keptPerAgent: number;
  readonly kept: number;
  /** Bytes of all of them together. */
  readonly keptBytes: number;
}

/** One command to try. */
export interface TrialOrder {
  readonly agent: string;
  /** Its workspace, and its directory in it: real paths. */
  readonly workspace: string;
  readonly cwd: string;
  readonly argv: readonly string[];
  /** Its whole environment but for `HOME`, which is a private one. */
  readonly variables: Readonly<Record<string, string>>;
  /** Whether a path of the workspace has to look empty, with all below it. */
  readonly isCovered: (path: string) => boolean;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** A trial whose command has not begun. To be let go once, or closed. */
export interface HeldTrial {
  /** What of the workspace looks empty, by real paths. */
  readonly covered: readonly string[];
  /** Lets the command begin. */
  go(): Promise<RunningTrial>;
  /** Ends it instead, and removes what there is of it. */
  close(): Promise<void>;
}

/** A trial that runs. */
export interface RunningTrial {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** How it ended. Nothing of it runs any more. */
  readonly exited: Promise<SandboxExit>;
  /** Why it was ended where it used more than it may. */
  excess(): string | undefined;
  /** Ends it. */
  kill(): void;
  /**
   * What it wrote, frozen once it has ended. What can be taken stays for a while; everything else
   * is removed.
   */
  freeze(): Promise<FrozenTrial>;
  /** Removes what it wrote. */
  close(): Promise<void>;
}

/** What a trial wrote. */
export interface FrozenTrial {
  /** SHA-256 of the list of changes, 64 hexadecimal digits: it is taken by this. */
  readonly digest: string;
  readonly changes: readonly ReviewChange[];
  readonly refused: readonly ReviewRefusal[];
  readonly workspace: string;
  /** What ran. */
  readonly argv: readonly string[];
  /** Whether it can be taken: there is something, and the list is whole. */
  readonly canKeep: boolean;
}

/** Runs commands in throw-away overlays of a workspace, without a network. */
export interface Trials extends AsyncDisposable {
  /** How each one is held, as the log says it. */
  readonly isolation: string;
  /**
   * Prepares one: its boundary stands, and its self-check inside is over.
   *
   * @throws ConsentError `sandbox_unavailable`, `sandbox_failed`, `options_invalid` or `aborted`
   *   where it cannot be had. Nothing is left of it.
   */
  hold(order: TrialOrder): Promise<HeldTrial>;
  /** What an agent's trial wrote, as long as it can be taken. */
  find(agent: string, digest: string): FrozenTrial | undefined;
  /**
   * Takes what a trial wrote into its workspace, but for what other programs run by themselves.
   * Where nothing is left to take it is removed.
   *
   * @throws ConsentError `options_invalid` where there is no such trial, `sandbox_failed` where its
   *   workspace is another folder. Nothing is changed then.
   */
  keep(agent: string, digest: string): Promise<Taken>;
}
