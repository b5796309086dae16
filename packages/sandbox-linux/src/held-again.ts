/**
 * Held again: what becomes of a held file that somebody outside has replaced, while every process
 * of the sandbox is stopped. The new one is judged by what it says, since an agent may have written
 * it, and a copy that nobody inside has ever had in their hands takes its place.
 */
import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  futimesSync,
  lstatSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname } from "node:path";
import { addsNoProgram } from "./git-config-change.js";
import { openPath } from "./places.js";
import { runTool } from "./tools.js";

/** A name that is watched. */
export interface WatchedName {
  readonly path: string;
  /**
   * What the file held when it was last known to be a person's; left out for a folder, and for a
   * file that is too large.
   */
  readonly text?: string;
}

/** What has to have a name inside, or why the sandbox has to end. */
export type Settled =
  | { readonly state: "gone" }
  | There
  /** It has changed meanwhile. */
  | { readonly state: "again" }
  | { readonly state: "unsure"; readonly why: string };

interface There {
  readonly state: "there";
  readonly id: string;
  readonly key: string;
  readonly text: string;
}

/** Settings are a page or two. */
const TEXT_BYTES_MAX = 262_144;
const HELPER_MS = 5000;
/** What native/hold.c says of a file that somebody has open for writing. */
const IS_WRITTEN = 3;
const PERMISSIONS = 0o777;
const GIT_CONFIG = /^config(?:\.worktree)?$/u;

/**
 * The text of a file that is open, by its path in /proc; undefined where it is no file of ordinary
 * size, or is no text.
 */
export function textOf(fd: number): string | undefined {
  const { size } = fstatSync(fd);
  if (!fstatSync(fd).isFile() || size > TEXT_BYTES_MAX) return undefined;
  const reading = openSync(`/proc/self/fd/${fd}`, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const bytes = readFileSync(reading);
    const text = bytes.toString("utf8");
    return bytes.length <= TEXT_BYTES_MAX && Buffer.from(text).equals(bytes) ? text : undefined;
  } finally {
    closeSync(reading);
  }
}

/**
 * A text that identifies the file at a path, now and later: the file's device, inode and time of
 * creation. A link is not followed. Empty where nothing is there.
 */
export function fileKey(path: string): string {
  try {
    const { dev, ino, birthtimeNs } = lstatSync(path, { bigint: true });
    return `${dev}:${ino}:${birthtimeNs}`;
  } catch {
    return "";
  }
}

/** What is known of a name when everything inside has stopped. */
export interface Frozen {
  readonly name: WatchedName;
  /** When that was certain: nobody inside has had anything in their hands that was made later. */
  readonly atNs: bigint;
  /** Whether somebody inside may have had a hand in it before, by what was seen. */
  readonly isTouched: boolean;
  /** native/hold.c. */
  readonly helper: string;
}

/** Looks at what has the name now, and puts a copy in its place where that is needed. */
export async function settleName({ name, atNs, isTouched, helper }: Frozen): Promise<Settled> {
  const { path, text: before } = name;
  if (before === undefined) return unsure("only a text file of ordinary size can be held again");
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return { state: "gone" };
  const { fd } = openPath(path);
  try {
    const { dev, ino, birthtimeNs, nlink } = fstatSync(fd, { bigint: true });
    const text = textOf(fd);
    if (text === undefined || nlink !== 1n)
      return unsure("what is there now is not a text file of ordinary size with one name");
    const isHarmless =
      text === before ||
      (GIT_CONFIG.test(basename(path)) && addsNoProgram(before, text) && !isTouched);
    if (!isHarmless) return unsure("the agent may have written the new one before it was stopped");
    if (birthtimeNs > atNs)
      return { state: "there", id: `${dev}:${ino}`, key: `${dev}:${ino}:${birthtimeNs}`, text };
    return await copyOver({ path, fd, text, helper });
  } finally {
    closeSync(fd);
  }
}

function unsure(why: string): Settled {
  return { state: "unsure", why };
}

