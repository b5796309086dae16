/**
 * Masking one line: secret values in what a server says, replaced so that what was JSON stays JSON. A line without any comes back as it is.
 * Looked at are the bytes as written, the text of every string and key, and every number in each spelling of its value.
 * Rules: spec/mcp-proxy.md §9.
 */
import type { Masker } from "@acp/core";
import { findValue, splice, textOf, walkScalars } from "./json-walk.js";
import type { Span, Splice } from "./json-walk.js";

/** A string or number, and the texts that it is read as. */
interface Scalar extends Span {
  readonly texts: readonly string[];
}

type MaskBytes = (bytes: Uint8Array) => Buffer;

const LF: Buffer = Buffer.from("\n");
const QUOTE = 0x22;
/** No value is shorter, however it is written, but for a number: `1e9` has ten digits. */
const STRING_CHARS_MIN = 8;
/** Scalars of about so many characters are looked at together, because most hold nothing. */
const GROUP_CHARS = 8 * 1024;
/** A number of fewer digits and without point or exponent has one spelling. */
const EXACT_DIGITS = 15;
/** A longer number is written out by nobody. */
const WRITTEN_OUT_MAX = 4_096;
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * The line without the values that a masker knows; `undefined` where a value stands across strings or numbers, so that nothing can take its place.
 *
 * @param line - One line with its LF.
 * @param masker - Takes one text after another, each up to its `end`.
 * @param keepsId - Whether the message's id stays as it is, because the client gave it; asked only where there is something to mask.
 */
export function maskLine(line: Buffer, masker: Masker, keepsId: () => boolean): Buffer | undefined {
  const mask = wholeMask(masker);
  const body = line.subarray(0, -1);
  const masked = mask(body);
  if (masked.equals(body) && !hasRespelled(body, mask)) return line;
  // What is no JSON has no form to keep but that it is one line.
  if (!isJson(body)) return Buffer.concat([masked, LF]);
  const id = keepsId() ? findValue(body, ["id"]) : undefined;
  const splices = maskScalars(scalarsOf(body, id), mask);
  if (!isClean(splice(body, [...splices, ...withoutSpan(id)].sort(byStart)), mask)) return undefined;
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
  walkScalars(body, (span) => {
    if (body[span.start] !== QUOTE) spellings.push(...otherSpellings(body, span));
  });
  return spellings.length > 0 && !isClean(Buffer.from(spellings.join("\n")), mask);
}

/** What can hold a value: all strings and numbers but short ones and the message's id. */
function scalarsOf(body: Buffer, id: Span | undefined): readonly Scalar[] {
  const scalars: Scalar[] = [];
  walkScalars(body, (span) => {
    if (span.start === id?.start) return;
    const texts = body[span.start] === QUOTE ? stringTexts(body, span) : [textOf(body, span), ...otherSpellings(body, span)];
    if (texts.length > 0) scalars.push({ ...span, texts });
  });
  return scalars;
}

/** A string as it is read, and as it is written where that differs. */
function stringTexts(body: Buffer, { start, end }: Span): readonly string[] {
  const written = { start: start + 1, end: end - 1 };
  if (written.end - written.start < STRING_CHARS_MIN) return [];
  const raw = textOf(body, written);
  return raw.includes("\\") ? [String(JSON.parse(`"${raw}"`)), raw] : [raw];
}

/** A number as readers print it, and written out without exponent, where that differs from how it is written. */
function otherSpellings(body: Buffer, { start, end }: Span): readonly string[] {
  let isPlain = end - start <= EXACT_DIGITS;
  for (let at = start; isPlain && at < end; at++) isPlain = isDigitOrSign(body[at] ?? 0);
  if (isPlain) return [];
  const text = textOf(body, { start, end });
  return [String(Number(text)), writtenOut(text)].filter((spelling) => spelling !== text);
}

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
  const after = ("0".repeat(Math.max(0, -point)) + digits.slice(Math.max(0, point))).replace(/0+$/, "");
  return `${sign}${before === "" ? "0" : before}${after === "" ? "" : `.${after}`}`;
}

/** A text in the place of every scalar that holds a value. */
function maskScalars(scalars: readonly Scalar[], mask: MaskBytes): readonly Splice[] {
  return groupsOf(scalars).flatMap((group) => {
    // A line feed between them is part of no escape; a value that is found across it is looked for again in each alone.
    if (group.length > 1 && isClean(Buffer.from(group.flatMap(({ texts }) => texts).join("\n")), mask)) return [];
    return group.flatMap((scalar) => maskScalar(scalar, mask));
  });
}

function groupsOf(scalars: readonly Scalar[]): readonly (readonly Scalar[])[] {
  const groups: Scalar[][] = [];
  let room = 0;
  for (const scalar of scalars) {
    const size = scalar.texts.reduce((sum, text) => sum + text.length + 1, 0);
    if (size > room) {
      groups.push([]);
      room = GROUP_CHARS;
    }
    groups.at(-1)?.push(scalar);
    room -= size;
  }
  return groups;
}

function maskScalar({ start, end, texts }: Scalar, mask: MaskBytes): readonly Splice[] {
  for (const text of texts) {
    const bytes = Buffer.from(text);
    const masked = mask(bytes);
    if (!masked.equals(bytes)) return [{ start, end, text: JSON.stringify(masked.toString("utf8")) }];
  }
  return [];
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
