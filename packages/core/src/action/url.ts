/**
 * URLs: one reading of an http or https URL, and a refusal for what the WHATWG parser would repair
 * without a word. Error texts never quote a URL: it may hold a secret. Format: spec/action.md §3.
 * Vectors: spec/vectors/hosts.json.
 */
import { ConsentError } from "../errors.js";
import { normalizeHost } from "./host.js";
import { URL_CHARS_MAX } from "../limits.js";

const SCHEME_AND_AUTHORITY = /^(https?):\/\/([^/?#]*)/i;
const HOST_AND_PORT = /^(\[[^[\]]*\]|[^:[\]]*)(?::([0-9]*))?$/;
/**
 * Controls, space, backslash: dropped, escaped or turned into a slash by the WHATWG parser. Lone
 * surrogates become U+FFFD.
 */
const REPAIRED = /[\u0000- \\\u007f-\u009f]|[\ud800-\udfff]/u;
const PORT_MAX = 65_535;

/** A URL in its one spelling. */
export interface HttpUrl {
  /**
   * The URL without a fragment: host normalized, default port left out, dots in the path resolved.
   */
  readonly url: string;
  /** Normalized host: lower case, A-labels, no trailing dot, IPv6 in brackets. */
  readonly host: string;
  /** Port of the URL; where it names none, 443 for https and 80 for http. */
  readonly port: number;
}

/**
 * Reads an absolute http or https URL. Source: spec/action.md §3.
 *
 * @throws ConsentError `host_invalid`, also for credentials in the URL, and for characters that a
 *   URL parser would repair silently.
 */
export function parseHttpUrl(input: string): HttpUrl {
  if (typeof input !== "string" || input.length > URL_CHARS_MAX)
    throw refused(`it is not text of at most ${URL_CHARS_MAX} characters`);
  if (REPAIRED.test(input))
    throw refused("it has a control character, a space, a backslash or an unpaired surrogate");
  const [, scheme, authority] = SCHEME_AND_AUTHORITY.exec(input) ?? [];
  if (scheme === undefined || authority === undefined)
    throw refused("it does not start with http:// or https://");
  if (authority.includes("@")) throw refused("it holds credentials");
  const [, rawHost, rawPort] = HOST_AND_PORT.exec(authority) ?? [];
  if (rawHost === undefined) throw refused("its authority is not host[:port]");
  const host = normalizeHost(rawHost);
  const defaultPort = scheme.toLowerCase() === "https" ? 443 : 80;
  const port = rawPort === undefined ? defaultPort : readPort(rawPort);
  const url = new URL(input);
  url.hostname = host;
  url.hash = "";
  return { url: url.href, host, port };
}

function readPort(digits: string): number {
  const port = Number(digits);
  if (digits === "" || digits.startsWith("0") || port > PORT_MAX)
    throw refused("its port is not a number from 1 to 65535");
  return port;
}

function refused(why: string): ConsentError {
  return new ConsentError("host_invalid", `Cannot read a URL: ${why}`);
}
