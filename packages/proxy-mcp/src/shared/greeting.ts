/**
 * Greeting: what a shared server answered to `initialize`, as each of its clients gets it. Pure.
 * Rules: spec/mcp-proxy.md §21.
 */
import { isRecord, resultOf } from "../message.js";
import { INTERNAL_ERROR } from "../rpc.js";
import type { RpcError } from "../rpc.js";

/** What each client gets. */
export type Greeting = { readonly result: object } | { readonly error: RpcError };

/** What is the same for every client; of what a server can do, what it does for each of them. */
const SHARED_CAPABILITIES = ["completions", "prompts", "resources", "tools"] as const;

/** Reads the answer of the server of this name. */
export function greetingOf(name: string, line: Buffer): Greeting {
  const result = resultOf(line);
  if (!isRecord(result))
    return { error: { code: INTERNAL_ERROR, message: `Server "${name}" refused "initialize"` } };
  const all = isRecord(result["capabilities"]) ? result["capabilities"] : {};
  const shared = SHARED_CAPABILITIES.filter((each) => isRecord(all[each]));
  const capabilities = Object.fromEntries(shared.map((each) => [each, all[each]]));
  return { result: { ...result, capabilities } };
}
