/**
 * Newer: which of two releases of ACP serves a home. Only an older one gives way, so that two
 * installations never flip each other. Imports nothing: a client must start fast.
 * Format: spec/resident.md §8.
 */

/** What a side was loaded from. */
export interface Release {
  /** As the package says it, such as `1.4.0`. */
  readonly version: string;
  /** Of its files; see buildOf(). */
  readonly build: string;
}

/** A version: three numbers, and what stands before a release, after a hyphen. */
const VERSION =
  /^(?<main>\d{1,9}\.\d{1,9}\.\d{1,9})(?:-(?<pre>[0-9A-Za-z.-]{1,64}))?(?:\+[0-9A-Za-z.-]{1,64})?$/u;

type Part = number | string;

/** Whether one version is newer, by the rules of semver.org §11. What is no version is not. */
export function isNewer(one: string, other: string): boolean {
  const [first, second] = [partsOf(one), partsOf(other)];
  if (first === undefined) return false;
  // Before this protocol residents named no version.
  if (second === undefined) return other === "";
  const main = compare(first.main, second.main);
  if (main !== 0) return main > 0;
  if (first.pre.length === 0 || second.pre.length === 0)
    return first.pre.length === 0 && second.pre.length > 0;
  return compare(first.pre, second.pre) > 0;
}

/**
 * Whether a resident gives way to a release that asks it to: to a newer one, and to another build of
 * its version if its own files are not what it was loaded from any more.
 *
 * @param isCurrent - Whether the resident's files are still those that it was loaded from, as it
 *   finds by itself.
 */
export function givesWay(own: Release, asking: Release, isCurrent: boolean): boolean {
  if (isNewer(asking.version, own.version)) return true;
  return !isCurrent && asking.version === own.version && asking.build !== own.build;
}

function partsOf(
  version: string,
): { readonly main: readonly Part[]; readonly pre: readonly Part[] } | undefined {
  const { main, pre } = VERSION.exec(version)?.groups ?? {};
  if (main === undefined) return undefined;
  return { main: main.split(".").map(Number), pre: pre?.split(".").map(toPart) ?? [] };
}

const toPart = (text: string): Part => (/^\d+$/u.test(text) ? Number(text) : text);

/** Numbers are below words, and a beginning is below what goes on. */
function compare(one: readonly Part[], other: readonly Part[]): number {
  for (const [at, part] of one.entries()) {
    const against = other[at];
    if (against === undefined) return 1;
    if (part === against) continue;
    if (typeof part !== typeof against) return typeof part === "number" ? -1 : 1;
    return part > against ? 1 : -1;
  }
  return one.length - other.length;
}
