/**
 * Writings: the ways of writing a value, one over the other, that are looked for as bytes. Pure.
 * Format: spec/vault.md §6.
 */
import { toBase64, URL_SAFE } from "./base64.js";
import { toHex } from "../crypto/hex.js";

/**
 * A value as somebody may write it: so many first bytes are certain; the rest is there where the
 * value ends the data.
 */
export interface Writing {
  readonly bytes: Uint8Array;
  readonly complete?: number;
}

/**
 * Longer values are not looked for in writings over writings, which would be many times their size.
 */
const TWICE_BYTES_MAX = 512;
/** Longer values are not looked for with every character escaped. */
const ESCAPED_BYTES_MAX = 128;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * The characters of base64 that a value alone decides, for each of the three places that it can
 * have within a group of three bytes; and, where it ends the data, the last character and the
 * padding.
 */
function inBase64(value: Uint8Array): readonly Writing[] {
  return [undefined, URL_SAFE].flatMap((alphabet) =>
    [0, 1, 2].map((offset) => {
      const shifted = new Uint8Array(offset + value.length);
      shifted.set(value, offset);
      const text = toBase64(shifted, alphabet);
      const from = Math.ceil((offset * 8) / 6);
      const padding = "=".repeat((4 - (text.length % 4)) % 4);
      return {
        bytes: encoder.encode(text.slice(from) + padding),
        complete: Math.floor((shifted.length * 8) / 6) - from,
      };
    }),
  );
}

/** In UTF-16, either byte first. */
function inUtf16(value: Uint8Array): readonly Writing[] {
  const text = decoder.decode(value);
  return [true, false].map((isLittle) => {
    const bytes = new Uint8Array(text.length * 2);
    const view = new DataView(bytes.buffer);
    for (let at = 0; at < text.length; at++) view.setUint16(at * 2, text.charCodeAt(at), isLittle);
    return { bytes };
  });
}

function inHex(value: Uint8Array): readonly Writing[] {
  const hex = toHex(value);
  return [hex, hex.toUpperCase()].map((text) => ({ bytes: encoder.encode(text) }));
}

/**
 * With escapes, as programs write them: those that are needed, and all. Other mixtures are read
 * away, but not under another writing.
 */
function escaped(value: Uint8Array): readonly Writing[] {
  const text = decoder.decode(value);
  const units = (write: (unit: number) => string): string =>
    Array.from({ length: text.length }, (_, at) => write(text.charCodeAt(at))).join("");
  const points = (write: (point: number) => string): string =>
    Array.from(text, (each) => write(each.codePointAt(0) ?? 0)).join("");
  const bytes = (write: (byte: number) => string): string => Array.from(value, write).join("");
  const hex = (number: number, digits: number): string => number.toString(16).padStart(digits, "0");
  const html = text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
  const all = [
    units((unit) => `\\u${hex(unit, 4)}`),
    units((unit) => `\\u${hex(unit, 4).toUpperCase()}`),
    bytes((byte) => `%${hex(byte, 2)}`),
    bytes((byte) => `%${hex(byte, 2).toUpperCase()}`),
    points((point) => `&#${point};`),
    points((point) => `&#x${point.toString(16)};`),
    points((point) => `&#x${point.toString(16).toUpperCase()};`),
  ];
  const needed = [
    JSON.stringify(text).slice(1, -1),
    encodeURIComponent(text),
    html,
    html.replaceAll("'", "&#39;"),
    html.replaceAll("'", "&apos;"),
  ];
  const form = encodeURIComponent(text).replaceAll("%20", "+");
  const texts = [...needed, form, ...(value.length <= ESCAPED_BYTES_MAX ? all : [])];
  return [...new Set(texts)]
    .filter((each) => each !== text)
    .map((each) => ({ bytes: encoder.encode(each) }));
}

/** The bytes of a writing that are certain, wherever it stands. */
const certain = ({ bytes, complete = bytes.length }: Writing): Uint8Array =>
  bytes.subarray(0, complete);

/** What a value is written as before it is written once more. */
function inner(value: Uint8Array): readonly Uint8Array[] {
  if (value.length > TWICE_BYTES_MAX) return [value];
  const once = [...inBase64(value), ...inUtf16(value), ...inHex(value), ...escaped(value)].map(
    certain,
  );
  return [value, ...once];
}

/**
 * All writings of a value whose case counts; hex in one case, so that it is found beneath escapes.
 */
export function writingsOf(value: Uint8Array): readonly Writing[] {
  return unique([
    { bytes: value },
    ...inHex(value),
    ...inner(value).flatMap((each) => [...inBase64(each), ...inUtf16(each)]),
  ]);
}

/** All writings of a value in lower-case hex. */
export function hexWritingsOf(value: Uint8Array): readonly Writing[] {
  return unique(inner(value).map((each) => ({ bytes: encoder.encode(toHex(each)) })));
}

function unique(writings: readonly Writing[]): readonly Writing[] {
  return [
    ...new Map(
      writings.map((each) => [`${each.complete ?? ""} ${decoder.decode(each.bytes)}`, each]),
    ).values(),
  ];
}
