/** Digests: SHA-256 over canonical JSON. */
import type { Action } from "./action.js";

/** The action's digest, `sha256:<hex>` over the RFC 8785 form of `{ name, args, meta }`. Kept per object. */
export function actionDigest(action: Action): string {
  throw new Error(`not yet: ${action.name}`);
}
