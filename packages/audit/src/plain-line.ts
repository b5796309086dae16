/**
 * Plain lines: the place of an event in its chain, read from its line's bytes without making an
 * object of it, several times faster than parsing.
 *
 * Takes a line only where the bytes prove all that decodeEvent would check: fields, types,
 * canonical form and hash. A line that is out of the ordinary is left to decodeEvent; this never
 * says that a line is bad. Format: spec/audit.md.
 */
import { hash as digest } from "node:crypto";
import {
  asciiWords,
  byteClass,
  scanNumber,
  scanObject,
  scanText,
  scanValue,
  scanWords,
} from "./canonical-scan.js";

/** Where the event of a line stands in its chain. */
export interface LinePlace {
  readonly seq: number;
  /** Hex digits of its hash. */
  readonly hex: string;
  /** Hex digits of the hash of the event before; empty where it is the first. */
  readonly previousHex: string;
}

const HEX_DIGITS = 64;
const SCRATCH_BYTES = 64 * 1024;
const MINUS = 0x2d;
const QUOTE = 0x22;

const HEX = byteClass((char) => /[0-9a-f]/.test(char));
const DIGIT = byteClass((char) => char >= "0" && char <= "9");
const AGENT = asciiWords('{"agent":');
const CATEGORY = asciiWords(',"category":');
const DECISION = asciiWords(',"decision":');
const EVENT_HASH = asciiWords(',"event_hash":"sha256:');
const EVENT_TYPE = asciiWords(',"event_type":');
const ID = asciiWords(',"id":');
const METADATA = asciiWords(',"metadata":');
const POLICY_RULE = asciiWords(',"policy_rule":');
const PREVIOUS = asciiWords(',"previous_event_hash":');
const SHA = asciiWords('"sha256:');
const NULL = asciiWords("null");
const REQUEST_ID = asciiWords(',"request_id":');
const RESPONSE_TIME = asciiWords(',"response_time_ms":');
const RISK_LEVEL = asciiWords(',"risk_level":');
const TIMESTAMP = asciiWords(',"timestamp":"');
const TIME_SHAPE = Buffer.from('0000-00-00T00:00:00.000Z"');
const TOOL = asciiWords(',"tool":');
const REST = asciiWords(',"type":"audit_event","version":"0.2.0"}');
const SEQ = asciiWords('"seq":');
const MONO_MS = asciiWords('"mono_ms":');
const ZERO = 0x30;
/** By month. The 29th of February is decodeEvent's. */
const DAYS = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;

const scratch = Buffer.alloc(SCRATCH_BYTES);

/** The place of the line in `bytes[start, end)`, or `undefined` where decodeEvent has to look. */
export function readPlainLine(bytes: Buffer, start: number, end: number): LinePlace | undefined {
  const hashField = scanTexts(bytes, start);
  const afterHash = scanHash(bytes, scanWords(bytes, hashField, EVENT_HASH));
  const metadata = scanMiddle(bytes, afterHash);
  found.seqAt = -1;
  const rule = scanWords(bytes, scanObject(bytes, metadata, scanMember), POLICY_RULE);
  const previous = scanWords(bytes, scanText(bytes, rule), PREVIOUS);
  if (found.seqAt < 0 || previous < 0) return undefined;
  const isFirst = scanWords(bytes, previous, NULL) > 0;
  const afterPrevious = isFirst
    ? previous + NULL.length
    : scanHex(bytes, scanWords(bytes, previous, SHA));
  if (scanLast(bytes, afterPrevious) !== end) return undefined;
  const hex = hashWithout(bytes, { start, hashField, afterHash, end });
  if (
    hex === undefined ||
    bytes.toString("latin1", afterHash - 1 - HEX_DIGITS, afterHash - 1) !== hex
  )
    return undefined;
  const previousHex = isFirst
    ? ""
    : bytes.toString("latin1", afterPrevious - 1 - HEX_DIGITS, afterPrevious - 1);
  return { seq: integerAt(bytes, found.seqAt), hex, previousHex };
}

/** Up to the event's hash. */
function scanTexts(bytes: Buffer, start: number): number {
  const category = scanText(bytes, scanWords(bytes, start, AGENT));
  const decision = scanText(bytes, scanWords(bytes, category, CATEGORY));
  return scanText(bytes, scanWords(bytes, decision, DECISION));
}

