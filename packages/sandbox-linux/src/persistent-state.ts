/**
 * Persistent state: what can be said of a place that nothing holds. Its change times are the
 * kernel's, which no agent sets.
 */
import { randomUUID } from "node:crypto";
import { type BigIntStats, lstatSync, opendirSync } from "node:fs";
import { join } from "node:path";

/** A folder of settings has some dozens. */
const ENTRIES_MAX = 2_000;

/**
 * Whether a file of a place has further names: a mount holds one name, and who has another writes
 * the same file. A place too large to be looked at is taken for one that has none, since it is held
 * as well as others are.
 */
export function hasOtherNames(place: string): boolean {
  return filesOf(place).some((found) => !found.isDirectory() && found.nlink > 1n);
}

/**
 * A text that differs after each change of a place or of something in it. If there is too much in
 * it to look at, the text is a new one each time.
 */
export function stateOf(place: string): string {
  const all = filesOf(place);
  if (all.length > ENTRIES_MAX) return `state:${randomUUID()}`;
  const last = all.reduce((most, { ctimeNs }) => (ctimeNs > most ? ctimeNs : most), 0n);
  const [top] = all;
  return top === undefined
    ? "state:none"
    : `state:${top.dev}:${top.ino}:${top.birthtimeNs}:${all.length}:${last}`;
}

/** The place and all in it, one more than are counted at most. */
function filesOf(place: string): readonly BigIntStats[] {
  const found: BigIntStats[] = [];
  const open = [place];
  for (const path of open) {
    const stats = look(path);
    if (stats === undefined) continue;
    found.push(stats);
    if (found.length > ENTRIES_MAX) break;
    if (stats.isDirectory())
      open.push(...namesIn(path, ENTRIES_MAX).map((name) => join(path, name)));
  }
  return found;
}

function look(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function namesIn(path: string, most: number): readonly string[] {
  const names: string[] = [];
  try {
    const open = opendirSync(path);
    try {
      for (
        let entry = open.readSync();
        entry !== null && names.length <= most;
        entry = open.readSync()
      )
        names.push(entry.name);
    } finally {
      open.closeSync();
    }
  } catch {
    // gone, or closed to us: what cannot be listed cannot be compared, and its own change time says
    // whether it was touched
  }
  return names;
}
