/**
 * Hosts: one spelling for every host, and a refusal for what can be read in two ways. Reads no DNS.
 * Format: spec/action.md §3. Vectors: spec/vectors/hosts.json.
 */
import { ConsentError } from "../errors.js";
import { HOST_CHARS_MAX } from "../limits.js";
import { decodePunycode } from "./punycode.js";
import { quote } from "@acp/exec-safety/text";

/** Raw characters of a host: A-labels can be shorter than what maps to them. */
const INPUT_CHARS_MAX: number = HOST_CHARS_MAX * 4;
const LABEL_CHARS_MAX = 63;
/**
 * ASCII is letters, digits, `-`, `.`, `_`; beyond it everything but the C1 controls is left to UTS
 * 46.
 */
const NAME = /^[A-Za-z0-9._\-\u00a0-\uffff]+$/;
const IPV6 = /^\[[0-9A-Fa-f:.]+\]$/;
const NORMAL_NAME = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;
/** Capital sharp s: "ss" up to Unicode 15.0, "ß" from 15.1. */
const READ_IN_TWO_WAYS = /\u1e9e/;
const AUTHORITY = /^(\[[^[\]]*\]|[^:[\]]*):([1-9][0-9]{0,4})$/;
const PORT_MAX = 65_535;

/** A host and a port, as {@link parseAuthority} reads them. */
export interface Authority {
  /** Normalized host: lower case, A-labels, no trailing dot, IPv6 in brackets. */
  readonly host: string;
  /** Port number, 1 to 65535. */
  readonly port: number;
}

/**
 * The one spelling of a host: lower case, A-labels, one trailing dot removed, IPv4 as dotted quad,
 * IPv6 compressed in brackets.
 *
 * @throws ConsentError `host_invalid` for everything that a resolver, a URL parser and a person
 *   could read differently.
 */
export function normalizeHost(input: string): string {
  if (typeof input !== "string") throw refused("", "it is not a string");
  if (input.length > INPUT_CHARS_MAX)
    throw refused(input, `it has more than ${INPUT_CHARS_MAX} characters`);
  if (IPV6.test(input)) return hostnameOf(input, input);
  if (input === "") throw refused(input, "it is empty");
  if (input.startsWith("[")) throw refused(input, "brackets hold an IPv6 address without a zone");
  if (input.includes(":")) throw refused(input, "a host has no port, and IPv6 stands in brackets");
  if (!NAME.test(input) || READ_IN_TWO_WAYS.test(input))
    throw refused(input, "it has a character that no host has");
  const hostname = hostnameOf(input, input);
  const host = hostname.endsWith(".") ? hostname.slice(0, -1) : hostname;
  if (!NORMAL_NAME.test(host))
    throw refused(input, "it has an empty label or a character that no host has");
  if (host.length > HOST_CHARS_MAX)
    throw refused(input, `it has more than ${HOST_CHARS_MAX} characters`);
  if (host.split(".").some((label) => label.length > LABEL_CHARS_MAX))
    throw refused(input, `a label has more than ${LABEL_CHARS_MAX} characters`);
  if (host.includes("xn--")) checkALabels(host, input);
  return host;
}

/**
 * Reads `host:port`, as CONNECT sends it. The port is written out, without leading zeros.
 *
 * @throws ConsentError `host_invalid`.
 */
export function parseAuthority(input: string): Authority {
  const found = typeof input === "string" ? AUTHORITY.exec(input) : null;
  const [, host, digits] = found ?? [];
  if (host === undefined || digits === undefined)
    throw refused(typeof input === "string" ? input : "", "it is not host:port");
  const port = Number(digits);
  if (port > PORT_MAX) throw refused(input, `its port is above ${PORT_MAX}`);
  return { host: normalizeHost(host), port };
}

/**
 * UTS 46, IPv4 and IPv6 are read by the platform's WHATWG URL parser; its silent repairs were
 * excluded before.
 */
function hostnameOf(host: string, input: string): string {
  try {
    return new URL(`http://${host}/`).hostname;
  } catch (error) {
    throw new ConsentError(
      "host_invalid",
      `Cannot read host ${quote(input)}: it is neither a domain name nor an IP address`,
      {
        cause: error,
      },
    );
  }
}

/** An A-label counts only where encoding what it stands for gives it back. */
function checkALabels(host: string, input: string): void {
  const decoded = host
    .split(".")
    .map((label) =>
      label.startsWith("xn--") ? decodePunycode(label.slice("xn--".length)) : label,
    );
  // What is no Punycode joins as an empty label, and no host has one.
  if (hostnameOf(decoded.join("."), input) !== host)
    throw refused(input, "it has a malformed A-label");
}

function refused(input: string, why: string): ConsentError {
  return new ConsentError("host_invalid", `Cannot read host ${quote(input)}: ${why}`);
}