/** From the event's hash up to the metadata. */
function scanMiddle(bytes: Buffer, at: number): number {
  const id = scanFilled(bytes, scanWords(bytes, at, EVENT_TYPE));
  return scanWords(bytes, scanFilled(bytes, scanWords(bytes, id, ID)), METADATA);
}

/** What follows the hash of the event before. */
function scanLast(bytes: Buffer, at: number): number {
  const time = scanWords(bytes, scanText(bytes, scanWords(bytes, at, REQUEST_ID)), RESPONSE_TIME);
  const risk = scanWords(bytes, scanFromZero(bytes, time), RISK_LEVEL);
  const timestamp = scanTimestamp(bytes, scanWords(bytes, scanText(bytes, risk), TIMESTAMP));
  return scanWords(bytes, scanText(bytes, scanWords(bytes, timestamp, TOOL)), REST);
}

function scanFilled(bytes: Buffer, at: number): number {
  return at < 0 || bytes[at + 1] === QUOTE ? -1 : scanText(bytes, at);
}

function scanFromZero(bytes: Buffer, at: number): number {
  return at < 0 || bytes[at] === MINUS ? -1 : scanNumber(bytes, at);
}

/**
 * 64 characters and the quote after them. That they are hex digits is proven when they equal the
 * hash of the line.
 */
function scanHash(bytes: Buffer, at: number): number {
  const end = at + HEX_DIGITS;
  return at >= 0 && bytes[end] === QUOTE ? end + 1 : -1;
}

/** 64 hex digits and the quote after them. */
function scanHex(bytes: Buffer, at: number): number {
  if (at < 0) return -1;
  const end = at + HEX_DIGITS;
  for (let next = at; next < end; next++) if (HEX[bytes[next] ?? 0] !== 1) return -1;
  return bytes[end] === QUOTE ? end + 1 : -1;
}

/** A real time and the quote after it. */
function scanTimestamp(bytes: Buffer, at: number): number {
  if (at < 0) return -1;
  for (let index = 0; index < TIME_SHAPE.length; index++) {
    const byte = bytes[at + index] ?? 0;
    if (TIME_SHAPE[index] === ZERO ? DIGIT[byte] !== 1 : byte !== TIME_SHAPE[index]) return -1;
  }
  const day = twoDigits(bytes, at + 8);
  const isReal = day >= 1 && day <= (DAYS[twoDigits(bytes, at + 5)] ?? 0);
  const isTime =
    twoDigits(bytes, at + 11) < 24 &&
    twoDigits(bytes, at + 14) < 60 &&
    twoDigits(bytes, at + 17) < 60;
  return isReal && isTime ? at + TIME_SHAPE.length : -1;
}

function twoDigits(bytes: Buffer, at: number): number {
  return ((bytes[at] ?? 0) - ZERO) * 10 + (bytes[at + 1] ?? 0) - ZERO;
}

/**
 * Where the sequence number of the line being read is: one place, because a line is read in one go.
 */
const found: { seqAt: number } = { seqAt: -1 };

/** Reads a member of the metadata: two are the log's own. */
function scanMember(bytes: Buffer, key: number, at: number): number {
  if (scanWords(bytes, key, SEQ) === at) {
    found.seqAt = at;
    return scanInteger(bytes, at);
  }
  return scanWords(bytes, key, MONO_MS) === at ? scanFromZero(bytes, at) : scanValue(bytes, at, 1);
}

function scanInteger(bytes: Buffer, at: number): number {
  const end = scanFromZero(bytes, at);
  for (let next = at; next < end; next++) if (DIGIT[bytes[next] ?? 0] !== 1) return -1;
  return end;
}

function integerAt(bytes: Buffer, at: number): number {
  let value = 0;
  for (let next = at; DIGIT[bytes[next] ?? 0] === 1; next++)
    value = value * 10 + (bytes[next] ?? 0) - ZERO;
  return value;
}

interface LineParts {
  readonly start: number;
  readonly hashField: number;
  readonly afterHash: number;
  readonly end: number;
}

/** SHA-256 of the line without its hash. */
function hashWithout(
  bytes: Buffer,
  { start, hashField, afterHash, end }: LineParts,
): string | undefined {
  const before = hashField - start;
  const length = before + end - afterHash;
  if (length > SCRATCH_BYTES) return undefined;
  bytes.copy(scratch, 0, start, hashField);
  bytes.copy(scratch, before, afterHash, end);
  return digest("sha256", scratch.subarray(0, length), "hex");
}
