/**
 * Paths: whether a path an agent names lies where a pattern says. Lexical: reads no disk, follows no link.
 * In a pattern `**` as a whole segment is any number of segments, `*` and `?` stay inside one segment, everything else is itself.
 * Format: spec/policy.md §6. Vectors: spec/vectors/globs.json. Why not picomatch: docs/adr/0010-path-matching.md.
 */
import { PATH_CHARS_MAX, PATH_SEGMENT_CHARS_MAX } from "../limits.js";
import { compileGlob } from "./glob.js";
import type { Fold, TextTest } from "./glob.js";
import { invalid, readText } from "./spot.js";
import type { Spot } from "./spot.js";

/** What `~` and a relative path start from: absolute paths. */
export interface PathOrigins {
  readonly home?: string;
  readonly cwd?: string;
}

/** The segments of an absolute path without `.` and `..`. */
export type Segments = readonly string[];

/** Tells whether normalised segments match a pattern. */
export type PathTest = (segments: Segments) => boolean;

const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:/;
const UNSUPPORTED = /[[\]{}()|\\]|^!/;
const STARS_MAX = 2;

/**
 * The segments that a path means, or `undefined` where it has no single meaning: NUL, a backslash, a URL, `~user`,
 * a start that is not known, or a length beyond the limits.
 */
export function normalizePath(path: string, origins: PathOrigins): Segments | undefined {
  if (path.length > PATH_CHARS_MAX || path.includes("\0") || path.includes("\\") || SCHEME.test(path)) return undefined;
  const start = startOf(path, origins);
  if (start === undefined) return undefined;
  const segments = start === "" ? [] : start.split("/").filter((segment) => segment !== "");
  const rest = path.startsWith("~") ? path.slice(1) : path;
  for (const segment of rest.split("/")) {
    if (segment.length > PATH_SEGMENT_CHARS_MAX) return undefined;
    if (segment === "" || segment === ".") continue;
    if (segment === "..") segments.pop();
    else segments.push(segment);
  }
  return segments;
}

function startOf(path: string, { home, cwd }: PathOrigins): string | undefined {
  if (path.startsWith("/")) return "";
  if (path === "~" || path.startsWith("~/")) return home;
  return path.startsWith("~") ? undefined : cwd;
}

/** Compiles the pattern at `spot`. */
export function parsePathPattern(spot: Spot, origins: PathOrigins, fold?: Fold): PathTest {
  const pattern = readText(spot, PATH_CHARS_MAX);
  checkSyntax(spot, pattern);
  const segments = normalizePath(pattern, origins);
  if (segments === undefined) throw invalid(spot, `the path pattern "${pattern}" has no certain start${startHint(pattern)}`);
  return compileSegments(segments, fold);
}

function startHint(pattern: string): string {
  if (pattern.startsWith("~/") || pattern === "~") return "; ~ needs the home directory, which was not given";
  return "; write it from / or ~/, or give the working directory";
}

function checkSyntax(spot: Spot, pattern: string): void {
  if (UNSUPPORTED.test(pattern)) throw invalid(spot, `a path pattern knows "*", "?" and "**" only, not braces, brackets, parentheses, "|", "\\" or a leading "!"`);
  const segments = pattern.split("/");
  if (segments.includes("..")) throw invalid(spot, `a path pattern has no ".."; write the path that it means`);
  if (segments.some((segment) => segment !== "**" && segment.includes("**"))) throw invalid(spot, `"**" stands alone between slashes`);
  if (segments.filter((segment) => segment === "**").length > STARS_MAX) throw invalid(spot, `a path pattern has at most ${STARS_MAX} "**"`);
  if (segments.some((segment) => segment !== "**" && segment.split("*").length - 1 > STARS_MAX)) throw invalid(spot, `a segment has at most ${STARS_MAX} "*"`);
}

/** The pieces between `**` are found from left to right, as in a glob: the leftmost place leaves the most room for the next. */
function compileSegments(pattern: Segments, fold: Fold | undefined): PathTest {
  const pieces: TextTest[][] = [[]];
  for (const segment of pattern) {
    if (segment === "**") pieces.push([]);
    else pieces.at(-1)?.push(compileGlob(segment, fold));
  }
  const [first = [], ...middle] = pieces;
  const last = middle.pop();
  if (last === undefined) return (segments) => segments.length === first.length && isAt(first, segments, 0);
  return (segments) => {
    const end = segments.length - last.length;
    if (first.length > end || !isAt(first, segments, 0) || !isAt(last, segments, end)) return false;
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
