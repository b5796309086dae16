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
 * Options of {@link createExecApprovalHub}. `policy` and `layers` count in addition to the
 * configuration; the strictest effect wins.
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
   * How commands are approved. A profile from `openExecProfile` is read again for each decision,
   * and keeps what `allow-always` adds.
   */
  readonly config: ExecApprovalConfig | ExecProfile;
  /**
   * Ids of the devices whose people may answer, as the gateway authenticates them. `approvers`
   * (channel {@link HUB_CHANNEL}) gives them names.
   */
  readonly clients: readonly string[];
  /** Sends a message to one client, such as `createHubLink(…).send`. */
  readonly send: SendExecApproval;
  /**
   * The project's directory, absolute: commands run in it or below it. Absent: the directory that a
   * call names counts as the project.
   */
  readonly projectRoot?: string;
  /** More options for judging commands. */
  readonly safety?: Pick<ExecSafetyOptions, "extraBinaries" | "limits" | "trustedWorkspace">;
  /**
   * Environment variables that commands may get, after unsafe ones are removed; read when a command
   * is judged and when it runs. Absent: a search path, and nothing of this process.
   */
  readonly variables?: Variables | (() => Variables);
  /**
   * True if approving a dangerous command, or one that a rule calls critical, needs the word that
   * the person typed (`confirmation`). Absent: a client without that field, which the protocol
   * document does not have, can approve; a client that sends the field must send the right word.
   */
  readonly confirmDangerous?: boolean;
  /**
   * Runs trials of commands that a person would be asked about, if the configuration has `trials:
   * true` as well. Absent: there are no trials. The caller closes it, after the hub.
   */
  readonly trials?: CommandTrials<Readable>;
}

/** Who runs a command, and where. */
export interface ExecContext {
  /** Id of the agent that wants to run it, for questions and the log. */
  readonly agentId: string;
  /** Working directory: absolute, or relative to the hub's project root, which is the default. */
  readonly cwd?: string;
  /** Takes an open question back, or ends the command if it runs. */
  readonly signal?: AbortSignal | undefined;
  /** Only `/bin/bash`, which is also the default. */
  readonly shell?: string;
  /**
   * Variables in addition to the hub's, for locale, time zone, colors and width only. Put others in
   * the command's text, where they are judged and shown.
   */
  readonly env?: Variables;
  /** The agent's session, for the log and for grants that end with it. */
  readonly session?: string;
  /** The task that the command is a part of, for the log. */
  readonly task?: string;
}

/** Asks people about commands, and runs what was allowed. */
export interface ExecApprovalHub extends ExecApprovalResolver, AsyncDisposable {
  /**
   * Decides about a command; asks a person where the configuration or a rule says so. Call it from
   * an agent's exec tool. Never rejects; `denialMessage(verdict)` is what to tell the agent about a
   * denial. A command that would be asked about only because it may show secrets is judged in a
   * form that leaves them out: the verdict's action has the text that runs, its reason and the log
   * what the agent wrote.
   */
  onApprovalNeeded(command: string, context: ExecContext): Promise<Verdict>;
  /**
   * Runs what a verdict of this hub allowed, once and within its permit's 30 seconds: exactly the
   * approved text, directory, shell and environment, or nothing.
   *
   * @throws What `onOutput` throws, after the command was ended and recorded.
   */
  runApproved(verdict: Allowed, options?: RunOptions): Promise<RunResult<CommandOutcome>>;
  /**
   * Runs a command that a person would be asked about without asking: offline and in a throwaway
   * copy of the workspace, without secrets, a home, or files that rules deny. Call it before {@link
   * ExecApprovalHub.onApprovalNeeded}. Where a trial is not possible or not needed, it says so and
   * does nothing. `trialMessage(result)` is what to tell the agent.
   *
   * @throws What `onOutput` throws, after the command was ended and recorded.
   */
  runTrial(command: string, context: ExecContext, options?: RunOptions): Promise<TrialResult>;
  /**
   * Asks a person whether the writes of an agent's trial may reach the workspace, and copies them
   * after approval. `keptMessage(result.value)` or `denialMessage(result.verdict)` is what to tell
   * the agent.
   *
   * @param digest - {@link Tried.digest} of the trial.
   */
  keepTrial(digest: string, context: ExecContext): Promise<RunResult<KeptWrites>>;
  /**
   * Takes back every open question of an agent, as when it is closed; its commands are denied. A
   * question that {@link ExecApprovalHub.resume} showed again has no call in this process: it stays
   * open until its time is over, and nothing runs after it.
   *
   * @returns How many calls it ended.
   */
  cancelPending(agentId: string, reason?: string): Promise<number>;
  /** The requests that are open, for a client that connects later. */
  openApprovals(): readonly ExecApprovalRequestPayload[];
  /**
   * Call it after a restart with a `store` that outlived it: shows open questions again.
   *
   * @returns How many it showed.
   */
  resume(): Promise<number>;
  /** Denies every open question and takes no new command. */
  close(): Promise<void>;
}

/** Name of the hub's channel, in the log and in `approvers`. */
export const HUB_CHANNEL = "exec-hub";
