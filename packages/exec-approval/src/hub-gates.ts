/**
 * HubGates: the gates of one hub: the one that asks its clients, the one that judges anew after
 * nobody answered, and the one for trials.
 */
import {
  type Channel,
  ConsentError,
  type ConsentGate,
  createConsentGate,
  type GateOptions,
  memoryStore,
} from "@acp/core";
import type { ExecApprovalConfig } from "@acp/core/exec";
import { askingLayer, fallbackLayer, type JudgeTerms } from "./hub-layers.js";
import { type ExecApprovalHubOptions, HUB_CHANNEL } from "./hub-options.js";
import { type RewriteOrigins, tellingOrigin } from "./hub-rewrite.js";
import { keepingLayer } from "./trial/keep-trial.js";
import type { TrialParts } from "./trial/run-trial.js";
import { makeTrialParts } from "./trial/trial-gate.js";

/** Nobody is asked twice: what would be asked here is denied. */
const SILENT: Channel = {
  name: HUB_CHANNEL,
  deliver: () =>
    Promise.reject(new ConsentError("channel_unavailable", "Cannot ask: nobody answered in time")),
};

/** A configuration that does not load lets silence allow nothing. */
function isSilenceNo(read: () => ExecApprovalConfig): boolean {
  try {
    return read().askFallback === "deny";
  } catch {
    return true;
  }
}

/** What the gates need besides the options that they take over. */
interface GateWiring
  extends Required<Pick<GateOptions, "approvers" | "channel" | "clock" | "ids" | "isolation">> {
  readonly judging: JudgeTerms;
  readonly origins: RewriteOrigins;
}

/** The gates of one hub. */
export interface HubGates {
  /** Asks the hub's clients. */
  readonly gate: ConsentGate;
  /** The gate that asks nobody; `undefined` where silence means no. */
  readonly fallbackGate: () => ConsentGate | undefined;
  /** What trials need; `undefined` where the hub has none. */
  readonly trying: TrialParts | undefined;
  /** Denies what is open. */
  readonly shut: () => Promise<void>;
}

/** The options that are a gate's. */
function gateOptionsOf({
  config: _config,
  clients: _clients,
  send: _send,
  projectRoot: _projectRoot,
  safety: _safety,
  variables: _variables,
  confirmDangerous: _confirmDangerous,
  trials: _trials,
  ...own
}: ExecApprovalHubOptions): Omit<GateOptions, "channel"> {
  // An option of the hub that is not left out above does not compile: it would reach the gate.
  return own satisfies { readonly [Key in Exclude<keyof typeof own, keyof GateOptions>]: never };
}

/** Creates them. */
export function createHubGates(
  options: ExecApprovalHubOptions,
  { channel, judging, origins, ...wiring }: GateWiring,
): HubGates {
  const { trials, layers = [] } = options;
  // What a rule counts is counted once, whichever gate decides.
  const store = { limits: memoryStore(wiring.clock).limits, ...options.store };
  const shared = { ...gateOptionsOf(options), ...wiring, store };
  // The protocol has no word for a question that stays open for nobody: what its caller takes back
  // is over.
  const gate = createConsentGate({
    ...shared,
    channel,
    layers: [tellingOrigin(askingLayer(judging), origins), keepingLayer(judging.read), ...layers],
    retryWindowMs: 0,
  });
  const trying =
    trials === undefined
      ? undefined
      : makeTrialParts({ trials, gate, judging, shared: { ...shared, layers } });
  const fallbackGate = createConsentGate({
    ...shared,
    channel: SILENT,
    layers: [fallbackLayer(judging), ...layers],
    paused: () => "nobody answered in time",
  });
  return {
    gate,
    fallbackGate: () => (isSilenceNo(judging.read) ? undefined : fallbackGate),
    trying,
    shut: async () => {
      await trying?.tryGate.close();
      await gate.close();
      await fallbackGate.close();
    },
  };
}
