/**
 * Notices of the vault for the audit log: which state it has, so that an older one put in its place
 * is seen. Never a value. Format: spec/vault.md §7.
 */
import { sha256Hex } from "#crypto";
import type { JsonObject } from "../json/value.js";
import { logEvent } from "../log-event.js";
import type { AuditEventInput, AuditEventType } from "../types/audit-event.js";
import type { Clock, Ids } from "../types/clock.js";

/** One state of a vault. */
export interface VaultMark {
  /** {@link VaultContents.counter}. */
  readonly counter: number;
  /** SHA-256 of the sealed text: `sha256:<hex>`. */
  readonly hash: string;
}

/** What was done to it. */
export interface VaultChange {
  /** What somebody did. */
  readonly change: "created" | "set" | "removed" | "resealed";
  /** The secret's name, where there is one. */
  readonly secret?: string;
}

/** What a vault is, compared with what the log says of it. */
export type VaultMarkResult =
  /** The state that was noted. */
  | "same"
  /** A later state: whoever saved it could not note it, or has not yet. */
  | "newer"
  /** An earlier state was put back. */
  | "rolled_back"
  /** Another vault of the same counter was put in its place. */
  | "replaced";

/** Time and ids of an event. */
export interface NoticeParts {
  /** Time of the event. */
  readonly clock: Clock;
  /** Id of the event. */
  readonly ids: Ids;
}

/** The mark of a sealed text. */
export function vaultMark(counter: number, text: string): VaultMark {
  return Object.freeze({ counter, hash: `sha256:${sha256Hex(text)}` });
}

/** The event to append after a vault was saved. */
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

/**
 * The event to append after the keys were rotated; the vault's own event follows from {@link
 * vaultChangedEvent}.
 */
export function keysRotatedEvent(
  keys: { readonly from: string; readonly to: string },
  parts: NoticeParts,
): AuditEventInput {
  return noticeEvent("keys_rotated", { from_key: keys.from, to_key: keys.to }, parts);
}

/** The mark in an event's metadata; `undefined` for any other event. */
export function readVaultMark({
  eventType,
  metadata,
}: Pick<AuditEventInput, "eventType" | "metadata">): VaultMark | undefined {
  const { counter, vault_hash: hash } = metadata;
  return eventType === "vault_changed" && typeof counter === "number" && typeof hash === "string"
    ? { counter, hash }
    : undefined;
}

/** Compares the vault with its last mark in the log. */
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
