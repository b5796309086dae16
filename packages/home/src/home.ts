/**
 * Home: the directory that holds config, policy, logs and the approve socket. Whoever can write in it can say yes to anything, so it is
 * opened only while it is its owner's alone. Format: spec/home.md.
 */
import { lstat, mkdir, realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { quoteText } from "@acp/core";
import { createFileAtomic, syncDirectory } from "./atomic.js";
import { causeText, hasErrno, cannot } from "./errors.js";
import { type HomePaths, homePaths } from "./paths.js";
import { CONFIG_TEMPLATE, POLICY_TEMPLATE } from "./templates.js";

/** A home that was checked. */
export interface Home extends HomePaths {}

/**
 * Checks a home and gives its paths.
 *
 * @param dir - Absolute.
 * @throws ConsentError `home_invalid`, with the fix: missing, no directory, a symbolic link, another user's, open to others, or in a place
 * where anybody could replace it.
 */
export async function openHome(dir: string): Promise<Home> {
  const found = await lstat(dir).catch((error: unknown) => {
    throw cannot("open home", dir)(hasErrno(error, "ENOENT") ? "it does not exist; run: acp init" : causeText(error), error);
  });
  if (found.isSymbolicLink()) throw cannot("open home", dir)("it is a symbolic link; name the directory itself");
  if (!found.isDirectory()) throw cannot("open home", dir)("it is not a directory");
  const uid = process.getuid?.();
  if (uid === undefined) throw cannot("open home", dir)("this system has no file owners to check");
  if (found.uid !== uid) throw cannot("open home", dir)(`it belongs to user ${found.uid}, not to ${uid}`);
  if ((found.mode & 0o077) !== 0) throw cannot("open home", dir)(`others may enter it; run: chmod 700 ${quoteText(dir)}`);
  await checkAncestors(dir);
  return homePaths(dir);
}

/** A directory above that anybody may write in, without the sticky bit, lets anybody put another home in this one's place. */
async function checkAncestors(dir: string): Promise<void> {
  for (let at = dirname(await realpath(dir)); ; at = dirname(at)) {
    const { mode } = await stat(at);
    if ((mode & 0o002) !== 0 && (mode & 0o1000) === 0)
      throw cannot("open home", dir)(`anybody may replace it; run: chmod o-w ${quoteText(at)}`);
    if (at === dirname(at)) return;
  }
}

/** What {@link initHome} found and made. */
export interface InitReport {
  readonly home: Home;
  /** Paths that were made. */
  readonly created: readonly string[];
  /** Paths that existed and were left as they are. */
  readonly existing: readonly string[];
}

/**
 * Makes a home with a commented `config.yml` and `policy.yml`. Never overwrites: what exists stays.
 *
 * @param dir - Absolute.
 * @throws ConsentError `home_invalid` where the directory exists and {@link openHome} refuses it, or where it cannot be made.
 */
export async function initHome(dir: string): Promise<InitReport> {
  const made = await makeDirectory(dir);
  const home = await openHome(dir);
  const created = made ? [dir] : [];
  const existing = made ? [] : [dir];
  for (const [path, text] of [
    [home.configPath, CONFIG_TEMPLATE],
    [home.policyPath, POLICY_TEMPLATE],
  ] as const) {
    ((await createFileAtomic(path, text)) ? created : existing).push(path);
  }
  return { home, created, existing };
}

/** True where it was made, durable under its name; false where something of that name exists. */
async function makeDirectory(dir: string): Promise<boolean> {
  try {
    await mkdir(dirname(dir), { recursive: true });
    await mkdir(dir, { mode: 0o700 });
    await syncDirectory(dirname(dir));
    return true;
  } catch (error) {
    if (hasErrno(error, "EEXIST")) return false;
    throw cannot("make home", dir)(causeText(error), error);
  }
}
