/**
 * Paths: whether a path an agent names lies where a pattern says. Lexical: reads no disk, follows
 * no link. In a pattern `**` as a whole segment is any number of segments, `*` and `?` stay inside
 * one segment, everything else is itself. Format: spec/policy.md §6. Vectors:
 * spec/vectors/globs.json. Why not picomatch: docs/adr/0020-paths-without-picomatch.md.
 */
import type { JsonObject } from "../json/value.js";
import { PATH_CHARS_MAX, PATH_SEGMENT_CHARS_MAX } from "../limits.js";
import { quote } from "@acp/exec-safety/text";
import { compileGlob, hasWildcard } from "./glob.js";
import type { TextTest } from "./glob.js";
import type { Fold } from "./readings.js";
import { text as textShape } from "./shape.js";
import { invalid, readText } from "./spot.js";
import type { Spot } from "./spot.js";
import { foldGlob, joinReadings } from "./stance.js";
import type { ReadingStance } from "./stance.js";

/** Where `~` and relative paths start, in path patterns and in an agent's arguments. */
export interface PathOrigins {
  /**
   * The directory for `~`, absolute. Without it a pattern with `~` does not load, and an agent's
   * path with `~` matches no rule that allows.
   */
  readonly home?: string;
  /**
   * The directory for relative paths, absolute. Without it a relative pattern does not load, and an
   * agent's relative path matches no rule that allows.
   */
  readonly cwd?: string;
}

/** The segments of an absolute path without `.` and `..`. */
export type Segments = readonly string[];

/** Tells whether normalised segments match a pattern. */
type PathTest = (segments: Segments) => boolean;

const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:/;
const OTHER_DIALECT = /[[\]{}()|\\]|^!/;
const ANY_DEPTH = "**";
/** A pattern that needs more is hard to reason about; a policy that has more does not load. */
const STARS_MAX = 2;
/** Bounds the search for what stands between two `**`. */
const SEGMENTS_MAX = 64;

/**
 * The segments that a path means, or `undefined` where it has no single meaning: nothing, NUL, a
 * backslash, a URL, `~user`, a start that is not known, or a length beyond the limits.
 */
export function normalizePath(path: string, origins: PathOrigins): Segments | undefined {
  if (path.length > PATH_CHARS_MAX || path.includes("\0") || path.includes("\\")) return undefined;
  const found = splitOrigin(path, origins);
  if (found === undefined) return undefined;
  const { origin, rest } = found;
  const segments: string[] = [];
  for (const segment of (origin === "" ? rest : `${origin}/${rest}`).split("/")) {
    if (segment.length > PATH_SEGMENT_CHARS_MAX) return undefined;
    if (segment === "" || segment === ".") continue;
    if (segment === "..") segments.pop();
    else segments.push(segment);
  }
  return segments;
}

/** What of a path pattern a JSON Schema can say. */
export const PATH_PATTERN_SCHEMA: JsonObject = {
  ...textShape(PATH_CHARS_MAX).schema,
  not: { pattern: `${OTHER_DIALECT.source}|(?:^|/)\\.\\.(?:/|$)` },
};

/** What a path starts from (nothing, the home, the working directory) and the rest of it. */
function splitOrigin(
  path: string,
  { home, cwd }: PathOrigins,
): { readonly origin: string; readonly rest: string } | undefined {
  if (path.startsWith("/")) return { origin: "", rest: path };
  if (path === "~" || path.startsWith("~/"))
    return home === undefined ? undefined : { origin: home, rest: path.slice(1) };
  if (path === "" || path.startsWith("~") || SCHEME.test(path)) return undefined;
  return cwd === undefined ? undefined : { origin: cwd, rest: path };
}

/**
 * The segments that every path under a pattern begins with, up to the first that has a wildcard;
 * `undefined` for a pattern that does not load.
 */
export function literalStart(
  pattern: string,
  origins: PathOrigins,
): { readonly segments: Segments; readonly isWhole: boolean } | undefined {
  const parts = partsOf(pattern, origins);
  if (parts === undefined) return undefined;
  const wild = parts.own.findIndex(hasWildcard);
  return {
    segments: [...parts.start, ...(wild < 0 ? parts.own : parts.own.slice(0, wild))],
    isWhole: wild < 0,
  };
}

/** Where a pattern starts, which is a place and no pattern, and its own segments. */
function partsOf(
  pattern: string,
  origins: PathOrigins,
): { readonly start: Segments; readonly own: Segments } | undefined {
  const found = splitOrigin(pattern, origins);
  const start = found === undefined ? undefined : normalizePath(`${found.origin}/`, {});
  if (found === undefined || start === undefined) return undefined;
  return {
    start,
    own: found.rest.split("/").filter((segment) => segment !== "" && segment !== "."),
  };
}

