/**
 * The rules of a policy as a layer: its own list in order, first match wins; abstains where none
 * matches.
 */
import type { Layer } from "../layers.js";
import type { Policy } from "./policy.js";

/**
 * Makes a layer of a policy. The default of the policy is the gate's: it counts only where every
 * layer abstains.
 */
export function rules(policy: Policy): Layer {
  return { name: "rules", judge: (action, facts) => policy.judge(action, facts) };
}
