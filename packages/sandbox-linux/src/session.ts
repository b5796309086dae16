/**
 * Sessions: one directory an agent, with what the agent may read (`inside/`) and a record of what
 * to clean up when its manager is gone. The directory's name says which process made it, so that a
 * session is known to be left over before anything in it is read.
 */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  stat,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ConsentError } from "@acp/core";
import type { LinuxSandboxName, Session, SessionRecord } from "./parts.js";
import { isProcessGone, ownProcessName } from "./process-name.js";
import { markProcess, processesNaming, signalProcess } from "./process-tree.js";
import { removeTree } from "./remove-tree.js";
import { removeCgroup } from "./resource-caps.js";

/** How to open a session. */
export interface SessionOptions {
  readonly sandbox: LinuxSandboxName;
  /** Files to show to the agent: name → path on the host. */
  readonly files?: Readonly<Record<string, string>>;
  /** The directory of all sessions; the place of this user unless given. */
  readonly base?: string;
}

/** How to clean up. */
export interface SweepOptions {
  readonly base?: string;
  /**
   * Takes back what only one backend can, such as a table of nftables; a session for which it says
   * false stays for a later sweep.
   */
  readonly release?: (record: SessionRecord) => Promise<boolean>;
}

const RECORD = "session.json";
const OWN_FILES = fileURLToPath(new URL("../inside/", import.meta.url));
const ID = /^(?<manager>\d+-\d+-\d+)-[0-9a-f]{8}$/u;
const FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/u;

/**
 * Makes the directory of one agent.
 *
 * @throws ConsentError `sandbox_failed` where the place is not safe or cannot be written,
 *   `options_invalid` for a bad file name.
 */
export async function openSession({ sandbox, files = {}, base }: SessionOptions): Promise<Session> {
  const place = base ?? sessionsDirectory();
  await prepareBase(place);
  const id = makeSessionId();
  const directory = join(place, id);
  const inside = join(directory, "inside");
  const dispose = (): Promise<void> => removeTree(directory);
  let record: SessionRecord = { sandbox, cgroups: [] };
  try {
    await mkdir(directory, { mode: 0o711 });
    await mkdir(inside);
    await writeRecord(directory, record);
    await copyInside(inside, files);
    await Promise.all([chmod(directory, 0o711), chmod(inside, 0o755)]); // whatever the umask was
  } catch (error) {
    await dispose();
    throw error instanceof ConsentError
      ? error
      : failed(`Cannot open a sandbox session in "${place}": ${causeText(error)}`, error);
  }
  return {
    id,
    directory,
    inside,
    record: async (more) => {
      record = { ...record, ...more };
      await writeRecord(directory, record);
    },
    [Symbol.asyncDispose]: dispose,
  };
}

/**
 * Cleans up after managers that are gone. Resolves to the ids of the sessions that it removed; what
 * cannot be removed stays for the next sweep.
 */
export async function sweepSessions({
  base = sessionsDirectory(),
  release,
}: SweepOptions = {}): Promise<readonly string[]> {
  const names = await readdir(base).catch(() => []);
  const swept: string[] = [];
  for (const name of names) {
    const directory = join(base, name);
    if (!isLeftOver(name) || !(await isOurs(directory))) continue;
    killNamed(name);
    if (!(await cleanUp(directory, release))) continue;
    const isRemoved = await removeTree(directory).then(
      () => true,
      () => false, // whatever an agent made of it is no reason for the next one not to start
    );
    if (isRemoved) swept.push(name);
  }
  return swept;
}

/** Where this user's sessions are. */
export function sessionsDirectory(): string {
  if (process.getuid?.() === 0) return "/run/acp-sandbox";
  const runtime = process.env["XDG_RUNTIME_DIR"];
  if (runtime !== undefined && runtime.startsWith("/")) return join(runtime, "acp-sandbox");
  return join(tmpdir(), `acp-sandbox-${process.getuid?.()}`);
}

function makeSessionId(): string {
  return `${ownProcessName()}-${randomBytes(4).toString("hex")}`;
}

/** Sessions of another pid namespace are left alone. */
function isLeftOver(id: string): boolean {
  const manager = ID.exec(id)?.groups?.["manager"];
  return manager !== undefined && isProcessGone(manager);
}

/**
 * Makes the directory of all sessions. One that somebody else could have put there, or could
 * replace, would let them choose what we run and delete.
 *
 * @throws ConsentError `sandbox_failed` for such a one.
 */
