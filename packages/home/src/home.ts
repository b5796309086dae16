/**
 * Home: the directory that holds config, policy, logs and the approve socket. Anyone who can write
 * in it can approve anything, so it is opened only while nobody but its owner can. Format:
 * spec/home.md.
 */
import { lstat, mkdir, readFile, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { quoteText } from "@acp/core";
import { createFileAtomic, syncDirectory } from "./atomic.js";
import { causeText, hasErrno, cannot } from "./errors.js";
import { type HomePaths, homePaths, swapPath } from "./paths.js";
import { isMissing } from "./private-file.js";
import { CONFIG_TEMPLATE, POLICY_TEMPLATE } from "./templates.js";

/** The paths of a home that passed {@link openHome}'s checks. */
export interface Home extends HomePaths {}

/**
 * Checks a home and returns its paths.
 *
 * @param dir - Absolute.
 * @throws ConsentError `home_invalid`, with the fix, if the home is missing, is not a directory, is
 * a symbolic link, belongs to another user, is open to others, is in a place where anyone could
 * replace it, or has a format of a newer version.
 */
export async function openHome(dir: string): Promise<Home> {
  const found = await lstat(dir).catch(async (error: unknown) => {
    await refuseInterrupted("open home", dir);
    throw cannot("open home", dir)(
      hasErrno(error, "ENOENT") ? "it does not exist; run: acp init" : causeText(error),
      error,
    );
  });
  if (found.isSymbolicLink())
    throw cannot("open home", dir)("it is a symbolic link; name the directory itself");
  if (!found.isDirectory()) throw cannot("open home", dir)("it is not a directory");
  const uid = process.getuid?.();
  if (uid === undefined) throw cannot("open home", dir)("this system has no file owners to check");
  if (found.uid !== uid)
    throw cannot("open home", dir)(`it belongs to user ${found.uid}, not to ${uid}`);
  if ((found.mode & 0o077) !== 0)
    throw cannot("open home", dir)(`other users can enter it; run: chmod 700 ${quoteText(dir)}`);
  await checkAncestors(dir);
  await checkFormat(dir);
  return homePaths(dir);
}

/** The format of a home as this version writes it. One without the file `format` has this one. */
const FORMAT = "1";
const FORMAT_BYTES_MAX = 16;

/**
 * An older version never opens a newer home: it would take what it does not know for absent, also
 * what denies. A version that changes the format writes the file first.
 */
async function checkFormat(dir: string): Promise<void> {
  const path = join(dir, "format");
  const found = await lstat(path).catch((error: unknown) => {
    if (hasErrno(error, "ENOENT")) return undefined;
    throw cannot("open home", dir)(causeText(error), error);
  });
  if (found === undefined) return;
  const isShort = found.isFile() && found.size <= FORMAT_BYTES_MAX;
  const text = isShort ? (await readFile(path, "utf8")).trim() : "unreadable";
  if (text !== FORMAT)
    throw cannot(
      "open home",
      dir,
    )(
      `its format is ${quoteText(text)}, and this version of ACP knows ${FORMAT}; use the version of ACP that used it last, or a newer one`,
    );
}

/**
 * Refuses to take a home that a restore or move left aside for one that never was: a new one in its
 * place would have none of its denials.
 *
 * @throws ConsentError `home_invalid` if a restore or move was interrupted and the home is missing.
 */
export async function refuseInterrupted(what: string, dir: string): Promise<void> {
  if ((await isMissing(swapPath(dir))) || !(await isMissing(dir))) return;
  throw cannot(
    what,
    dir,
  )("a restore or move of it was interrupted; run: acp doctor --fix home_half_moved");
}

/**
 * A directory above that anybody may write in, without the sticky bit, lets anybody put another
 * home in this one's place.
 */
async function checkAncestors(dir: string): Promise<void> {
  for (let at = dirname(await realpath(dir)); ; at = dirname(at)) {
    const { mode } = await stat(at);
    if ((mode & 0o002) !== 0 && (mode & 0o1000) === 0)
      throw cannot("open home", dir)(`anyone can replace it; run: chmod o-w ${quoteText(at)}`);
    if (at === dirname(at)) return;
  }
}

/** What {@link initHome} created and what it found. */
export interface InitReport {
  /** Its directory and the paths in it. */
  readonly home: Home;
  /** Paths that were created. */
  readonly created: readonly string[];
  /** Paths that existed and were left as they are. */
  readonly existing: readonly string[];
}

/**
 * Creates a home with a commented `config.yml` and `policy.yml`. It overwrites nothing.
 *
 * @param dir - Absolute.
 * @throws ConsentError `home_invalid` if the directory exists and {@link openHome} refuses it, or
 * if it cannot be created.
 */
export async function initHome(dir: string): Promise<InitReport> {
  await refuseInterrupted("make home", dir);
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
