/**
 * Trial gate: the gate that says yes to trials and to nothing else, and asks nobody. Its log says
 * how a trial is held. Its vault masks what a trial writes, as that of the hub's gate does; nothing
 * is put into a command, which runs as the agent wrote it.
 */
import type { Readable } from "node:stream";
import {
  type Channel,
  type CommandTrials,
  ConsentError,
  type ConsentGate,
  createConsentGate,
  type GateOptions,
} from "@acp/core";
import { askingLayer, type JudgeTerms } from "../hub-layers.js";
import { HUB_CHANNEL } from "../hub-options.js";
import { tryingLayer } from "./may-try.js";
import type { TrialParts } from "./run-trial.js";
import { createTrialSlots } from "./slots.js";

/** What it shares with the hub's gate. */
export interface TrialGateParts {
  readonly trials: CommandTrials<Readable>;
  readonly gate: ConsentGate;
  readonly judging: JudgeTerms;
  readonly shared: Omit<GateOptions, "channel" | "clock" | "ids"> &
    Required<Pick<GateOptions, "clock" | "ids">>;
}

const NOBODY: Channel = {
  name: HUB_CHANNEL,
  deliver: () =>
    Promise.reject(new ConsentError("channel_unavailable", "Cannot ask: a trial asks nobody")),
};

/** Makes it, with what trials need besides. */
export function makeTrialParts({ trials, gate, judging, shared }: TrialGateParts): TrialParts {
  const { paused = () => undefined, policy, layers = [], ...rest } = shared;
  const tryGate = createConsentGate({
    ...rest,
    ...(policy !== undefined && { policy }),
    channel: NOBODY,
    isolation: trials.isolation,
    layers: [tryingLayer(askingLayer(judging), judging), ...layers],
    paused: () => paused() ?? "a trial asks nobody",
  });
  const { audit, clock, ids } = shared;
  const policyNow = (): ReturnType<TrialParts["policy"]> =>
    typeof policy === "function" ? policy() : policy;
  return {
    gate,
    tryGate,
    judging,
    paused,
    trials,
    audit,
    clock,
    ids,
    slots: createTrialSlots(),
    policy: policyNow,
  };
}