interface Copying {
  readonly path: string;
  /** What has the name. */
  readonly fd: number;
  readonly text: string;
  readonly helper: string;
}

/**
 * Whoever inside has opened, mapped or linked the old file has nothing of the new one. Nothing of a
 * third that takes the name meanwhile is lost.
 */
async function copyOver({ path, fd, text, helper }: Copying): Promise<Settled> {
  const folder = openPath(dirname(path)).fd;
  const spare = `.${basename(path).slice(0, 100)}.${randomBytes(8).toString("hex")}`;
  const at = (name: string): string => `/proc/self/fd/${folder}/${name}`;
  const exchange = (): ReturnType<typeof runTool> =>
    runTool([helper, "--exchange", "3", basename(path), spare], {
      descriptors: [folder],
      env: {},
      timeoutMs: HELPER_MS,
    });
  let made: Pick<There, "id" | "key"> | undefined;
  try {
    made = makeCopy(at(spare), fd, text);
    const { code, stderr, failure = stderr.trim() } = await exchange();
    if (code === IS_WRITTEN || (code !== 0 && fileKey(path) === "")) return { state: "again" };
    if (code !== 0) return unsure(failure);
    if (isOpenAt(at(spare), fd)) return { state: "there", ...made, text };
    await exchange();
    return { state: "again" };
  } finally {
    // Never a third file, which could not be given its name back.
    if (made !== undefined && (fileKey(at(spare)) === made.key || isOpenAt(at(spare), fd)))
      unlinkSync(at(spare));
    closeSync(folder);
  }
}

function makeCopy(path: string, from: number, text: string): Pick<There, "id" | "key"> {
  const { mode, uid, gid, atime, mtime } = fstatSync(from);
  const copy = openSync(
    path,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    0o600,
  );
  try {
    writeFileSync(copy, text);
    const own = fstatSync(copy);
    if (own.uid !== uid || own.gid !== gid) fchownSync(copy, uid, gid);
    fchmodSync(copy, mode & PERMISSIONS);
    futimesSync(copy, atime, mtime);
    fsyncSync(copy);
    const { dev, ino, birthtimeNs } = fstatSync(copy, { bigint: true });
    return { id: `${dev}:${ino}`, key: `${dev}:${ino}:${birthtimeNs}` };
  } finally {
    closeSync(copy);
  }
}

function isOpenAt(path: string, fd: number): boolean {
  const [now, was] = [
    lstatSync(path, { bigint: true, throwIfNoEntry: false }),
    fstatSync(fd, { bigint: true }),
  ];
  return now !== undefined && now.dev === was.dev && now.ino === was.ino;
}

/** What native/hold.c is asked of one place. */
export interface HoldOrder {
  readonly path: string;
  /** As the kernel calls it: DEVICE:INODE. */
  readonly id: string;
  /** Whether a mount is put there, or only looked for. */
  readonly isHeld: boolean;
}

/** What it said of each; a reason where it could not do its work. */
export async function holdInside(
  orders: readonly HoldOrder[],
  mounts: number,
  helper: string,
): Promise<readonly string[] | string> {
  const input = orders
    .map(({ path, id, isHeld }) => `${isHeld ? "r" : "p"}\0${id}\0${path}\0`)
    .join("");
  const { code, stdout, stderr, failure } = await runTool([helper, "--mounts", "3"], {
    descriptors: [mounts],
    input,
    env: {},
    timeoutMs: HELPER_MS,
  });
  const lines = stdout.split("\n").slice(0, -1);
  return code === 0 && lines.length === orders.length ? lines : (failure ?? stderr.trim());
}

/** What has a name now, as the kernel calls it; empty where it is not there, or behind a link. */
export function idAt(path: string): string {
  try {
    const { fd } = openPath(path);
    const { dev, ino } = fstatSync(fd, { bigint: true });
    closeSync(fd);
    return `${dev}:${ino}`;
  } catch {
    return "";
  }
}
