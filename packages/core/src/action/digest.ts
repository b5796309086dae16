/** Digests: SHA-256 over canonical JSON. */
import { sha256Hex } from "#crypto";
import type { Action } from "./action.js";
import { ConsentError } from "../errors.js";
import { canonicalJson } from "../json/canonical.js";
import { markedDigest } from "./mark.js";

/**
 * `sha256:<hex>` over the canonical JSON of a value (RFC 8785).
 *
 * @throws ConsentError as {@link canonicalJson}.
 */
export function sha256Digest(value: unknown): string {
  return `sha256:${sha256Hex(canonicalJson(value))}`;
}

/**
 * The Action's digest: `sha256:<hex>` over the canonical JSON (RFC 8785) of `{ name, args, meta }`.
 * Computed once per object. Source: spec/action.md.
 *
 * @throws ConsentError `action_invalid` for a value that no constructor made.
 */
export function actionDigest(action: Action): string {
  const digest = markedDigest(action, () => sha256Digest(action));
  if (digest === undefined)
    throw new ConsentError(
      "action_invalid",
      "Cannot digest a value: no constructor made it an Action",
    );
  return digest;
}
