/**
 * Url: a URL by its parts, and the hosts that a text names. What programs read in different ways is
 * not read here.
 */
import { normalizeHost } from "../../action/host.js";
import { isConsentError } from "../../errors.js";
import { escapeText } from "@acp/exec-safety/text";
import { showCount, showText } from "../show.js";
import { readPart } from "./encoded.js";
import { viewHost } from "./script.js";
import type { Reading } from "./reading.js";

const URL_PARTS =
  /^([A-Za-z][A-Za-z0-9+.-]{0,31}):\/\/(?:([^/?#]*)@)?([^/?#@]*)([^?#]*)(?:\?([^#]*))?(?:#([^]*))?$/;
const HOST_AND_PORT = /^(\[[^[\]]*\]|[^:[\]]*)(?::([0-9]+))?$/;
/** Controls, blanks, backslashes: programs drop, escape or replace them, each in its way. */
const READ_IN_TWO_WAYS = /[\s\\\p{Cc}\p{Cs}]/u;
const PORTS: ReadonlyMap<string, string> = new Map([
  ["http", "80"],
  ["https", "443"],
  ["ws", "80"],
  ["wss", "443"],
  ["ftp", "21"],
  ["ssh", "22"],
]);
const QUERY_PARTS_MAX = 100;

const AUTHORITIES = /:\/\/([^\s/?#"'`<>\\]+)/g;
const PUNCTUATION = /^[^\p{L}\p{M}\p{N}\p{Cs}]$/u;
const BARE_HOST =
  /^(?:[^\s@]{1,64}@)?((?:[\p{L}\p{M}\p{N}_-]{1,63}\.)+[\p{L}\p{M}\p{N}_-]{1,63})\.?(?::[0-9]{1,5})?$/u;
const BARE_HOST_CHARS_MAX = 400;
const NOT_PLAIN = /[^ -~]|xn--/i;

/** The host in its one spelling, or why it has none. */
function readHost(raw: string): { readonly host: string } | { readonly why: string } {
  try {
    return { host: normalizeHost(raw) };
  } catch (error) {
    // The message quotes the host once more; the reason stands behind its last colon.
    return {
      why: isConsentError(error)
        ? escapeText(error.message.slice(error.message.lastIndexOf(": ") + 2))
        : "it is malformed",
    };
  }
}

function showHost(raw: string): string {
  if (raw === "") return "no host";
  const read = readHost(raw);
  if ("why" in read) return `host ${showText(raw)}, not decoded: ${read.why}`;
  const view = viewHost(read.host);
  return `host ${read.host}${view === undefined ? "" : ` (shows as "${view.shown}")`}`;
}

/**
 * A part that may be percent-encoded: as it is, and what it stands for where that is another text.
 */
function showPart(name: string, raw: string, encoded: string = raw): Reading {
  const part = readPart(encoded);
  if ("why" in part) return { line: `${name} ${showText(raw)}, not decoded: ${part.why}` };
  return {
    line: `${name} ${showText(raw)}${part.text === raw ? "" : ` is ${showText(part.text)}`}`,
    texts: [part.text],
  };
}

/** In a query a plus sign is a blank. */
const withBlanks = (raw: string): string => raw.replaceAll("+", " ");

function showQuery(query: string): readonly Reading[] {
  const parts = query.split("&");
  const more = parts.length - QUERY_PARTS_MAX;
  const shown = parts.slice(0, QUERY_PARTS_MAX).map((part): Reading => {
    const [, rawName = "", value] = /^([^=]*)(?:=([^]*))?$/.exec(part) ?? [];
    const read = readPart(withBlanks(rawName));
    const name = `query ${showText("text" in read ? read.text : rawName)}`;
    return value === undefined ? { line: name } : showPart(`${name}:`, value, withBlanks(value));
  });
  return more > 0
    ? [...shown, { line: `${showCount(more)} more parts of the query, not decoded` }]
    : shown;
}

/** The readings of a text that is one URL with an authority. */
export function readUrl(text: string): readonly Reading[] {
  const [, scheme, user, authority, path, query, fragment] = URL_PARTS.exec(text) ?? [];
  if (scheme === undefined || authority === undefined || path === undefined) return [];
  if (READ_IN_TWO_WAYS.test(text)) {
    // A sentence may start with a URL; its hosts are looked at all the same.
    return text.includes(" ")
      ? []
      : [{ line: "URL, not decoded: it has a character that programs read in different ways" }];
  }
  const [, host, port = PORTS.get(scheme.toLowerCase())] = HOST_AND_PORT.exec(authority) ?? [];
  const where =
    host === undefined ? `host and port ${showText(authority)}, not decoded` : showHost(host);
  return [
    { line: `URL: ${scheme.toLowerCase()}, ${where}${port === undefined ? "" : `, port ${port}`}` },
    ...(user === undefined
      ? []
      : [{ line: `user information before the host: ${showText(user)}` }]),
    ...(path === "" || path === "/" ? [] : [showPart("path", path)]),
    ...(query === undefined ? [] : showQuery(query)),
    ...(fragment === undefined ? [] : [showPart("fragment", fragment)]),
  ];
}

/**
 * Hosts that a text names in URLs, or as a whole, and that hold more than ASCII: as they are
 * spelled there.
 */
export function namedHosts(text: string): ReadonlySet<string> {
  if (!NOT_PLAIN.test(text)) return new Set();
  const authorities = Array.from(text.matchAll(AUTHORITIES), ([, authority = ""]) =>
    authority.slice(authority.lastIndexOf("@") + 1),
  );
  const whole = text.length <= BARE_HOST_CHARS_MAX ? BARE_HOST.exec(text)?.[1] : undefined;
  const named = whole === undefined ? authorities : [...authorities, whole];
  return new Set(named.filter((raw) => NOT_PLAIN.test(raw)).map((raw) => withoutEnd(raw)));
}

/** A host without the punctuation of the sentence that it ends. */
function withoutEnd(raw: string): string {
  let end = raw.length;
  while (end > 0 && PUNCTUATION.test(raw.charAt(end - 1))) end--;
  return raw.slice(0, end);
}

/** What is to be said of a host that is not what it looks like. */
export function flagHost(raw: string): string | undefined {
  const read = readHost(HOST_AND_PORT.exec(raw)?.[1] ?? raw);
  const view = "host" in read ? viewHost(read.host) : undefined;
  return "why" in read || view === undefined || view.flags.length === 0
    ? undefined
    : `host ${read.host} shows as "${view.shown}": ${view.flags.join("; ")}`;
}
