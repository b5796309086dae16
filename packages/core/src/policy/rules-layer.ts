/**
 * The rules of a policy as a layer: its own list in order, first match wins; abstains where none
 * matches.
 */
import type { Layer } from "../layers.js";
import type { Policy } from "./policy.js";

/**
 * Makes the layer `rules` of a policy, e.g. for a second policy beside the gate's own. The policy's
 * default is not part of it: a gate uses its own policy's, and only where every layer abstains.
 */
export function rules(policy: Policy): Layer {
  return { name: "rules", judge: (action, facts) => policy.judge(action, facts) };
}
