/**
 * OpenClaw user: where S1 §7.2 keeps what ACP reads for an agent of a system user: in that user's
 * home. There it is the agent's neighbour, so it is read only while the agent can neither change
 * nor replace it: every directory on the way is root's, and where others may write in one of them,
 * it is sticky, so that nobody but root moves what root has there.
 */
import type { Stats } from "node:fs";
import { lstat, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ConsentError, quoteText } from "@acp/core";

/** Where it is. */
export interface OpenClawLocations {
  /** `/home/<user>/.acp`: the home of ACP. */
  readonly dir: string;
  readonly configPath: string;
  readonly policyPath: string;
  readonly auditPath: string;
}

const USER = /^[A-Za-z_][A-Za-z0-9_.-]{0,31}$/u;
const OTHERS_WRITE = 0o022;
const STICKY = 0o1000;
const OTHERS_ANYTHING = 0o077;

/**
 * Finds the locations and checks them.
 *
 * @param user - The agent's system user.
 * @param homes - The directory of all homes; `/home` unless given.
 * @throws ConsentError `options_invalid` for what is no user's name, `home_invalid` with the fix
 *   where the agent could change or replace something.
 */
export async function findOpenClawLocations(
  user: string,
  homes = "/home",
): Promise<OpenClawLocations> {
  if (!USER.test(user))
    throw new ConsentError(
      "options_invalid",
      `Cannot take ${quoteText(user)} for a user: it is not the name of one`,
    );
  await find(homes);
  const home = join(await realpath(homes), user);
  const dir = join(home, ".acp");
  const locations = {
    dir,
    configPath: join(dir, "config.yml"),
    policyPath: join(dir, "policy.yml"),
    auditPath: join(dir, "audit.jsonl"),
  };
  // From the root down: what lies in a directory that can be replaced says nothing.
  for (const path of ancestorsOf(home))
    checkDirectory(
      path,
      await find(path),
      `chown root ${quoteText(path)}; chmod go-w ${quoteText(path)}`,
    );
  checkDirectory(
    home,
    await find(home),
    `chown root ${quoteText(home)}; chmod 1770 ${quoteText(home)} (its group is still the user's)`,
  );
  checkOwn(dir, await find(dir));
  for (const path of [locations.configPath, locations.policyPath, locations.auditPath]) {
    const found = await find(path, true);
    if (found !== undefined) checkFile(path, found);
  }
  return locations;
}

function find(path: string): Promise<Stats>;
function find(path: string, isOptional: true): Promise<Stats | undefined>;
async function find(path: string, isOptional = false): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (isMissing && isOptional) return undefined;
    const why = error instanceof Error ? error.message : String(error);
    throw refused(
      path,
      isMissing ? `it does not exist; as root run: acp init --home ${quoteText(path)}` : why,
      error,
    );
  }
}

/** A directory above: others may write in it where only root can move what root has there. */
function checkDirectory(path: string, found: Stats, fix: string): void {
  if (!found.isDirectory()) throw refused(path, "it is not a directory");
  if (found.uid !== 0)
    throw refused(
      path,
      `it belongs to user ${found.uid}, who can replace what is in it; run: ${fix}`,
    );
  if ((found.mode & OTHERS_WRITE) !== 0 && (found.mode & STICKY) === 0)
    throw refused(path, `others can replace what is in it; run: ${fix}`);
}

/** The directory of ACP itself: tokens and keys lie in it. */
function checkOwn(path: string, found: Stats): void {
  const fix = `run: chown -R root:root ${quoteText(path)}; chmod 700 ${quoteText(path)}`;
  if (!found.isDirectory()) throw refused(path, "it is not a directory");
  if (found.uid !== 0)
    throw refused(path, `it belongs to user ${found.uid}; look at what is in it, then ${fix}`);
  if ((found.mode & OTHERS_ANYTHING) !== 0) throw refused(path, `other users can enter it; ${fix}`);
}

function checkFile(path: string, found: Stats): void {
  const fix = `look at what is in it, then run: chown root:root ${quoteText(path)}; chmod 600 ${quoteText(path)}`;
  if (!found.isFile()) throw refused(path, "it is not a file");
  if (found.uid !== 0) throw refused(path, `it belongs to user ${found.uid}; ${fix}`);
  if ((found.mode & OTHERS_WRITE) !== 0) throw refused(path, `other users can write to it; ${fix}`);
}

/** From the root down, without the path itself. */
function ancestorsOf(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [] : [...ancestorsOf(parent), parent];
}

function refused(path: string, why: string, cause?: unknown): ConsentError {
  return new ConsentError(
    "home_invalid",
    `Cannot read ${quoteText(path)} for an agent's user: ${why}`,
    { cause },
  );
}
