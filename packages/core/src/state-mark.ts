/**
 * State marks: what the log says of the files of a home that carry consent, so that an older one
 * put in its place is seen. Counters only grow, over all logs of a home, whatever its clock shows.
 * Pure. Format: spec/home.md §11. Vectors: spec/vectors/state-marks.json.
 */
import type { JsonObject, JsonValue } from "./json/value.js";
import { isJsonObject } from "./json/value.js";
import { logEvent } from "./log-event.js";
import type { AuditEventInput, AuditEventType } from "./types/audit-event.js";

/** Files that an older one may not take the place of unasked. */
export const STATE_KINDS = ["grants", "passkeys", "pins", "keys", "vault"] as const;

/** One of {@link STATE_KINDS}. */
export type StateKind = (typeof STATE_KINDS)[number];

/** What the log says of a file: its newest state. */
export interface StateMark {
  /** Which file. */
  readonly kind: StateKind;
  /**
   * The save that it is of; of a file that a declared restore put back, a number above every save
   * before.
   */
  readonly counter: number;
  /** SHA-256 of what is compared: `sha256:<hex>`. */
  readonly hash: string;
}

/** What a file of the home says of itself, to be held against its newest mark in the log. */
export interface FileState {
  /** How often it was saved; 0 where it says nothing: a version of before wrote it. */
  readonly counter: number;
  /** SHA-256 of what is compared: `sha256:<hex>`. */
  readonly hash: string;
  /** Whether the home's key shows that one of its programs saved this state. */
  readonly isSealed: boolean;
}

/** How a file compares with the log. */
export type StateResult =
  /** It is the state that was noted, or nothing was ever noted. */
  | "noted"
  /** It was saved after that, by somebody who could not note it, or has not yet. */
  | "newer"
  /** An earlier save was put back. */
  | "older"
  /** It is no state that the log knows, and nothing shows that a program of the home saved it. */
  | "other";

/** Events that say which state of a file is the newest. */
export const STATE_EVENT_TYPES: readonly AuditEventType[] = [
  "state_saved",
  "vault_changed",
  "keys_rotated",
  "home_restored",
];

/** Compares a file with the newest mark of its kind. Only `noted` and `newer` count. */
export function judgeState(
  { counter, hash, isSealed }: FileState,
  noted: StateMark | undefined,
): StateResult {
  if (noted === undefined || hash === noted.hash) return "noted";
  if (counter < noted.counter) return "older";
  return counter > noted.counter && isSealed ? "newer" : "other";
}

/** Of two marks of one kind the newer one; of two with one counter the later one in its log. */
export function newerMark(one: StateMark | undefined, other: StateMark): StateMark {
  return one === undefined || other.counter >= one.counter ? other : one;
}

/** Keeps a mark where it is the newest one of its kind. */
export function keepNewest<Mark extends StateMark>(newest: Map<StateKind, Mark>, mark: Mark): void {
  if (newerMark(newest.get(mark.kind), mark) === mark) newest.set(mark.kind, mark);
}

/**
 * The `state_saved` event to append after a file was saved.
 *
 * @param stamp - Its id and time.
 * @param carriedSeq - The number of the event that it repeats, because that one is about to go.
 */
export function stateSavedEvent(
  { kind, counter, hash }: StateMark,
  stamp: Pick<AuditEventInput, "id" | "atMs">,
  carriedSeq?: number,
): AuditEventInput {
  const carried = carriedSeq === undefined ? {} : { carried_seq: carriedSeq };
  return logEvent("state_saved", stamp, { file: kind, counter, hash, ...carried });
}

/** What an event says of the home's files; nothing where it is about something else. */
export function readStateMarks({
  eventType,
  metadata,
}: {
  readonly eventType: string;
  readonly metadata: JsonObject;
}): readonly StateMark[] {
  switch (eventType) {
    case "state_saved":
      return markOf(metadata);
    case "vault_changed":
      return markOf({ ...metadata, file: "vault", hash: metadata["vault_hash"] ?? null });
    case "keys_rotated":
      return markOf({ ...metadata, file: "keys", hash: metadata["keys_hash"] ?? null });
    case "home_restored": {
      const { files } = metadata;
      return Array.isArray(files) ? files.flatMap((file: JsonValue) => markOf(file)) : [];
    }
    default:
      return [];
  }
}

const HASH = /^sha256:[0-9a-f]{64}$/;

function markOf(value: JsonValue): readonly StateMark[] {
  if (!isJsonObject(value)) return [];
  const { file, counter, hash } = value;
  const kind = STATE_KINDS.find((each) => each === file);
  return kind !== undefined &&
    typeof counter === "number" &&
    Number.isSafeInteger(counter) &&
    counter >= 0 &&
    typeof hash === "string" &&
    HASH.test(hash)
    ? [{ kind, counter, hash }]
    : [];
}
