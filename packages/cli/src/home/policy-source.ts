/**
 * The policy that a command is about: a named file, standard input, or the home's as the gate reads
 * it.
 */
import { POLICY_BYTES_MAX } from "@acp/core";
import type { Policy } from "@acp/core";
import { readPolicy } from "@acp/core/yaml";
import type { PolicyOptions } from "@acp/core/yaml";
import { readPolicyFile } from "@acp/home";
import type { Invocation } from "../command.js";
import { onFile } from "../failure.js";
import { homeOf } from "./home-source.js";
import { inputName, readInput } from "../input.js";
import { readHomeConfig } from "../gate/config.js";
import type { HomeConfig } from "../gate/config.js";

/** A policy and where it was read. */
export interface PolicySource {
  readonly file: string;
  readonly policy: Policy;
  /** The configuration, where the policy is the home's. */
  readonly source: HomeConfig | undefined;
}

/**
 * Reads a policy.
 *
 * @param operand - A file, or `-` for standard input; absent: the home's policy.
 * @throws ConsentError `policy_invalid`, beginning with the place; `options_invalid` or
 *   `home_invalid` where there is none.
 */
export async function readPolicySource(
  operand: string | undefined,
  invocation: Pick<Invocation, "values" | "io">,
): Promise<PolicySource> {
  const { io } = invocation;
  const options: PolicyOptions = { home: io.userHome, cwd: io.cwd };
  if (operand === undefined) {
    const source = await readHomeConfig(await homeOf(invocation), invocation);
    const { policyFile: file } = source;
    return { file, policy: await onFile(file, () => readPolicyFile(file, options)), source };
  }
  const text = await readInput(operand, io, { what: "policy", bytesMax: POLICY_BYTES_MAX });
  const file = inputName(operand, io);
  return { file, policy: await onFile(file, () => readPolicy(text, options)), source: undefined };
}
