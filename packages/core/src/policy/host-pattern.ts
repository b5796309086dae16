/**
 * Host patterns: a host, or a glob over hosts whose `*` is any text, dots included. `*.example.com`
 * is not `example.com`. A pattern is brought to the one spelling that Actions have, or it does not
 * load. Format: spec/policy.md §5.
 */
import { ConsentError } from "../errors.js";
import { normalizeHost } from "../action/host.js";
import { decodePunycode } from "../action/punycode.js";
import type { JsonObject } from "../json/value.js";
import { HOST_CHARS_MAX } from "../limits.js";
import { quote } from "@acp/exec-safety/text";
import { compileGlob, hasWildcard } from "./glob.js";
import type { TextTest } from "./glob.js";
import { text } from "./shape.js";
import { invalid, readText } from "./spot.js";
import type { Spot } from "./spot.js";

const A_LABEL = "xn--";
const WILD_LABEL = /^[A-Za-z0-9_*?-]+$/;

/** What of a host pattern a JSON Schema can say: no scheme, port, path or empty label. */
export const HOST_PATTERN_SCHEMA: JsonObject = {
  ...text(HOST_CHARS_MAX).schema,
  pattern: "^(?!.*\\.\\.)(?:\\[[^\\s/@]*\\]|[^\\s/:@]+)$",
};

/**
 * Compiles the pattern at `spot`. A name has two spellings, with A-labels as it is sent and with
 * U-labels as it is read: an allow with a wildcard needs both to match, an ask or deny needs one.
 */
export function parseHostPattern(spot: Spot, { grants }: { readonly grants: boolean }): TextTest {
  const pattern = readText(spot, HOST_CHARS_MAX);
  try {
    if (!hasWildcard(pattern)) return compileGlob(normalizeHost(pattern));
    const sent = normalizeWild(pattern);
    const [isSent, isRead] = [compileGlob(sent), compileGlob(unicodeOf(sent))];
    // Whoever writes "xn--" beside a wildcard means the labels as they are sent.
    if (/xn--[^.]*[*?]/.test(sent)) return isSent;
    if (grants)
      return (host) => isSent(host) && (!host.includes(A_LABEL) || isRead(unicodeOf(host)));
    return (host) => isSent(host) || (host.includes(A_LABEL) && isRead(unicodeOf(host)));
  } catch (cause) {
    throw invalid(spot, `${quote(pattern)} is not a host; a host has no scheme, port or path`, {
      cause,
      suggestion: hostOf(pattern),
    });
  }
}

/** The labels of a host as they are read, the last one first. */
export function hostLabels(host: string): readonly string[] {
  return unicodeOf(host).split(".").toReversed();
}

/**
 * The labels that every host under a pattern ends with, as {@link hostLabels} has them;
 * `undefined` where there are none.
 *
 * @throws ConsentError `host_invalid` for a pattern that does not load.
 */
export function hostEnding(
  pattern: string,
): { readonly labels: readonly string[]; readonly isWhole: boolean } | undefined {
  if (!hasWildcard(pattern)) return { labels: hostLabels(normalizeHost(pattern)), isWhole: true };
  const labels = hostLabels(normalizeWild(pattern));
  const fixed = labels.slice(0, labels.findIndex(hasWildcard));
  return fixed.length === 0 ? undefined : { labels: fixed, isWhole: false };
}

function unicodeOf(host: string): string {
  const labels = host.split(".").map((label) => {
    return label.startsWith(A_LABEL)
      ? (decodePunycode(label.slice(A_LABEL.length)) ?? label)
      : label;
  });
  return labels.join(".");
}

/** What an allow for this pattern also lets in, if that is more than it looks like. */
export function hostPatternTrap(pattern: string): string | undefined {
  if (pattern === "*") return undefined;
  const labels = pattern.split(".");
  if (labels.at(-1)?.includes("*") === true) {
    return `${quote(pattern)} also allows ${quote(`${pattern.slice(0, pattern.lastIndexOf("*"))}x.attacker.example`)}`;
  }
  const [, rest] = /^\*+([^.].*)$/.exec(pattern) ?? [];
  return rest === undefined
    ? undefined
    : `${quote(pattern)} also allows ${quote(`attacker-${rest}`)}; "*.${rest}" is its subdomains only`;
}

/** Label by label: one with a wildcard is plain ASCII, any other is spelt as in a host. */
function normalizeWild(pattern: string): string {
  const labels = pattern.split(".");
  if (labels.at(-1) === "" && !hasWildcard(labels.at(-2) ?? "")) labels.pop();
  return labels.map(normalizeLabel).join(".");
}

function normalizeLabel(label: string): string {
  // Under another label, so that digits are not read as an IPv4 address.
  if (!hasWildcard(label)) return normalizeHost(`${label}.x`).slice(0, -2);
  if (WILD_LABEL.test(label)) return label.toLowerCase();
  throw new ConsentError(
    "host_invalid",
    `Cannot read label ${quote(label)}: beside a wildcard stand letters, digits, "-" and "_" only`,
  );
}

function hostOf(pattern: string): string | undefined {
  const [, host] = /^(?:[a-z]+:\/\/)?([^/:@]+)(?::\d+)?(?:\/.*)?$/i.exec(pattern) ?? [];
  return host === undefined || host === pattern ? undefined : `"${host}"`;
}
