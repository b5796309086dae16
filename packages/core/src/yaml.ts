/**
 * "@acp/core/yaml": a policy from YAML 1.2 text, and the readers for other files that people write.
 * Every complaint names line and column.
 */
import { compilePolicy } from "./policy/parse.js";
import type { PolicyOptions } from "./policy/parse.js";
import type { Policy } from "./policy/policy.js";
import { POLICY } from "./policy/spot.js";
import { readYaml } from "./yaml-text.js";

export type { PolicyOptions } from "./policy/parse.js";
export { parseRate as readRate } from "./policy/rate.js";
export type { Rate } from "./policy/rate.js";
export {
  invalid,
  printPath,
  readList,
  readMap,
  readNumber,
  readOneOf,
  readText,
} from "./policy/spot.js";
export type { Complaint, Locate, NumberBounds, Spot, Step, Subject } from "./policy/spot.js";
export { setYamlText } from "./yaml-edit.js";
export { readYaml } from "./yaml-text.js";

/**
 * Compiles a policy from YAML text. Format: spec/policy.md.
 *
 * @throws ConsentError `policy_invalid` with `position`, and `path` and `suggestion` where there
 *   are any; `options_invalid` for a relative `home` or `cwd`.
 *
 * @example
 * ```ts
 * import { createConsentGate } from "@acp/core";
 * import { readPolicy } from "@acp/core/yaml";
 *
 * const gate = createConsentGate({ policy: readPolicy(policyText, { home }), channel, audit });
 * ```
 */
export function readPolicy(text: string, options: PolicyOptions = {}): Policy {
  const { value, locate } = readYaml(text, POLICY);
  return compilePolicy(value, options, locate);
}
