/**
 * May try: whether a command that a person would be asked about may run as a trial first. Only
 * where the exec layer is the one that asks: what a rule or another layer wants a person for, what
 * is denied and what is dangerous stays as it is.
 */
import {
  isShellAction,
  type ConsentGate,
  type GateContext,
  type Layer,
  type ShellAction,
} from "@acp/core";
import { type CommandSafety, evaluateShellAction } from "@acp/core/exec";
import type { JudgeTerms } from "../hub-layers.js";

/** What is asked before a trial. */
export interface MayTryParts {
  readonly gate: Pick<ConsentGate, "evaluate">;
  readonly judging: JudgeTerms;
  /** A reason while all questions are paused. */
  readonly paused: () => string | undefined;
}

const EXEC = "exec";
const LEVELS: readonly string[] = ["low", "medium"];

/** Why a command is not tried; `undefined` where it may be. */
export function whyNotTried(
  { gate, judging, paused }: MayTryParts,
  action: ShellAction,
  context: GateContext,
): string | undefined {
  const own = whyNot(action, judging);
  if (own !== undefined) return own;
  const { ruling, rulings, level } = gate.evaluate(action, context);
  if (ruling.effect !== "ask")
    return ruling.effect === "allow" ? "nobody would be asked about it" : "it is denied";
  const others = rulings.filter(
    ({ layer, ruling: each }) => each !== undefined && each.effect !== "allow" && layer !== EXEC,
  );
  if (others.length > 0) return "a rule wants a person's consent";
  if (!LEVELS.includes(level)) return `its level is ${level}`;
  const pause = readPause(paused);
  return pause === undefined ? undefined : `questions are paused: ${pause}`;
}

/** What the configuration and the command's own text say. */
function whyNot(action: ShellAction, { read, safety: options }: JudgeTerms): string | undefined {
  let safety: CommandSafety;
  try {
    const config = read();
    if (!config.trials) return 'the configuration has no "trials": true';
    safety = evaluateShellAction(action, config, options);
  } catch {
    return "the configuration does not load";
  }
  if (safety.riskLevel === "dangerous") return "it is dangerous";
  return safety.rewrite === undefined
    ? undefined
    : "nobody would be asked about it in the form that leaves out secrets";
}

/** What throws counts as paused. */
function readPause(paused: () => string | undefined): string | undefined {
  try {
    return paused();
  } catch {
    return "whether they are is not known";
  }
}

/**
 * The layer of the gate that decides about trials: the hub's own, whose question is answered by the
 * trial. Where that no longer holds, it denies.
 */
export function tryingLayer(layer: Layer, judging: JudgeTerms): Layer {
  return {
    ...layer,
    judge: (action, facts) => {
      const ruling = layer.judge(action, facts);
      if (ruling === undefined || !isShellAction(action) || ruling.effect === "deny") return ruling;
      const { ask: _, ...rest } = ruling;
      const why =
        ruling.effect === "ask" ? whyNot(action, judging) : "nobody would be asked about it";
      if (why !== undefined)
        return {
          ...rest,
          effect: "deny",
          ruleId: "exec.no-trial",
          reason: `it is not a trial: ${why}`,
        };
      const reason = `it runs as a trial, offline and in a throw-away copy of the workspace of which nothing is kept; otherwise a person is asked: ${ruling.reason}`;
      return { ...rest, effect: "allow", ruleId: "exec.trial", reason };
    },
  };
}
