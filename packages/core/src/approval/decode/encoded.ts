/**
 * Encoded: texts that stand for other texts or for bytes (base64, data URLs, percent-encoding,
 * JSON), and texts that are too long to be read here.
 */
import { sha256Hex } from "#crypto";
import { isConsentError } from "../../errors.js";
import { parseJson } from "../../json/parse.js";
import { encodeUtf8 } from "../../json/text.js";
import type { JsonValue } from "../../json/value.js";
import { escapeText } from "@acp/exec-safety/text";
import { showMany, showText } from "../show.js";
import type { Reading } from "./reading.js";

/** Shorter texts are words by chance. */
const BASE64_CHARS_MIN = 16;
/** From here on even base64 of bytes that are no text is named. */
const BASE64_BYTES_CHARS_MIN = 64;
const BASE64 = /^(?:[A-Za-z0-9+/]+={0,2}|[A-Za-z0-9_-]+={0,2})$/;
const HEX = /^[0-9A-Fa-f]+$/;
/** Random bytes hardly ever lack one of these. */
const LOOKS_RANDOM = /^(?=[^]*[a-z])(?=[^]*[A-Z])(?=[^]*[0-9])/;
const PADDING = /={0,2}$/;
const DATA_URL = /^data:([^,]*),([^]*)$/i;
const PERCENT = /%[0-9A-Fa-f]{2}/;
const BINARY = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
const OPENS_JSON = /^\s*[[{]/;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const utf16 = new TextDecoder("utf-16le", { fatal: true, ignoreBOM: true });

/** Size and digest: what can be said of bytes that are not text. */
function describeBytes(bytes: Uint8Array): string {
  return `${showMany(bytes.length, "byte")}, sha256:${sha256Hex(bytes)}`;
}

/** What is said of a text that is too long for its readings. */
export function describeLong(text: string): string {
  return `not decoded: ${showMany(text.length, "character")}, in UTF-8 ${describeBytes(encodeUtf8(text))}`;
}

function printable(bytes: Uint8Array, decoder: typeof utf8): string | undefined {
  try {
    const text = decoder.decode(bytes);
    return BINARY.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Bytes as text: UTF-8, or UTF-16 where every second byte is zero. */
function textOf(
  bytes: Uint8Array,
): { readonly encoding: string; readonly text: string } | undefined {
  const text = printable(bytes, utf8);
  if (text !== undefined) return { encoding: "", text };
  const wide =
    bytes.length % 2 === 0 && bytes.every((byte, index) => index % 2 === 0 || byte === 0)
      ? printable(bytes, utf16)
      : undefined;
  return wide === undefined ? undefined : { encoding: " in UTF-16", text: wide };
}

function showBytes(what: string, bytes: Uint8Array): Reading {
  const found = textOf(bytes);
  if (found === undefined) return { line: `${what}, not text: ${describeBytes(bytes)}` };
  return { line: `${what}${found.encoding}: ${showText(found.text)}`, texts: [found.text] };
}

/**
 * The bytes; `undefined` where another text stands for the same ones, or none do: readers disagree
 * about such texts.
 */
function fromBase64(text: string): Uint8Array | undefined {
  const plain = text.replace(PADDING, "").replaceAll("-", "+").replaceAll("_", "/");
  try {
    const binary = atob(plain);
    return btoa(binary).replace(PADDING, "") === plain
      ? Uint8Array.from(binary, (unit) => unit.charCodeAt(0))
      : undefined;
  } catch {
    return undefined;
  }
}

/** Base64 of either alphabet. */
export function readBase64(text: string): readonly Reading[] {
  if (text.length < BASE64_CHARS_MIN || !BASE64.test(text) || HEX.test(text)) return [];
  const bytes = fromBase64(text);
  const isNamed = text.length >= BASE64_BYTES_CHARS_MIN && LOOKS_RANDOM.test(text);
  if (bytes === undefined || (!isNamed && textOf(bytes) === undefined)) return [];
  return [showBytes("if it is base64", bytes)];
}

/** Percent-encoded bytes; `undefined` where a percent sign starts none. */
function percentBytes(text: string): Uint8Array | undefined {
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) return undefined;
  const source = encodeUtf8(text);
  const bytes: number[] = [];
  for (let at = 0; at < source.length; at++) {
    const byte = source[at] ?? 0;
    if (byte !== 0x25) bytes.push(byte);
    else {
      bytes.push(
        Number.parseInt(String.fromCharCode(source[at + 1] ?? 0, source[at + 2] ?? 0), 16),
      );
      at += 2;
    }
  }
  return Uint8Array.from(bytes);
}

/**
 * What percent-encoding stands for, the text itself where it has none; or why it stands for no
 * text.
 */
export function readPart(text: string): { readonly text: string } | { readonly why: string } {
  const bytes = percentBytes(text);
  if (bytes === undefined) return { why: "its percent-encoding is malformed" };
  const decoded = printable(bytes, utf8);
  return decoded === undefined
    ? { why: `its bytes are no text: ${describeBytes(bytes)}` }
    : { text: decoded };
}

/** Percent-encoded text that is no URL. */
export function readPercent(text: string): readonly Reading[] {
  if (!PERCENT.test(text) || text.includes("://") || DATA_URL.test(text)) return [];
  const bytes = percentBytes(text);
  return bytes === undefined ? [] : [showBytes("if it is percent-encoded", bytes)];
}

/** RFC 2397. */
export function readDataUrl(text: string): readonly Reading[] {
  const [, head, body] = DATA_URL.exec(text) ?? [];
  if (head === undefined || body === undefined) return [];
  const isBase64 = /;base64$/i.test(head);
  const type = isBase64 ? head.slice(0, -";base64".length) : head;
  const what = `data URL, type ${type === "" ? "text/plain" : showText(type)}`;
  const part = readPart(body);
  const bytes = isBase64 ? fromBase64("text" in part ? part.text : "%") : percentBytes(body);
  return [
    bytes === undefined ? { line: `${what}, not decoded: malformed` } : showBytes(what, bytes),
  ];
}

/** A JSON object or array that is carried as text. */
export function readJson(text: string): readonly Reading[] {
  if (!OPENS_JSON.test(text)) return [];
  let value: JsonValue;
  try {
    value = parseJson(text);
  } catch (error) {
    if (!isConsentError(error) || error.code === "json_invalid") return [];
    return [{ line: `JSON, not decoded: ${escapeText(error.message)}` }];
  }
  return [{ line: "JSON:", value }];
}

/** Text of several lines, one below the other. */
export function readLines(text: string): readonly Reading[] {
  const lines = text.split(/\r\n|\r|\n/);
  return lines.length === 1
    ? []
    : [
        { line: `${showMany(lines.length, "line")}:` },
        ...lines.map((line) => ({ line: `  ${showText(line)}` })),
      ];
}

/** Text that UTF-16 does not allow. */
export function readBroken(text: string): readonly Reading[] {
  const at = /[\ud800-\udfff]/u.exec(text)?.index;
  return at === undefined
    ? []
    : [
        {
          line: `not Unicode text: an unpaired surrogate at character ${at + 1}, ${showMany(text.length * 2, "byte")} of UTF-16`,
        },
      ];
}
