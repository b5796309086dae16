/**
 * Staging: a home that is being made beside its place, `.acp-<8 hex>`. A note beside it,
 * `.acp-<8 hex>.json`, says what for, from before its first byte until it is in its place: so what a
 * killed process left there can be told from anything else, and nothing else is ever removed. Format:
 * spec/home.md §12.
 */
import { randomBytes } from "node:crypto";
import { lstat, readdir, rm, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isJsonObject } from "@acp/core";
import { createFileAtomic, readPrivateFile, syncDirectory } from "@acp/home";

const VERSION = "1";
const NOTE = /^(\.acp-[0-9a-f]{8})\.json$/;
const NOTE_BYTES_MAX = 65_536;

/** What a home is made for. Absolute paths. */
export interface StagingPlan {
  readonly kind: "restore" | "move";
  /** The home that goes aside. */
  readonly home: string;
  /** Where the new one belongs. */
  readonly target: string;
}

/** A home that is being made. */
export interface Staging {
  /** Its path; nothing is there yet. */
  readonly dir: string;
  /** Forgets it: it is in its place. */
  done(): Promise<void>;
  /** Removes all of it. */
  undo(): Promise<void>;
}

/**
 * Notes that a home is being made beside its place.
 *
 * @throws ConsentError `home_invalid`; nothing is there then.
 */
export async function beginStaging({ kind, home, target }: StagingPlan): Promise<Staging> {
  const dir = join(dirname(target), `.acp-${randomBytes(4).toString("hex")}`);
  const note = { version: VERSION, kind, home, target, pid: process.pid };
  await createFileAtomic(notePath(dir), `${JSON.stringify(note)}\n`);
  const done = (): Promise<void> => removeNote(dir);
  return {
    dir,
    done,
    async undo() {
      await rm(dir, { recursive: true, force: true });
      await done();
    },
  };
}

const notePath = (dir: string): string => `${dir}.json`;

async function removeNote(dir: string): Promise<void> {
  await unlink(notePath(dir)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  await syncDirectory(dirname(dir));
}

/** What a process that ended left of a home that it was making. Plain JSON data. */
export interface LeftStaging extends StagingPlan {
  /** Where it is, if it had been begun. */
  readonly dir: string;
}

/**
 * What is left beside a home of restores and moves of it whose process has ended. A note that cannot
 * be read, or whose process may still run, is passed over.
 *
 * @param besides - The folder that a plan of {@link readSwap} still needs.
 */
export async function leftStagings(
  home: string,
  besides?: string,
): Promise<readonly LeftStaging[]> {
  const parent = dirname(home);
  const names = await readdir(parent).catch(() => []);
  const left: LeftStaging[] = [];
  for (const name of names) {
    const dir = NOTE.exec(name)?.[1];
    if (dir === undefined || join(parent, dir) === besides) continue;
    const plan = await readNote(join(parent, name));
    if (plan === undefined || (plan.home !== home && plan.target !== home)) continue;
    if (!isRunning(plan.pid))
      left.push({ kind: plan.kind, home: plan.home, target: plan.target, dir: join(parent, dir) });
  }
  return left;
}

/** Whether a path has a name that only this program gives. */
export function isStagingPath(path: string): boolean {
  return NOTE.test(`${basename(path)}.json`);
}

/** Removes what is left. */
export async function removeStaging({ dir }: Pick<LeftStaging, "dir">): Promise<void> {
  const stats = await lstat(dir).catch(() => undefined);
  // A link of this name was put there by somebody else: the note alone goes.
  if (stats?.isDirectory() === true) await rm(dir, { recursive: true });
  await removeNote(dir);
}

async function readNote(
  path: string,
): Promise<(StagingPlan & { readonly pid: number }) | undefined> {
  try {
    const value: unknown = JSON.parse(await readPrivateFile(path, NOTE_BYTES_MAX));
    if (!isJsonObject(value) || value["version"] !== VERSION) return undefined;
    const { kind, home, target, pid } = value;
    return (kind === "restore" || kind === "move") &&
      typeof home === "string" &&
      typeof target === "string" &&
      typeof pid === "number" &&
      Number.isSafeInteger(pid) &&
      pid > 1
      ? { kind, home, target, pid }
      : undefined;
  } catch {
    return undefined;
  }
}

/** One of another user has the number of a process of ours: it may not be sent a signal. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}
