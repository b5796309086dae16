/**
 * Policy source: where a gate reads its policy. Only a compiled one judges; what else is given is
 * told apart, so that the message helps.
 */
import { isCompiled } from "../compiled-mark.js";
import { isFromAnotherCopy, OTHER_COPY } from "../copies.js";
import { ConsentError } from "../errors.js";
import type { Policy } from "../policy/policy.js";

/** Options that take a policy. */
type PolicyOption = "policy" | "observe";

/** What to do with something that is not a compiled policy. */
function adviceOn(given: unknown): string {
  if (typeof given === "string") return "is text; read it with readPolicy() of @acp/core/yaml";
  if (typeof given !== "object" || given === null)
    return `is ${given === null ? "null" : `a ${typeof given}`}, not a compiled policy`;
  if (isFromAnotherCopy(given, "policy")) return `is not a policy of this @acp/core: ${OTHER_COPY}`;
  if ("then" in given) return "is a promise; await the policy first";
  if (typeof Reflect.get(given, "judge") === "function")
    return "was not made by parsePolicy(); give judges of your own as `layers`";
  return "is a plain object; compile it with parsePolicy()";
}

/**
 * What reads a policy once per decision.
 *
 * @returns A function that throws ConsentError `options_invalid` where what it reads is not a
 *   compiled policy.
 * @throws ConsentError `options_invalid` where the option itself is neither a compiled policy nor a
 *   function.
 */
export function policySource(option: PolicyOption, given: unknown): () => Policy | undefined {
  if (given === undefined || isCompiled(given)) return () => given;
  if (typeof given !== "function")
    throw new ConsentError(
      "options_invalid",
      `Cannot create a gate: \`${option}\` ${adviceOn(given)}`,
    );
  return () => {
    const read: unknown = Reflect.apply(given, undefined, []);
    if (read === undefined || isCompiled(read)) return read;
    throw new ConsentError(
      "options_invalid",
      `Cannot judge: what \`${option}\` returned ${adviceOn(read)}`,
    );
  };
}
