/**
 * Policy watch: the policy in force while people edit its file. A file that does not load, or is
 * gone, changes nothing: the previous policy stays in force, and the problem is reported once for
 * each change. A file that is still being written changes nothing either, because its first half
 * might load without the deny rules at its end.
 */
import { ConsentError, POLICY_BYTES_MAX, type Policy } from "@acp/core";
import type { PolicyOptions } from "@acp/core/yaml";
import { compilePolicyText } from "./policy-file.js";
import { readTextFile } from "./text-file.js";
import { untilStill, watchText } from "./text-watch.js";
import type { TextWatchOptions } from "./text-watch.js";

/** Options of {@link watchPolicyFile}; paths in the policy start at `home` and `cwd`. */
export interface PolicyWatchOptions
  extends PolicyOptions,
    Pick<TextWatchOptions, "signal" | "pollMs" | "stillMs"> {
  /** Called when another policy comes into force. */
  readonly onReload: (policy: Policy) => void;
  /**
   * Called when the file changed and does not load: `policy_invalid` or `home_invalid`. The
   * previous policy stays in force.
   */
  readonly onError: (error: ConsentError) => void;
  /** True if the file has just appeared: then it must also stay unchanged before the first read. */
  readonly isNew?: boolean;
}

/** A policy that follows its file. */
export interface PolicyWatch extends Disposable {
  /** Returns the policy in force. Pass it to the gate as `policy: () => watch.current()`. */
  current(): Policy;
  /** Returns the text that the policy in force was compiled from. */
  text(): string;
  /** Checks the file now; resolves when the result is in force or reported. */
  refresh(): Promise<void>;
  /** Stops watching. `current()` keeps its last policy. */
  close(): void;
}

/**
 * Reads a policy file and follows its changes. It does not keep the process alive.
 *
 * @throws ConsentError as {@link readPolicyFile}, if the file does not load at the start.
 */
export async function watchPolicyFile(
  path: string,
  options: PolicyWatchOptions,
): Promise<PolicyWatch> {
  if (options.isNew === true) await untilStill(path, options);
  let text = await readTextFile(path, POLICY_BYTES_MAX);
  let policy = compilePolicyText(text, options);
  const putInForce = (found: string | ConsentError): void => {
    if (typeof found !== "string") return options.onError(found);
    try {
      policy = compilePolicyText(found, options);
    } catch (error) {
      return options.onError(asConsentError(error));
    }
    text = found;
    options.onReload(policy);
  };
  const { refresh, close } = watchText(path, { ...options, seen: text, onText: putInForce });
  return { current: () => policy, text: () => text, refresh, close, [Symbol.dispose]: close };
}

function asConsentError(error: unknown): ConsentError {
  return error instanceof ConsentError
    ? error
    : new ConsentError("home_invalid", "Cannot read policy: reading it failed", { cause: error });
}
