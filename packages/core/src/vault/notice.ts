/**
 * Notices of the vault for the audit log: which state it has, so that an older one put in its place
 * is seen. Never a value. Format: spec/vault.md §7.
 */
import { sha256Hex } from "#crypto";
import type { JsonObject } from "../json/value.js";
import { logEvent } from "../log-event.js";
import type { StateMark } from "../state-mark.js";
import type { AuditEventInput, AuditEventType } from "../types/audit-event.js";
import type { Clock, Ids } from "../types/clock.js";

/** One saved state of a vault. */
export interface VaultMark {
  /** How often it was saved: {@link VaultContents.counter}. */
  readonly counter: number;
  /** SHA-256 of the sealed text: `sha256:<hex>`. */
  readonly hash: string;
}

/** What was done to a vault. */
export interface VaultChange {
  /**
   * `created` a new vault, `set` or `removed` one secret, or `resealed` it, e.g. with a new key.
   */
  readonly change: "created" | "set" | "removed" | "resealed";
  /** Name of the secret that was set or removed; absent otherwise. */
  readonly secret?: string;
}

/** How a vault compares with what the log says about it. */
export type VaultMarkResult =
  /** The state that was noted. */
  | "same"
  /** A later state: whoever saved it could not note it, or has not yet. */
  | "newer"
  /** An earlier state was put back. */
  | "rolled_back"
  /** Another vault of the same counter was put in its place. */
  | "replaced";

/** Sources of an event's time and id. */
export interface NoticeParts {
  /** Source of the event's time. */
  readonly clock: Clock;
  /** Source of the event's id. */
  readonly ids: Ids;
}

/** The mark of a vault's state, from its counter and its sealed text. */
export function vaultMark(counter: number, text: string): VaultMark {
  return Object.freeze({ counter, hash: `sha256:${sha256Hex(text)}` });
}

/**
 * The `vault_changed` event to append after a vault was saved. It names secrets and holds no
 * values.
 */
export function vaultChangedEvent(
  { counter, hash }: VaultMark,
  { change, secret }: VaultChange,
  parts: NoticeParts,
): AuditEventInput {
  return noticeEvent(
    "vault_changed",
    { counter, vault_hash: hash, change, ...(secret === undefined ? {} : { secret }) },
    parts,
  );
}

/** The public keys before and after, in hex. */
export interface KeyChange {
  /** In use before: 64 hex digits. */
  readonly from: string;
  /** In use from now on: 64 hex digits. */
  readonly to: string;
  /** The old private key no longer opened, and neither does the vault of before. */
  readonly isReset?: boolean;
  /** The state of the keys from now on, as the log notes it. */
  readonly mark?: Pick<StateMark, "counter" | "hash">;
}

/**
 * The `keys_rotated` event to append after the keys were rotated; the vault's own event comes from
 * {@link vaultChangedEvent}.
 *
 * @param keys - The old and the new public key, as hex.
 */
export function keysRotatedEvent(
  { from, to, isReset = false, mark }: KeyChange,
  parts: NoticeParts,
): AuditEventInput {
  const reset = isReset ? { reset: true } : {};
  const state = mark === undefined ? {} : { counter: mark.counter, keys_hash: mark.hash };
  return noticeEvent("keys_rotated", { from_key: from, to_key: to, ...reset, ...state }, parts);
}

/** The mark in a `vault_changed` event; `undefined` for any other event. */
export function readVaultMark({
  eventType,
  metadata,
}: Pick<AuditEventInput, "eventType" | "metadata">): VaultMark | undefined {
  const { counter, vault_hash: hash } = metadata;
  return eventType === "vault_changed" && typeof counter === "number" && typeof hash === "string"
    ? { counter, hash }
    : undefined;
}

/** Compares a vault with its last mark in the log, to notice an older one put in its place. */
export function compareVaultMark(vault: VaultMark, noted: VaultMark): VaultMarkResult {
  if (vault.counter > noted.counter) return "newer";
  if (vault.counter < noted.counter) return "rolled_back";
  return vault.hash === noted.hash ? "same" : "replaced";
}

function noticeEvent(
  eventType: AuditEventType,
  metadata: JsonObject,
  { clock, ids }: NoticeParts,
): AuditEventInput {
  return logEvent(eventType, { id: ids.next("ae"), atMs: clock.now() }, metadata);
}
