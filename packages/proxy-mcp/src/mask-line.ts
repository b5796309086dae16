/**
 * Masking one line: secret values in what a server says, replaced so that what was JSON stays JSON.
 * A line without any comes back as it is. Looked at are the bytes as written, the text of every
 * string and key, and every number in each spelling of its value. Rules: spec/mcp-proxy.md §9.
 */
import type { Masker } from "@acp/core";
import { findValue, splice, textOf, walkScalars } from "./json-walk.js";
import type { Span, Splice } from "./json-walk.js";

type MaskBytes = (bytes: Uint8Array) => Buffer;

const LF: Buffer = Buffer.from("\n");
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Stands in no UTF-8, so no value is found across it. */
const SEPARATOR = 0xff;
/** No value is shorter, however it is written, but for a number: `1e9` has ten digits. */
const VALUE_BYTES_MIN = 8;
/** A number of fewer digits and without point or exponent has one spelling. */
const EXACT_DIGITS = 15;
/** A longer number is written out by nobody. */
const WRITTEN_OUT_MAX = 4_096;
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * The line without the values that a masker knows; `undefined` where a value stands across strings
 * or numbers, so that nothing can take its place.
 *
 * @param line - One line with its LF.
 * @param masker - Takes one text after another, each up to its `end`.
 * @param keepsId - Whether the message's id stays as it is, because the client gave it; asked only
 *   where there is something to mask.
 */
export function maskLine(line: Buffer, masker: Masker, keepsId: () => boolean): Buffer | undefined {
  const mask = wholeMask(masker);
  const body = line.subarray(0, -1);
  const masked = mask(body);
  if (masked.equals(body) && !hasRespelled(body, mask)) return line;
  // What is no JSON has no form to keep but that it is one line.
  if (!isJson(body)) return Buffer.concat([masked, LF]);
  const id = keepsId() ? findValue(body, ["id"]) : undefined;
  const splices = maskReadings(readingsOf(body, id), mask);
  if (!isClean(splice(body, [...splices, ...withoutSpan(id)].sort(byStart)), mask))
    return undefined;
  return splices.length === 0 ? line : Buffer.concat([splice(body, splices), LF]);
}

function wholeMask(masker: Masker): MaskBytes {
  return (bytes) => Buffer.concat([masker.push(bytes), masker.end()]);
}

function isClean(bytes: Buffer, mask: MaskBytes): boolean {
  return mask(bytes).equals(bytes);
}

/** Whether a number that no search of the bytes finds is a value in another spelling. */
function hasRespelled(body: Buffer, mask: MaskBytes): boolean {
  const spellings: string[] = [];
  walkScalars(body, (start, end) => {
    if (body[start] !== QUOTE) spellings.push(...otherSpellings(body, start, end));
  });
  return spellings.length > 0 && !isClean(Buffer.from(spellings.join("\n")), mask);
}

/**
 * All that strings and numbers are read as, each reading followed by a separator, and whose reading
 * it is.
 */
interface Readings {
  readonly bytes: Buffer;
  readonly owners: readonly Span[];
}

/** The readings of all strings and numbers but short ones and the message's id. */
function readingsOf(body: Buffer, id: Span | undefined): Readings {
  const owners: Span[] = [];
  let bytes = Buffer.allocUnsafe(body.length + 1);
  let length = 0;
  const reserve = (more: number): void => {
    if (length + more > bytes.length)
      bytes = Buffer.concat([bytes.subarray(0, length)], 2 * (length + more));
  };
  const end = (owner: Span): void => {
    bytes[length++] = SEPARATOR;
    owners.push(owner);
  };
  const addText = (owner: Span, text: string): void => {
    reserve(3 * text.length + 1);
    length += bytes.write(text, length);
    end(owner);
  };
  const addWritten = (owner: Span, from: number, to: number): void => {
    reserve(to - from + 1);
    length += body.copy(bytes, length, from, to);
    end(owner);
  };
  walkScalars(body, (start, stop) => {
    const owner = { start, end: stop };
    if (start === id?.start) return;
    if (body[start] !== QUOTE) {
      if (stop - start >= VALUE_BYTES_MIN) addWritten(owner, start, stop);
      for (const spelling of otherSpellings(body, start, stop)) addText(owner, spelling);
    } else if (stop - start - 2 >= VALUE_BYTES_MIN) {
      if (body.subarray(start, stop).includes(BACKSLASH))
        addText(owner, String(JSON.parse(textOf(body, owner))));
      addWritten(owner, start + 1, stop - 1);
    }
  });
  return { bytes: bytes.subarray(0, length), owners };
}

/**
 * A number as readers print it, and written out without exponent, where that differs from how it is
 * written.
 */
function otherSpellings(body: Buffer, start: number, end: number): readonly string[] {
  let isPlain = end - start <= EXACT_DIGITS;
  for (let at = start; isPlain && at < end; at++) isPlain = isDigitOrSign(body[at] ?? 0);
  if (isPlain) return NONE;
  const text = textOf(body, { start, end });
  return [String(Number(text)), writtenOut(text)].filter((spelling) => spelling !== text);
}

const NONE: readonly string[] = [];

const isDigitOrSign = (byte: number): boolean => byte === 0x2d || (byte >= 0x30 && byte <= 0x39);

/** `1.2345e4` as `12345`, exactly; the text itself where that would be very long. */
function writtenOut(text: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = NUMBER.exec(text) ?? [];
  const point = whole.length + Number(exponent);
  const digits = whole + fraction;
  if (digits === "" || Math.abs(point) > WRITTEN_OUT_MAX) return text;
  const before = digits
    .slice(0, Math.max(0, point))
    .padEnd(point, "0")
    .replace(/^0+(?=\d)/, "");
  const after = ("0".repeat(Math.max(0, -point)) + digits.slice(Math.max(0, point))).replace(
    /0+$/,
    "",
  );
  return `${sign}${before === "" ? "0" : before}${after === "" ? "" : `.${after}`}`;
}

/** A text in the place of every string and number of which a reading holds a value. */
function maskReadings({ bytes, owners }: Readings, mask: MaskBytes): readonly Splice[] {
  const masked = mask(bytes);
  if (masked.equals(bytes)) return [];
  const splices: Splice[] = [];
  let from = 0;
  let maskedFrom = 0;
  for (const owner of owners) {
    const end = bytes.indexOf(SEPARATOR, from);
    const maskedEnd = masked.indexOf(SEPARATOR, maskedFrom);
    const isChanged = bytes.compare(masked, maskedFrom, maskedEnd, from, end) !== 0;
    // The first reading that holds a value is what is shown.
    if (isChanged && splices.at(-1)?.start !== owner.start)
      splices.push({
        ...owner,
        text: JSON.stringify(masked.toString("utf8", maskedFrom, maskedEnd)),
      });
    from = end + 1;
    maskedFrom = maskedEnd + 1;
  }
  return splices;
}

function withoutSpan(span: Span | undefined): readonly Splice[] {
  return span === undefined ? [] : [{ ...span, text: "" }];
}

function byStart(one: Splice, other: Splice): number {
  return one.start - other.start;
}

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString("utf8"));
    return true;
  } catch {
    return false;
  }
}