export async function prepareBase(base: string): Promise<void> {
  try {
    await mkdir(base, { mode: 0o711 });
    await chmod(base, 0o711); // whatever the umask was
  } catch (error) {
    if (!hasErrno(error, "EEXIST"))
      throw failed(
        `Cannot make the directory "${base}" of sandbox sessions: ${causeText(error)}`,
        error,
      );
  }
  const parent = await stat(dirname(base));
  const isParentSafe = (parent.mode & 0o022) === 0 || (parent.mode & 0o1000) !== 0;
  if (!(await isOurs(base)) || !isParentSafe) {
    throw failed(
      `Cannot use "${base}" for sandbox sessions: it is not a directory of this user alone`,
    );
  }
}

async function isOurs(directory: string): Promise<boolean> {
  const found = await lstat(directory).catch(() => undefined);
  return (
    found !== undefined &&
    found.isDirectory() &&
    found.uid === process.getuid?.() &&
    (found.mode & 0o022) === 0
  );
}

async function copyInside(inside: string, files: Readonly<Record<string, string>>): Promise<void> {
  const own = await readdir(OWN_FILES);
  for (const name of own) await copyAs(modeOfOwn(name), join(OWN_FILES, name), join(inside, name));
  for (const [name, path] of Object.entries(files)) {
    if (!FILE_NAME.test(name) || own.includes(name)) {
      throw new ConsentError(
        "options_invalid",
        `Cannot show the file "${name}" to an agent: not a file name, or one of the sandbox's own`,
      );
    }
    await copyAs(((await stat(path)).mode & 0o100) === 0 ? 0o644 : 0o755, path, join(inside, name));
  }
}

/**
 * Our programs have no suffix. The mode of their files says nothing: `pnpm pack` keeps it for a
 * package's `bin` alone.
 */
const modeOfOwn = (name: string): number => (name.includes(".") ? 0o644 : 0o755);

async function copyAs(mode: number, from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_EXCL);
  await chmod(to, mode);
}

/** Durable when it resolves: after a crash there is the old record or the new one, whole. */
async function writeRecord(directory: string, record: SessionRecord): Promise<void> {
  const temporary = join(directory, `.${RECORD}`);
  {
    await using handle = await open(temporary, "w", 0o600);
    await handle.writeFile(`${JSON.stringify(record)}\n`);
    await handle.sync();
  }
  await rename(temporary, join(directory, RECORD));
  await using parent = await open(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  await parent.sync();
}

/**
 * What was started with the session's name in its command line and did not die with its manager.
 */
function killNamed(id: string): void {
  for (const pid of processesNaming(id)) {
    const mark = markProcess(pid);
    if (mark !== undefined) signalProcess(mark, "SIGKILL");
  }
}

/** Whether everything that the record names is gone. Without a record nothing was made yet. */
async function cleanUp(directory: string, release: SweepOptions["release"]): Promise<boolean> {
  let record: SessionRecord;
  try {
    const text = await readFile(join(directory, RECORD), "utf8");
    record = parseRecord(text);
  } catch (error) {
    return hasErrno(error, "ENOENT");
  }
  const removed = await Promise.all(record.cgroups.map((path) => removeCgroup(path)));
  if (removed.includes(false)) return false;
  return record.nftTable === undefined || ((await release?.(record)) ?? false);
}

/**
 * Our own file, in a directory that only we can write; read with care all the same, since paths in
 * it are deleted.
 */
function parseRecord(text: string): SessionRecord {
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null || !("cgroups" in value) || !("sandbox" in value))
    throw new TypeError("not a record");
  const { cgroups, sandbox } = value;
  const isList = Array.isArray(cgroups) && cgroups.every((each) => typeof each === "string");
  if (!isList || !isSandboxName(sandbox)) throw new TypeError("not a record");
  const nftTable =
    "nftTable" in value && typeof value.nftTable === "string" ? { nftTable: value.nftTable } : {};
  return { sandbox, cgroups, ...nftTable };
}

function isSandboxName(value: unknown): value is LinuxSandboxName {
  return ["namespace", "uid", "landlock", "preload", "env"].includes(basename(String(value)));
}

function failed(text: string, cause?: unknown): ConsentError {
  return new ConsentError("sandbox_failed", text, { cause });
}

function hasErrno(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

function causeText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
