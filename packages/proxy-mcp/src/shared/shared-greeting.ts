/** Shared greeting: what the clients of a shared server and the server say to each other first. */
import { isRecord, resultOf } from "../message.js";
import { INTERNAL_ERROR } from "../rpc.js";
import type { RpcError } from "../rpc.js";

/** What the server answered to `initialize`, as each client gets it. */
export type Greeting =
  | { readonly result: Readonly<Record<string, unknown>> }
  | { readonly error: RpcError };

/** What is the same for every client; of what a server can do, what it does for each of them. */
const SHARED_CAPABILITIES = ["completions", "prompts", "resources", "tools"] as const;

/** As each client gets it. */
export function greetingOf(name: string, line: Buffer): Greeting {
  const result = resultOf(line);
  if (!isRecord(result))
    return { error: { code: INTERNAL_ERROR, message: `Server "${name}" refused "initialize"` } };
  const all = isRecord(result["capabilities"]) ? result["capabilities"] : {};
  const shared = SHARED_CAPABILITIES.filter((each) => isRecord(all[each]));
  const capabilities = Object.fromEntries(shared.map((each) => [each, all[each]]));
  return { result: { ...result, capabilities } };
}

/** Whether it is a version that a server can answer; one that refuses it ends for all who wait. */
export const isVersion = (value: unknown): value is string =>
  typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value);
