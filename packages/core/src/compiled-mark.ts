/**
 * The mark of a compiled policy: what parsePolicy made, and nothing that looks like it. A private
 * field, as an action's mark is (action/mark.ts).
 */
import { labelKind } from "./copies.js";
import { createMark } from "./private-fields.js";
import type { Policy } from "./policy/policy.js";

const compiled = createMark();

/** Marks and freezes a policy. For its compiler alone. */
export function markCompiled(policy: Policy): Policy {
  compiled.put(policy);
  labelKind(policy, "policy");
  return Object.freeze(policy);
}

/** Whether {@link markCompiled} marked this very object. */
export function isCompiled(value: unknown): value is Policy {
  return compiled.isOn(value);
}