/** What reading a path needs. */
export interface PathStance extends ReadingStance {
  readonly origins: PathOrigins;
}

/**
 * Compiles the path pattern at `spot` into a test of a path as an agent names it. A reading without
 * one certain meaning matches no allow, and every ask and deny.
 */
export function parsePathPattern(spot: Spot, stance: PathStance): TextTest {
  const pattern = readText(spot, PATH_CHARS_MAX);
  checkSyntax(spot, pattern);
  const parts = partsOf(pattern, stance.origins);
  if (parts === undefined)
    throw invalid(
      spot,
      `the path pattern ${quote(pattern)} has no certain start; ${startHint(pattern)}`,
    );
  return joinReadings(stance, (fold = asItIs) => {
    const origins = foldOrigins(stance.origins, fold);
    const start = parts.start.map(fold);
    const rest = parts.own.map((segment) => foldGlob(segment, fold));
    // The origin is a place, not a pattern: a "*" in its name is a character.
    const matches = compileSegments([
      ...start.map((segment) => (text: string) => text === segment),
      ...rest.map((segment) => (segment === ANY_DEPTH ? ANY_DEPTH : compileGlob(segment))),
    ]);
    const test = (text: string): boolean => {
      const segments = normalizePath(text, origins);
      return segments === undefined ? !stance.grants : matches(segments);
    };
    return { key: JSON.stringify([start, rest, origins]), test };
  });
}

const asItIs: Fold = (text) => text;

function foldOrigins({ home, cwd }: PathOrigins, fold: Fold): PathOrigins {
  return {
    ...(home === undefined ? {} : { home: fold(home) }),
    ...(cwd === undefined ? {} : { cwd: fold(cwd) }),
  };
}

function startHint(pattern: string): string {
  if (pattern === "~" || pattern.startsWith("~/"))
    return '"~" needs the home directory, which was not given';
  return 'write it from "/" or "~/", or give the working directory';
}

function checkSyntax(spot: Spot, pattern: string): void {
  const refused = (why: string): never => {
    throw invalid(spot, `the path pattern ${quote(pattern)} ${why}`);
  };
  if (OTHER_DIALECT.test(pattern))
    refused(
      'has more than "*", "?" and "**": brackets, braces, parentheses, "|", "\\" and a leading "!" mean nothing here',
    );
  const segments = pattern.split("/");
  if (segments.includes("..")) refused('has ".."; write the path that it means');
  if (segments.length > SEGMENTS_MAX) refused(`has more than ${SEGMENTS_MAX} slashes`);
  if (segments.filter((segment) => segment === ANY_DEPTH).length > STARS_MAX)
    refused(`has more than ${STARS_MAX} "**"`);
  for (const segment of segments) {
    if (segment === ANY_DEPTH) continue;
    if (segment.includes(ANY_DEPTH))
      refused('has a "**" that does not stand alone between slashes');
    if (segment.split("*").length - 1 > STARS_MAX)
      refused(`has a segment with more than ${STARS_MAX} "*"`);
    if (segment.length > PATH_SEGMENT_CHARS_MAX)
      refused(`has a segment of more than ${PATH_SEGMENT_CHARS_MAX} characters`);
  }
}

/**
 * The pieces between `**` are found from left to right, as in a glob: the leftmost place leaves the
 * most room for the next.
 */
function compileSegments(pattern: readonly (TextTest | typeof ANY_DEPTH)[]): PathTest {
  const pieces: TextTest[][] = [[]];
  for (const part of pattern) {
    if (part === ANY_DEPTH) pieces.push([]);
    else pieces.at(-1)?.push(part);
  }
  const [first = [], ...middle] = pieces;
  const last = middle.pop();
  if (last === undefined)
    return (segments) => segments.length === first.length && isAt(first, segments, 0);
  return (segments) => {
    const end = segments.length - last.length;
    if (!isAt(first, segments, 0) || !isAt(last, segments, end)) return false;
    let at = first.length;
    for (const piece of middle) {
      while (at + piece.length <= end && !isAt(piece, segments, at)) at++;
      at += piece.length;
    }
    return at <= end;
  };
}

function isAt(tests: readonly TextTest[], segments: Segments, from: number): boolean {
  return tests.every((test, index) => {
    const segment = segments[from + index];
    return segment !== undefined && test(segment);
  });
}
