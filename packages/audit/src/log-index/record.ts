/**
 * Index record: one line of an index, about a stretch of one file of a log. Each is sealed with the
 * index's key, so that whatever somebody else wrote is no record. Format: spec/audit-index.md §2.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { canonicalJson, isJsonObject } from "@acp/core";
import type { JsonObject, JsonValue } from "@acp/core";
import { STATE_KINDS } from "@acp/core/unstable";
import type { StateKind } from "@acp/core/unstable";
import { isTreeEdge, type TreeEdge } from "../tree-edge.js";

/** Where a line is: in the file whose first event has the number `file`. */
export interface LineAt {
  readonly file: number;
  readonly from: number;
  /** Behind its newline. */
  readonly to: number;
}

/** A stretch of whole lines in one file. */
export interface Stretch extends LineAt {
  /** Number of its first event. */
  readonly seq: number;
  /** Number after its last one. */
  readonly nextSeq: number;
  /** Where its last line starts. */
  readonly lastFrom: number;
  /** `event_hash` before its first event, and of its last one. */
  readonly previousHash: string | null;
  readonly hash: string;
  /** Wall times of its earliest and latest event. */
  readonly minMs: number;
  readonly maxMs: number;
  /** Hex SHA-256 of its bytes: who finds the same ones need not prove its lines again. */
  readonly digest: string;
  /** When its lines were written or proven good. */
  readonly checkedMs: number;
}

/** Where the newest event of a kind is, such as the newest state of the vault. */
export interface NoteAt extends LineAt {
  readonly seq: number;
  readonly atMs: number;
  /** Of what is told of a file of the home: its counter. */
  readonly counter?: number;
}

/** Kinds of events of which the newest one is noted. */
export const NOTE_KINDS: readonly NoteKind[] = [...STATE_KINDS, "policy"];

/** A file of the home, of which the newest state is noted, or the policy, of which the last event is. */
export type NoteKind = StateKind | "policy";

/** How the log stands behind a stretch. */
export interface LogState {
  /** The tree of all events so far. */
  readonly edge: TreeEdge;
  /** See `writeOpenWork`. */
  readonly work: JsonObject;
  readonly notes: Readonly<Partial<Record<NoteKind, NoteAt>>>;
}

/** A line of an index, opened. */
export interface IndexRecord {
  readonly stretch: Stretch;
  /** Parsed when it is asked for; `undefined` where it is none. */
  readonly state: () => LogState | undefined;
}

const VERSION = 5;
const SEPARATOR = "\t";
const HEX_DIGITS = 64;
const HASH = /^sha256:[0-9a-f]{64}$/;
const DIGEST = /^[0-9a-f]{64}$/;

/** The line of a record, with its newline. */
export function sealRecord(
  { stretch, state }: Omit<IndexRecord, "state"> & { readonly state: LogState },
  key: Uint8Array,
): string {
  const { edge, work, notes } = state;
  const places = Object.entries(notes).map(([kind, at]) => [kind, { ...at }] as const);
  const text = [
    canonicalJson({ v: VERSION, ...stretch }),
    canonicalJson({ edge: edge.hashes, work, notes: Object.fromEntries(places) }),
  ].join(SEPARATOR);
  return `${macOf(text, key)}${SEPARATOR}${text}\n`;
}

/** The record of a line without its newline; `undefined` where nobody with the key wrote it. */
export function openRecord(line: string, key: Uint8Array): IndexRecord | undefined {
  const text = line.slice(HEX_DIGITS + 1);
  const mac = Buffer.from(line.slice(0, HEX_DIGITS));
  const expected = Buffer.from(macOf(text, key));
  if (mac.length !== expected.length || !timingSafeEqual(mac, expected)) return undefined;
  const [place = "", state = ""] = text.split(SEPARATOR);
  const stretch = readStretch(parse(place));
  if (stretch === undefined) return undefined;
  return {
    stretch,
    state: () => readState(parse(state), stretch.nextSeq),
  };
}

