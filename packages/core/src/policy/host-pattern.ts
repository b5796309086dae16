/**
 * Host patterns: a host, or a glob over hosts whose `*` is any text, dots included. `*.example.com` is not `example.com`.
 * A pattern is brought to the one spelling that Actions have, or it does not load. Format: spec/policy.md §5.
 */
import { normalizeHost } from "../host.js";
import { HOST_CHARS_MAX } from "../limits.js";
import { compileGlob, hasWildcard } from "./glob.js";
import type { TextTest } from "./glob.js";
import { invalid, readText } from "./spot.js";
import type { Spot } from "./spot.js";

const WILD_LABEL = /^[a-z0-9_*?-]+$/;

/** Compiles the pattern at `spot`. */
export function parseHostPattern(spot: Spot): TextTest {
  const pattern = readText(spot, HOST_CHARS_MAX);
  return compileGlob(hasWildcard(pattern) ? normalizeWild(spot, pattern) : normalizePlain(spot, pattern));
}

function normalizePlain(spot: Spot, pattern: string): string {
  try {
    return normalizeHost(pattern);
  } catch (cause) {
    throw invalid(spot, `"${pattern}" is no host; a host has no scheme, port or path`, { cause, suggestion: hostOf(pattern) });
  }
}

/** Label by label: one with a wildcard is plain ASCII, any other is spelt as in a host. */
function normalizeWild(spot: Spot, pattern: string): string {
  const labels = (pattern.length > 1 && pattern.endsWith(".") ? pattern.slice(0, -1) : pattern).split(".");
  if (pattern.endsWith(".") && hasWildcard(labels.at(-1) ?? "")) throw invalid(spot, `the host pattern "${pattern}" ends in a dot after a wildcard`);
  return labels.map((label) => normalizeLabel(spot, pattern, label)).join(".");
}

function normalizeLabel(spot: Spot, pattern: string, label: string): string {
  const lower = label.toLowerCase();
  if (hasWildcard(label)) {
    if (WILD_LABEL.test(lower)) return lower;
    throw invalid(spot, `"${pattern}" has a label that mixes a wildcard with a character outside letters, digits, "-" and "_"`, { suggestion: hostOf(pattern) });
  }
  // Digits alone would be read as an IPv4 address, although beside a wildcard they are one part of it.
  if (/^[0-9]+$/.test(label)) return label;
  return normalizePlain({ ...spot, value: label }, label);
}

function hostOf(pattern: string): string | undefined {
  const [, host] = /^(?:[a-z]+:\/\/)?([^/:@]+)(?::\d+)?(?:\/.*)?$/i.exec(pattern) ?? [];
  return host === undefined || host === pattern ? undefined : `"${host}"`;
}
