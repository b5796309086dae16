/** Trial parts: the limits of trials, and what this sandbox knows of one more than core's port. */
import type { Readable } from "node:stream";
import type { CommandTrials, TrialWrites } from "@acp/core";
import type { ReviewChange, ReviewRefusal } from "./review-parts.js";

/** Limits of a trial, and of what is kept of all trials. */
export interface TrialLimits {
  /** Bytes that one trial may have written to its workspace at a time; 128 MiB by default. */
  readonly writtenBytes: number;
  /** Files and folders that one trial may have written there; 20,000 by default. */
  readonly writtenEntries: number;
  /** How many trials of all agents together can be kept at the same time; 16 by default. */
  readonly keptMs: number;
  /**
   * How many trials of one agent can be kept at the same time; the oldest one makes room for a new
   * one. 4 by default.
   */
  readonly keptPerAgent: number;
  /** Results of all agents that are kept at the same time. */
  readonly kept: number;
  /** Bytes that these trials may have written together; 512 MiB by default. */
  readonly keptBytes: number;
}

/** What a trial wrote, as a review lists it. */
export interface FrozenTrial extends TrialWrites {
  /** What differs from the workspace, sorted by path. */
  readonly changes: readonly ReviewChange[];
  /** What cannot be kept, each with its reason. */
  readonly refused: readonly ReviewRefusal[];
}

/** Runs commands in throw-away overlays of a workspace, without a network. */
export interface Trials extends CommandTrials<Readable, FrozenTrial>, AsyncDisposable {}