/**
 * The line of a record whose stretch was proven good once more, as long as it was; `undefined` where
 * nobody with the key wrote it, or it would have another length.
 */
export function recheckedLine(
  line: string,
  checkedMs: number,
  key: Uint8Array,
): string | undefined {
  const record = openRecord(line, key);
  if (record === undefined) return undefined;
  const [, , ...rest] = line.split(SEPARATOR);
  const place = canonicalJson({ v: VERSION, ...record.stretch, checkedMs });
  const text = [place, ...rest].join(SEPARATOR);
  const next = `${macOf(text, key)}${SEPARATOR}${text}`;
  return next.length === line.length ? next : undefined;
}

/** Whether a stretch follows another without a gap. */
export function isNext(
  stretch: Pick<Stretch, "file" | "from" | "seq" | "previousHash">,
  before: Pick<Stretch, "file" | "to" | "nextSeq" | "hash">,
): boolean {
  if (stretch.seq !== before.nextSeq || stretch.previousHash !== before.hash) return false;
  return stretch.file === before.file ? stretch.from === before.to : stretch.from === 0;
}

const macOf = (text: string, key: Uint8Array): string =>
  createHmac("sha256", key).update(text).digest("hex");

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether it is a whole number from 0 that is exact. */
export function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
const isHash = (value: unknown): value is string => typeof value === "string" && HASH.test(value);

function readStretch(value: unknown): Stretch | undefined {
  if (!isJsonObject(value) || value["v"] !== VERSION) return undefined;
  const place = readStretchPlace(value);
  const { digest, checkedMs } = value;
  if (place === undefined || typeof checkedMs !== "number") return undefined;
  return typeof digest === "string" && DIGEST.test(digest)
    ? { ...place, digest, checkedMs }
    : undefined;
}

/** A stretch as its lines alone say it. */
export type StretchPlace = Omit<Stretch, "digest" | "checkedMs">;

/** Where lines are that follow each other; `undefined` where that is nowhere. */
export function readStretchPlace(value: JsonObject): StretchPlace | undefined {
  const at = readAt(value);
  const { seq, nextSeq, lastFrom, previousHash, hash, minMs, maxMs } = value;
  if (at === undefined || !isCount(seq) || !isCount(nextSeq) || nextSeq <= seq) return undefined;
  if (!isCount(lastFrom) || lastFrom < at.from || lastFrom >= at.to) return undefined;
  if (!isHash(hash) || !(previousHash === null || isHash(previousHash))) return undefined;
  if (typeof minMs !== "number" || typeof maxMs !== "number") return undefined;
  return { ...at, seq, nextSeq, lastFrom, previousHash, hash, minMs, maxMs };
}

function readAt({ file, from, to }: Readonly<Record<string, JsonValue>>): LineAt | undefined {
  return isCount(file) && isCount(from) && isCount(to) && from < to
    ? { file, from, to }
    : undefined;
}

function readState(value: unknown, size: number): LogState | undefined {
  if (!isJsonObject(value)) return undefined;
  const { edge, work, notes } = value;
  if (!isTreeEdge(size, edge) || !isJsonObject(work) || !isJsonObject(notes)) return undefined;
  const known: Partial<Record<NoteKind, NoteAt>> = {};
  for (const kind of NOTE_KINDS) {
    const note = notes[kind];
    if (note === undefined) continue;
    const at = isJsonObject(note) ? readNote(note) : undefined;
    if (at === undefined) return undefined;
    known[kind] = at;
  }
  return { edge: { size, hashes: edge }, work, notes: known };
}

function readNote(note: JsonObject): NoteAt | undefined {
  const at = readAt(note);
  const { seq, atMs, counter } = note;
  if (at === undefined || !isCount(seq) || typeof atMs !== "number") return undefined;
  if (counter !== undefined && !isCount(counter)) return undefined;
  return { ...at, seq, atMs, ...(counter !== undefined && { counter }) };
}
