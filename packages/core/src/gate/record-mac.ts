/// <reference lib="es2024.string" />
/**
 * Record MAC: whether a question or a grant that a store holds was written by a gate with this key.
 * HMAC-SHA256 over canonical JSON, one domain for each kind and version. What is read is copied and
 * frozen before it is looked at. Format: spec/consent.md §8.
 *
 * A store changes two things by itself, so that the MAC leaves them out: a question's `adopted`
 * with its `version`, and a grant's `usesLeft`. Each of their uses is claimed besides.
 */
import { equalBytes, hmacSha256, sha256Hex } from "#crypto";
import type { Grant } from "../approval/grants.js";
import type { PendingRecord } from "../approval/pending-record.js";
import { fromHex, toHex } from "../crypto/hex.js";
import { canonicalJson } from "../json/canonical.js";
import { copyJson } from "../json/copy.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/value.js";

/** Writes and reads records of one kind. */
export interface RecordMac<T> {
  /** A frozen copy that carries its MAC. Throws what canonicalJson throws. */
  sign(record: T): T;
  /**
   * The record where a gate with this key wrote it, frozen; `undefined` for anything else. Never
   * throws.
   */
  open(stored: unknown): T | undefined;
}

/** The MACs of a gate. */
export interface RecordMacs {
  readonly question: RecordMac<PendingRecord>;
  readonly grant: RecordMac<Grant>;
}

interface Kind {
  readonly domain: string;
  /** What a store may change by itself. */
  readonly free: ReadonlySet<string>;
  /** Large parts that never change: hashed once, and only their hashes are in what is signed. */
  readonly large: ReadonlySet<string>;
}

const QUESTION: Kind = {
  domain: "acp/stored-question/v1",
  free: new Set(["adopted", "version"]),
  large: new Set(["request", "action", "context"]),
};
const GRANT: Kind = {
  domain: "acp/stored-grant/v1",
  free: new Set(["usesLeft"]),
  large: new Set(["request"]),
};

/**
 * A large part that was copied and frozen here, and its hash: passed on from version to version of
 * a record.
 */
interface KnownPart {
  readonly part: JsonObject;
  readonly hash: string;
}
const knownParts = new WeakMap<object, KnownPart>();

/**
 * MACs by one key, or by the key of now: what was opened or signed in this process stays known when
 * it changes.
 */
export function createRecordMacs(key: Uint8Array | (() => Uint8Array)): RecordMacs {
  const keyNow = typeof key === "function" ? key : () => key;
  return {
    question: createRecordMac<PendingRecord>(keyNow, QUESTION),
    grant: createRecordMac<Grant>(keyNow, GRANT),
  };
}

/**
 * Makes a test of whether a gate with this key wrote a stored question, for a store that drops what
 * no gate will accept. The test never throws. Source: spec/consent.md §8.
 *
 * @param recordKey - As in `GateOptions.recordKey`.
 */
export function createRecordCheck(recordKey: Uint8Array): (stored: unknown) => boolean {
  const { question } = createRecordMacs(Uint8Array.from(recordKey));
  return (stored) => question.open(stored) !== undefined;
}

function createRecordMac<T extends PendingRecord | Grant>(
  keyNow: () => Uint8Array,
  kind: Kind,
): RecordMac<T> {
  // Frozen through and through, so that what was true of one stays true.
  const known = new WeakMap<object, T>();
  const know = (record: JsonObject): T => {
    // The one cast: only what a gate with this key wrote comes here, and it wrote a T.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const mine = record as unknown as T;
    known.set(mine, mine);
    return mine;
  };
  return {
    sign(record) {
      const { mac: _old, ...parts } = copyParts(record, kind, tidied);
      return know(Object.freeze({ ...parts, mac: toHex(macOf(keyNow(), kind, parts)) }));
    },
    open(stored) {
      if (typeof stored !== "object" || stored === null) return undefined;
      const mine = known.get(stored);
      if (mine !== undefined) return mine;
      try {
        const { mac, ...parts } = copyParts(stored, kind, copyJson);
        const given = typeof mac === "string" ? fromHex(mac) : undefined;
        if (given === undefined || !equalBytes(given, macOf(keyNow(), kind, parts)))
          return undefined;
        return know(Object.freeze({ ...parts, mac: toHex(given) }));
      } catch {
        return undefined;
      }
    },
  };
}

const wellFormed = (_key: string, value: unknown): unknown =>
  typeof value === "string" ? value.toWellFormed() : value;

/**
 * What a gate writes may have the gaps that JavaScript allows (a member without a value is none)
 * and texts of others' errors.
 */
function tidied(value: unknown): JsonValue {
  try {
    return copyJson(value);
  } catch {
    return copyJson(JSON.parse(JSON.stringify(value), wellFormed));
  }
}

function copyParts(
  record: object,
  { large }: Kind,
  copy: (value: unknown) => JsonValue,
): Record<string, JsonValue> {
  const copied = Object.keys(record).flatMap((name): readonly [string, JsonValue][] => {
    const value: unknown = Object.getOwnPropertyDescriptor(record, name)?.value;
    if (value === undefined) return [];
    const known =
      large.has(name) && typeof value === "object" && value !== null
        ? knownParts.get(value)
        : undefined;
    return [[name, known?.part ?? copy(value)]];
  });
  return Object.fromEntries(copied);
}

function macOf(
  key: Uint8Array,
  { domain, free, large }: Kind,
  parts: Readonly<Record<string, JsonValue>>,
): Uint8Array {
  const signed = Object.entries(parts).flatMap(([name, value]): readonly [string, JsonValue][] =>
    free.has(name) ? [] : [[name, large.has(name) ? hashOf(value) : value]],
  );
  return hmacSha256(
    key,
    new TextEncoder().encode(canonicalJson({ domain, record: Object.fromEntries(signed) })),
  );
}

/**
 * The hash of a question's or grant's `request` as an opened or signed record holds it: kept, so
 * that it costs nothing the second time.
 */
export function hashOfPart(part: object): string {
  return knownParts.get(part)?.hash ?? sha256Hex(canonicalJson(part));
}

/** The hash of a copy that was made here. */
function hashOf(value: JsonValue): string {
  if (!isJsonObject(value)) return sha256Hex(canonicalJson(value));
  const found = knownParts.get(value);
  if (found !== undefined) return found.hash;
  const hash = sha256Hex(canonicalJson(value));
  knownParts.set(value, { part: value, hash });
  return hash;
}
