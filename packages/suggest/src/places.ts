/**
 * Places: what the paths of several calls have in common, as a path pattern. Lexical, like the
 * patterns themselves (policy/path.ts). Pure.
 */
import type { PathOrigins } from "@acp/core/policy";
import { normalizePath } from "@acp/core/unstable";
import type { Segments } from "@acp/core/unstable";

/** Where a path lies: from the root, or from the working directory of whoever judges it. */
export interface Place {
  readonly base: "/" | ".";
  readonly segments: Segments;
}

/** What several places have in common. */
export interface CommonPlace {
  readonly base: Place["base"];
  /** The directory. */
  readonly segments: Segments;
  /** Whether all of them lie directly in it. */
  readonly isFlat: boolean;
  /** The extension that all of their names have, with its dot, or empty. */
  readonly extension: string;
}

/**
 * A pattern over everything below a directory that is no deeper would open a machine, not a
 * project.
 */
const DEPTH_MIN = 2;
const EXTENSION = /[^.](\.[A-Za-z0-9]{1,10})$/;
const UP = /(?:^|\/)\.\.(?:\/|$)/;

/** The place that a text names; `undefined` where it names none for certain. */
export function placeOf(text: string, { home }: PathOrigins): Place | undefined {
  const origins = home === undefined ? {} : { home };
  if (text.startsWith("/") || text.startsWith("~")) return at("/", normalizePath(text, origins));
  // Where it goes up, only the working directory says where it ends.
  return UP.test(text) ? undefined : at(".", normalizePath(text, { cwd: "/" }));
}

const at = (base: Place["base"], segments: Segments | undefined): Place | undefined =>
  segments === undefined ? undefined : { base, segments };

/**
 * What the places have in common; `undefined` where there are none, or some are from the root and
 * some are not.
 */
export function commonPlace(places: readonly Place[]): CommonPlace | undefined {
  const [first, ...more] = places;
  if (first === undefined || more.some(({ base }) => base !== first.base)) return undefined;
  let length = first.segments.length;
  for (const { segments } of more) {
    let same = 0;
    while (same < length && segments[same] === first.segments[same]) same++;
    length = same;
  }
  const extensions = new Set(
    places.map(({ segments }) => EXTENSION.exec(segments.at(-1) ?? "")?.[1] ?? ""),
  );
  return {
    base: first.base,
    segments: first.segments.slice(0, length),
    isFlat: places.every(({ segments }) => segments.length === length + 1),
    extension: extensions.size === 1 ? ([...extensions][0] ?? "") : "",
  };
}

/**
 * Whether a rule may open the place: not the root, not the home and what is above it, nothing that
 * holds a whole machine.
 */
export function isBounded(
  { base, segments, isFlat, extension }: CommonPlace,
  { home }: PathOrigins,
): boolean {
  if (base === ".") return segments.length > 0 || (isFlat && extension !== "");
  if (segments.length < DEPTH_MIN) return false;
  const above = home === undefined ? [] : (normalizePath(home, {}) ?? []);
  return (
    above.length < segments.length || segments.some((segment, index) => segment !== above[index])
  );
}

/**
 * The directory as a pattern writes it, without a last slash; `undefined` where a name in it would
 * be read as a pattern.
 */
export function directoryText(
  { base, segments }: Place | CommonPlace,
  { home }: PathOrigins,
): string | undefined {
  if (segments.some((segment) => /[*?]/.test(segment))) return undefined;
  if (base === ".") return segments.join("/");
  const above = home === undefined ? undefined : normalizePath(home, {});
  const isBelowHome =
    above !== undefined &&
    above.length > 0 &&
    above.every((segment, index) => segments[index] === segment);
  return isBelowHome ? ["~", ...segments.slice(above.length)].join("/") : `/${segments.join("/")}`;
}

/** The path pattern over a place. */
export function placePattern(place: CommonPlace, origins: PathOrigins): string | undefined {
  const directory = directoryText(place, origins);
  if (directory === undefined) return undefined;
  const rest = place.isFlat
    ? `*${place.extension}`
    : place.extension === ""
      ? "**"
      : `**/*${place.extension}`;
  return directory === "" || directory === "/" ? `${directory}${rest}` : `${directory}/${rest}`;
}

/** The place in words. */
export function placeText(place: CommonPlace, directory: string): string {
  const where =
    directory === ""
      ? "directly in the working directory"
      : `${place.isFlat ? "directly in" : "anywhere below"} ${directory}`;
  return `every path ${where}${place.extension === "" ? "" : ` whose name ends in ${place.extension}`}`;
}
