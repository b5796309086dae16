/**
 * HubOptions: what a hub is made of, and what it offers. Types only; hub.ts composes it. Source:
 * spec/exec-approval.md.
 */
import type { Readable } from "node:stream";
import type {
  Allowed,
  CommandTrials,
  GateOptions,
  KeptWrites,
  RunResult,
  Verdict,
} from "@acp/core";
import type { ExecApprovalConfig, ExecSafetyOptions } from "@acp/core/exec";
import type { Variables } from "./environment.js";
import type { CommandOutcome } from "./executor/run-shell.js";
import type { ExecProfile } from "./profile-config.js";
import type {
  ExecApprovalRequestPayload,
  ExecApprovalResolver,
  SendExecApproval,
} from "./protocol.js";
import type { RunOptions } from "./run-approved.js";
import type { TrialResult } from "./trial/trial-result.js";

/**
 * Parts of a hub. Rules of `policy` and `layers` count beside the configuration; the strictest word
 * wins.
 */
export interface ExecApprovalHubOptions
  extends Pick<
    GateOptions,
    | "approvers"
    | "assessors"
    | "audit"
    | "clock"
    | "groups"
    | "ids"
    | "isolation"
    | "layers"
    | "paused"
    | "pausedAgent"
    | "policy"
    | "promptLimit"
    | "signer"
    | "store"
    | "vault"
  > {
  /**
   * How commands are approved; from `openExecProfile`, read again for each decision, and then
   * `allow-always` has a place to be kept.
   */
  readonly config: ExecApprovalConfig | ExecProfile;
  /**
   * Ids of the devices whose people may answer, as the gateway authenticates them. `approvers`
   * (channel {@link HUB_CHANNEL}) gives them names.
   */
  readonly clients: readonly string[];
  readonly send: SendExecApproval;
  /**
   * Absolute. Commands run in it and below it. Left out, the directory that a call names counts as
   * the project.
   */
  readonly projectRoot?: string;
  /** More about how commands are judged. */
  readonly safety?: Pick<ExecSafetyOptions, "extraBinaries" | "limits" | "trustedWorkspace">;
  /**
   * Variables that commands may get, scrubbed; read when a command is judged and when it runs. Left
   * out: a search path and nothing of this process.
   */
  readonly variables?: Variables | (() => Variables);
  /**
   * Whether a yes to a dangerous command, or to one that a rule calls critical, takes the word that
   * its person typed (`confirmation`). Left out: a client of the protocol document, which has no
   * such field, can answer; one that sends the field must send the right word.
   */
  readonly confirmDangerous?: boolean;
  /**
   * Runs trials of commands that a person would be asked about, where the configuration has
   * `trials: true` as well. Left out: every trial is refused. The caller closes it, after the hub.
   */
  readonly trials?: CommandTrials<Readable>;
}

/** A command's circumstances. */
export interface ExecContext {
  readonly agentId: string;
  /** Absolute, or relative to the hub's project root; left out, that root itself. */
  readonly cwd?: string;
  /** Aborting takes an open question back, and ends the command that came of it. */
  readonly signal?: AbortSignal | undefined;
  /** Only `/bin/bash`, which is also what is used where it is left out. */
  readonly shell?: string;
  /**
   * Variables beside the hub's: of locale, time zone, colours and width. Others belong into the
   * command's text, where they are judged and shown.
   */
  readonly env?: Variables;
  readonly session?: string;
  readonly task?: string;
}

/** Asks people about commands, and runs what was allowed. */
export interface ExecApprovalHub extends ExecApprovalResolver, AsyncDisposable {
  /**
   * Decides about a command; asks a person where the configuration or a rule says so. For an
   * agent's exec tool. Never rejects; what an agent is told about a no is `denialMessage(verdict)`.
   * A command that would be asked about only because it may show secrets is decided about in the
   * form that leaves these out: the verdict's action holds the text that runs, its reason and the
   * log what the agent wrote.
   */
  onApprovalNeeded(command: string, context: ExecContext): Promise<Verdict>;
  /**
   * Runs what a verdict of this hub allowed, once and within its permit's 30 seconds: the same
   * bytes, directory, shell and environment, or nothing.
   *
   * @throws What `onOutput` throws, after the command was ended and recorded.
   */
  runApproved(verdict: Allowed, options?: RunOptions): Promise<RunResult<CommandOutcome>>;
  /**
   * Runs a command that a person would be asked about, unasked, offline and in a throw-away copy of
   * the workspace, without secrets, a home and what rules deny; for an agent's exec tool, before
   * {@link ExecApprovalHub.onApprovalNeeded}. Where it cannot be, or does not need to, it says so
   * and does nothing. What an agent is told is `trialMessage(result)`.
   *
   * @throws What `onOutput` throws, after the command was ended and recorded.
   */
  runTrial(command: string, context: ExecContext, options?: RunOptions): Promise<TrialResult>;
  /**
   * Asks a person whether just the writes of an agent's trial reach the workspace, and writes them
   * after a yes. What an agent is told is `keptMessage(result.value)`, or
   * `denialMessage(result.verdict)`.
   */
  keepTrial(digest: string, context: ExecContext): Promise<RunResult<KeptWrites>>;
  /**
   * Takes back every open question of an agent that was closed; the commands are denied. Returns
   * how many calls it found. A question that
   * {@link ExecApprovalHub.resume} showed has no call here: it is left to its time, and nothing
   * runs of it.
   */
  cancelPending(agentId: string, reason?: string): Promise<number>;
  /** What is open, for a client that connects later. */
  openApprovals(): readonly ExecApprovalRequestPayload[];
  /**
   * After a restart with a `store` that outlived it: shows open questions again; returns how many.
   */
  resume(): Promise<number>;
  /** Denies every open question and takes no new command. */
  close(): Promise<void>;
}

/** Name of the hub's channel, in the log and in `approvers`. */
export const HUB_CHANNEL = "exec-hub";
