/** Policy file: read only while nobody else can write it. */
import { ConsentError, POLICY_BYTES_MAX, type Policy } from "@acp/core";
import { type PolicyOptions, readPolicy } from "@acp/core/yaml";
import { readTextFile } from "./text-file.js";

/**
 * Reads and compiles a policy file.
 *
 * @param options - Where `~` and relative paths in the policy start.
 * @throws ConsentError `policy_invalid` with line and column; `home_invalid` if the file is
 * missing, others may write it, or it cannot be read.
 */
export async function readPolicyFile(path: string, options: PolicyOptions = {}): Promise<Policy> {
  return compilePolicyText(await readTextFile(path, POLICY_BYTES_MAX), options);
}

/** {@link readPolicy}, whose every failure is a ConsentError. */
export function compilePolicyText(text: string, options: PolicyOptions): Policy {
  try {
    return readPolicy(text, options);
  } catch (error) {
    if (error instanceof ConsentError) throw error;
    throw new ConsentError("policy_invalid", "Cannot load policy: reading it failed", {
      cause: error,
    });
  }
}
