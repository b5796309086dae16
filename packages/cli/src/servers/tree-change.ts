/**
 * Tree change: what differs between two trees of packages, and how a person is told. Pure.
 */
import type { LockedPackage, Lockfile } from "./lockfile.js";
import type { PackageSpec } from "./npx-command.js";

/** A package that is in one of them only, or differs. */
export interface PackageChange {
  readonly path: string;
  readonly before: LockedPackage | undefined;
  readonly after: LockedPackage | undefined;
}

/** A change that somebody has to agree to. */
export interface TreeChange {
  /** Of the server. */
  readonly name: string;
  readonly packages: readonly PackageSpec[];
  /** Digest of the new lockfile: what is installed after a yes. */
  readonly lockfile: string;
  readonly changes: readonly PackageChange[];
}

/** Changes that are listed to a person one by one. */
const LISTED_MAX = 200;

/** What differs, by path. */
export function compareTrees(before: Lockfile, after: Lockfile): readonly PackageChange[] {
  const [old, young] = [byPath(before), byPath(after)];
  const paths = [...new Set([...old.keys(), ...young.keys()])].toSorted();
  return paths.flatMap((path) => {
    const [one, other] = [old.get(path), young.get(path)];
    const isSame =
      one !== undefined &&
      other !== undefined &&
      one.name === other.name &&
      one.version === other.version;
    return isSame && one.integrity === other.integrity && one.hasScripts === other.hasScripts
      ? []
      : [{ path, before: one, after: other }];
  });
}

/** One line a change, as text for a person. */
export function describeChanges(changes: readonly PackageChange[]): readonly string[] {
  const lines = changes.slice(0, LISTED_MAX).map(describe);
  return changes.length > LISTED_MAX
    ? [...lines, `and ${changes.length - LISTED_MAX} more`]
    : lines;
}

/** `name@wanted`. */
export function showSpec({ name, wanted }: PackageSpec): string {
  return `${name}@${wanted}`;
}

function describe({ path, before, after }: PackageChange): string {
  const place = placeOf(path, after ?? before);
  if (after === undefined) return `removed ${place} ${before?.version ?? ""}`;
  const scripts = after.hasScripts ? ", runs a program when it is installed" : "";
  if (before === undefined) return `added ${place} ${after.version}${scripts}`;
  const version =
    before.version === after.version
      ? `${after.version} with other bytes`
      : `${before.version} → ${after.version}`;
  return `changed ${place} ${version}${scripts}`;
}

/** A name alone where it says enough. */
function placeOf(path: string, found: LockedPackage | undefined): string {
  const name = found?.name ?? path;
  return path === `node_modules/${name}` ? name : `${name} (${path})`;
}

function byPath({ packages }: Lockfile): ReadonlyMap<string, LockedPackage> {
  return new Map(packages.map((each) => [each.path, each]));
}
