/**
 * Patterns: the one entry to both matchers, so that a reader of a policy can reason about it. A
 * text is a glob over a name, host or argument (glob.ts); `{ path: … }` is a glob over a path
 * (path.ts). Format: spec/policy.md §5 and §6.
 */
import { quote } from "@acp/exec-safety/text";
import { compileGlob } from "./glob.js";
import type { TextTest } from "./glob.js";
import { parsePathPattern } from "./path.js";
import type { PathOrigins } from "./path.js";
import { invalid, readText, spotOf } from "./spot.js";
import type { Spot } from "./spot.js";
import { readingsOf } from "./readings.js";
import { compileStance } from "./stance.js";
import type { ReadingStance } from "./stance.js";

/** Longer stretches between two `*` would be searched in more than linear time. */
const STRETCH_CHARS_MAX = 128;

/** Compiles the glob at `spot`; without a stance, for texts that are written in one way only. */
export function parseGlob(spot: Spot, charsMax: number, stance?: ReadingStance): TextTest {
  const pattern = readText(spot, charsMax);
  const stretches = pattern.split("*").slice(1, -1);
  if (stretches.some((stretch) => stretch.length > STRETCH_CHARS_MAX)) {
    throw invalid(
      spot,
      `the glob ${quote(pattern)} has more than ${STRETCH_CHARS_MAX} characters between two "*"`,
    );
  }
  return stance === undefined ? compileGlob(pattern) : compileStance(pattern, stance);
}

/**
 * Whether the whole text matches a pattern, as a rule that allows reads it: case counts, and a text
 * without one certain reading does not match.
 *
 * @param pattern - A glob, or `{ path }` for a path pattern.
 * @param origins - Where `~` and relative paths start, in the pattern and in the text.
 * @throws ConsentError `policy_invalid` for a path pattern that does not load.
 */
export function matchGlob(
  pattern: string | { readonly path: string },
  text: string,
  origins: PathOrigins = {},
): boolean {
  return matchesAs({ grants: true, read: readingsOf }, pattern, { text, origins });
}

/**
 * As {@link matchGlob}, but as a rule that asks or denies reads the pattern: case and look-alikes
 * do not count, and a text without one certain reading matches.
 *
 * @throws ConsentError `policy_invalid` for a path pattern that does not load.
 */
export function askMatches(
  pattern: string | { readonly path: string },
  text: string,
  origins: PathOrigins = {},
): boolean {
  return matchesAs({ grants: false, read: readingsOf }, pattern, { text, origins });
}

function matchesAs(
  stance: ReadingStance,
  pattern: string | { readonly path: string },
  { text, origins }: { readonly text: string; readonly origins: PathOrigins },
): boolean {
  if (typeof pattern === "string") return compileStance(pattern, stance)(text);
  return parsePathPattern(spotOf(pattern.path, ["path"]), { ...stance, origins })(text);
}
