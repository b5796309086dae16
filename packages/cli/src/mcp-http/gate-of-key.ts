/** Gate of key: which gate judges the agent that a key stands for. A key that works no more has none. */
import type { ConsentGate } from "@acp/core";
import type { GateInUse } from "../gate/with-gate.js";
import type { HomeCredentials } from "./tokens.js";

/**
 * Gives the gate of a key: the main one, or one with the policy of its agent.
 *
 * @returns `undefined` where the key works no more, also where that became so while the gate opened.
 */
export function createGateOfKey({
  gate,
  gateWith,
  policyOf,
}: Pick<GateInUse, "gate" | "gateWith"> & Pick<HomeCredentials, "policyOf">): (
  key: string,
) => Promise<ConsentGate | undefined> {
  const openOnce = once((path) => gateWith(path));
  return async (key) => {
    const policy = policyOf(key);
    if (policy === undefined) return undefined;
    const own = policy.path === undefined ? gate : await openOnce(policy.path);
    return policyOf(key) === undefined ? undefined : own;
  };
}

/** Each gate is opened once; one that does not open is tried again. */
function once(open: (policy: string) => Promise<ConsentGate>): typeof open {
  const opened = new Map<string, Promise<ConsentGate>>();
  return (policy) => {
    const gate = opened.get(policy) ?? open(policy);
    opened.set(policy, gate);
    gate.catch(() => opened.delete(policy));
    return gate;
  };
}
