/**
 * Patterns: the one entry to both matchers, so that a reader of a policy can reason about it.
 * A text is a glob over a name, host or argument (glob.ts); `{ path: … }` is a glob over a path (path.ts). Format: spec/policy.md §5 and §6.
 */
import { quote } from "../quote.js";
import { compileGlob } from "./glob.js";
import type { Fold, TextTest } from "./glob.js";
import { normalizePath, parsePathPattern } from "./path.js";
import type { PathOrigins } from "./path.js";
import { invalid, readText, spotOf } from "./spot.js";
import type { Spot } from "./spot.js";

/** Longer stretches between two `*` would be searched in more than linear time. */
const STRETCH_CHARS_MAX = 128;

/** Compiles the glob at `spot`. */
export function parseGlob(spot: Spot, charsMax: number, fold?: Fold): TextTest {
  const pattern = readText(spot, charsMax);
  const stretches = pattern.split("*").slice(1, -1);
  if (stretches.some((stretch) => stretch.length > STRETCH_CHARS_MAX)) {
    throw invalid(spot, `the glob ${quote(pattern)} has more than ${STRETCH_CHARS_MAX} characters between two "*"`);
  }
  return compileGlob(pattern, fold);
}

/**
 * Whether the whole text matches a pattern as a rule that allows reads it: case counts, and a path without one certain meaning matches nothing.
 *
 * @param pattern - A glob, or `{ path }` for path semantics.
 * @param origins - What `~` and relative paths start from, in the pattern and in the text.
 * @throws ConsentError `policy_invalid` for a path pattern that does not load.
 */
export function matchGlob(pattern: string | { readonly path: string }, text: string, origins: PathOrigins = {}): boolean {
  if (typeof pattern === "string") return compileGlob(pattern)(text);
  const matches = parsePathPattern(spotOf(pattern.path, ["path"]), origins);
  const segments = normalizePath(text, origins);
  return segments !== undefined && matches(segments);
}
