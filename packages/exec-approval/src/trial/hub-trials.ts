/** Hub trials: what a hub offers of trials, from a call to its result. */
import type { Action, ConsentGate, Denied, GateContext, KeptWrites, RunResult } from "@acp/core";
import { prepareCommand } from "../hub-command.js";
import { type Call, decideCommand, type DecideParts } from "../hub-decide.js";
import type { ExecContext } from "../hub-options.js";
import { refuse } from "../hub-refusal.js";
import type { RunOptions } from "../run-approved.js";
import { keepAction, keepWrites } from "./keep-trial.js";
import type { TrialResult } from "./trial-result.js";
import { runTrial, TRIAL_VARIABLES, type TrialParts } from "./run-trial.js";

/** What they are made of; without `trying` there are none. */
export interface HubTrialParts extends Pick<DecideParts, "settling"> {
  readonly gate: ConsentGate;
  readonly trying: TrialParts | undefined;
  readonly projectRoot: string | undefined;
  readonly contextOf: (context: ExecContext) => GateContext;
  /** Calls that `cancelPending` finds. */
  readonly calls: Set<Call>;
}

/** A hub's trials. */
export interface HubTrials {
  run(command: string, context: ExecContext, options: RunOptions): Promise<TrialResult>;
  keep(digest: string, context: ExecContext): Promise<RunResult<KeptWrites>>;
  /** Ends those of an agent that was closed. */
  end(agentId: string, reason: string): void;
  close(): void;
}

/** Makes them. */
export function createHubTrials({
  gate,
  trying,
  projectRoot,
  contextOf,
  calls,
  settling,
}: HubTrialParts): HubTrials {
  const running = createRunningTrials();
  const run = async (
    command: string,
    context: ExecContext,
    { signal, ...options }: RunOptions,
  ): Promise<TrialResult> => {
    if (trying === undefined) return { tried: false, reason: "this hub has no trials" };
    const variables = { ...TRIAL_VARIABLES, ...context.env };
    const prepared = await prepareCommand(command, context, {
      projectRoot,
      variables: () => TRIAL_VARIABLES,
    });
    if ("decision" in prepared) return { tried: false, reason: prepared.reason };
    const { action } = prepared;
    using own = running.start(context.agentId);
    const ends = [context.signal, signal, own.signal].filter((each) => each !== undefined);
    return await runTrial(trying, {
      action,
      context: { ...contextOf(context), signal: AbortSignal.any(ends) },
      variables,
      workspace: projectRoot ?? action.meta.cwd ?? "/",
      options,
    });
  };
  const keep = async (digest: string, context: ExecContext): Promise<RunResult<KeptWrites>> => {
    const action = keepAction(trying?.trials, context.agentId, digest);
    if (trying === undefined || "decision" in action)
      return { ran: false, verdict: isDenied(action) ? action : noTrials() };
    const call: Call = { agentId: context.agentId };
    calls.add(call);
    try {
      // Silence never keeps anything.
      const parts = { gate, fallbackGate: () => undefined, settling };
      const verdict = await decideCommand(parts, call, { action, context: contextOf(context) });
      if (verdict.decision === "deny") return { ran: false, verdict };
      const signal = context.signal ?? running.closing;
      return await keepWrites({ ...trying, gate }, verdict, { agent: context.agentId, signal });
    } finally {
      calls.delete(call);
    }
  };
  return { run, keep, end: running.end, close: running.close };
}

/** Trials that run, each with a signal that ends it with its agent or with the hub. */
interface RunningTrials extends Pick<HubTrials, "end" | "close"> {
  /** Aborts when the hub closes. */
  readonly closing: AbortSignal;
  /** A trial of this agent starts; disposing says that it is over. */
  start(agentId: string): Disposable & { readonly signal: AbortSignal };
}

function createRunningTrials(): RunningTrials {
  const running = new Map<AbortController, string>();
  const closing = new AbortController();
  return {
    closing: closing.signal,
    start(agentId) {
      const own = new AbortController();
      running.set(own, agentId);
      return {
        signal: AbortSignal.any([own.signal, closing.signal]),
        [Symbol.dispose]: () => void running.delete(own),
      };
    },
    end(agentId, reason) {
      for (const [each, agent] of running) if (agent === agentId) each.abort(new Error(reason));
    },
    close: () => closing.abort(new Error("the hub was closed")),
  };
}

const noTrials = (): Denied => refuse("action_invalid", "this hub has no trials");

function isDenied(action: Action | Denied): action is Denied {
  return "decision" in action;
}
