/**
 * Known trials: what this host was once seen to do, so that not every start begins by finding it
 * out. It saves time and decides nothing: a start that goes wrong tries everything anew, and what
 * holds an agent is checked in each. Kept for this boot, these programs and these namespaces.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { readdir, rm, writeFile } from "node:fs/promises";
import { release } from "node:os";
import { join } from "node:path";
import { prepareBase, sessionsDirectory } from "./session.js";

/** Something that worked. */
export interface Trial {
  /** Everything that it depended on, in words. */
  readonly words: readonly string[];
  /** Paths of the programs that took part; another file of the same name is another trial. */
  readonly programs: readonly string[];
  /** The directory of all that is known; beside this user's sessions unless given. */
  readonly base?: string;
}

/** Programs change seldom, and a boot empties the usual place: more of them are old ones. */
const TRIALS_MAX = 32;
const KEY = /^[0-9a-f]{64}$/u;

/** Whether it worked here before. */
export function isKnown(trial: Trial): boolean {
  const key = keyOf(trial);
  return key !== undefined && existsSync(join(placeOf(trial), key));
}

/** Keeps that it worked. Where it cannot be kept, it is found out again. */
export async function remember(trial: Trial): Promise<void> {
  const key = keyOf(trial);
  if (key === undefined) return;
  const folder = placeOf(trial);
  try {
    await prepareBase(folder);
    const old = (await readdir(folder)).filter((name) => KEY.test(name));
    if (old.length >= TRIALS_MAX) await Promise.all(old.map((name) => rm(join(folder, name))));
    await writeFile(join(folder, key), "", { mode: 0o600 });
  } catch {
    // a start says what is wrong there: its own place is beside it
  }
}

function placeOf({ base = `${sessionsDirectory()}-known` }: Trial): string {
  return base;
}

/** `undefined` where something of it cannot be inspected. */
function keyOf({ words, programs }: Trial): string | undefined {
  try {
    const files = programs.map((path) => {
      const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
      return [path, ...[dev, ino, size, mtimeNs, ctimeNs].map(String)];
    });
    const namespaces = ["user", "mnt", "pid", "net"].map((name) =>
      readlinkSync(`/proc/self/ns/${name}`),
    );
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8");
    const parts = [words, files, namespaces, boot, release(), process.geteuid?.() ?? -1];
    return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
  } catch {
    return undefined;
  }
}
