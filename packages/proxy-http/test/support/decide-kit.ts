/**
 * A gate with a person who follows a script, on a clock that stands still, and the proxy's decider
 * over it.
 */
import {
  type AuditEventInput,
  type ConsentGate,
  createConsentGate,
  type GateOptions,
  type HttpAction,
  type Policy,
  type Release,
} from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import {
  manualClock,
  type ManualClock,
  type Script,
  type ScriptedChannel,
  scriptedChannel,
  seededIds,
} from "@acp/testing";
import { actionOf, createDecide } from "../../src/decide.js";
import type { Caller } from "../../src/caller.js";
import type { Asking } from "../../src/decide.js";
import type { Refusal } from "../../src/refusals.js";

export const caller: Caller = { agent: { id: "demo" } };
const ask: Policy = parsePolicy({ version: "1", default: "ask" });
export const allow: Policy = parsePolicy({ version: "1", default: "allow" });
/** A yes that takes the offer of the host. */
export const HOST: Script = () => ({ approve: { offer: "host" } });

/** What a test holds. */
export interface Kit {
  readonly clock: ManualClock;
  readonly channel: ScriptedChannel;
  readonly events: AuditEventInput[];
  readonly released: Release[];
  readonly lines: string[];
  readonly gate: ConsentGate;
  /** `undefined` where it was performed. */
  readonly decide: (
    what: string | HttpAction,
    more?: Partial<Asking>,
  ) => Promise<Refusal | undefined>;
}

/** Asks about everything unless another policy is given. */
export function kit(script: Script, options: Partial<GateOptions> = {}): Kit {
  const clock = manualClock();
  const events: AuditEventInput[] = [];
  const released: Release[] = [];
  const lines: string[] = [];
  const channel = scriptedChannel(script, { clock });
  const audit = {
    append: (list: readonly AuditEventInput[]) => {
      events.push(...list);
      return Promise.resolve({ seq: events.length - 1, hash: "sha256:0" });
    },
  };
  const gate = createConsentGate({
    policy: ask,
    channel,
    audit,
    clock,
    ids: seededIds(),
    ...options,
  });
  const decide = createDecide({ gate, log: (line) => lines.push(line) });
  return {
    clock,
    channel,
    events,
    released,
    lines,
    gate,
    decide: (what, more = {}) => {
      const action =
        typeof what === "string" ? actionOf({ method: "GET", target: what, rawHeaders: [] }) : what;
      return decide(
        { action, caller, signal: new AbortController().signal, ...more },
        (release) => {
          released.push(release);
          return Promise.resolve();
        },
      );
    },
  };
}
