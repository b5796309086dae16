/** Trial parts: the limits of trials, and what this sandbox knows of one more than core's port. */
import type { Readable } from "node:stream";
import type { CommandTrials, TrialWrites } from "@acp/core";
import type { ReviewChange, ReviewRefusal } from "./review-parts.js";

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

/** What a trial wrote, as a review lists it. */
export interface FrozenTrial extends TrialWrites {
  readonly changes: readonly ReviewChange[];
  readonly refused: readonly ReviewRefusal[];
}

/** Runs commands in throw-away overlays of a workspace, without a network. */
export interface Trials extends CommandTrials<Readable, FrozenTrial>, AsyncDisposable {}
