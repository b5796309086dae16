/** Examination of sockets: paths that are too long, and what killed processes left. */
import { lstat, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { isRefused } from "../../gate/stale-sockets.js";
import { runDirectory } from "../../gate/run-directory.js";
import type { DoctorContext } from "../context.js";
import type { Examination } from "../examination.js";
import { makeFound } from "../finding.js";
import type { Found } from "../finding.js";

/** Sockets. */
export const socketsExamination: Examination = {
  id: "sockets",
  looksAt: "Sockets fit and belong to processes that run",
  look: async (context) => [
    ...tooLong(context.home.dir),
    ...(await runFolder(context)),
    ...(await left(context, context.home.dir, "lock_stale")),
    ...(await left(context, runDirectory(context.home.dir), "socket_stale")),
  ],
};

/** What sockets have on Linux and macOS (sun_path), the shorter of the two. */
const SOCKET_BYTES_MAX = 103;
/** The longest names that a home needs: with a pid of seven digits. */
const LONGEST_NAMES: readonly string[] = [
  "run/1234567.sock",
  "audit.64.jsonl.lock.1234567.0123abcd",
  "pending/0123abcd/writer.lock.1234567.0123abcd",
];
/** A socket this young may be between its making and its first answer. */
const YOUNG_MS = 60_000;
const LOCK = /\.lock\.\d+\.[0-9a-f]{8}$/;

/** By how many bytes the longest socket path of a home is too long; 0 where it is not. */
export function socketBytesOver(dir: string): number {
  const bytes = Math.max(...LONGEST_NAMES.map((name) => Buffer.byteLength(join(dir, name))));
  return Math.max(0, bytes - SOCKET_BYTES_MAX);
}

function tooLong(dir: string): readonly Found[] {
  const over = socketBytesOver(dir);
  if (over === 0) return [];
  const found = `Socket paths in it have up to ${SOCKET_BYTES_MAX + over} bytes, ${over} too many`;
  return [makeFound("socket_path_long", { path: dir, found })];
}

async function runFolder({ home }: DoctorContext): Promise<readonly Found[]> {
  const path = runDirectory(home.dir);
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined || stats.isDirectory()) return [];
  return [makeFound("run_folder_broken", { path, found: "It is not a folder" })];
}

async function left(
  { nowMs }: DoctorContext,
  directory: string,
  code: "lock_stale" | "socket_stale",
): Promise<readonly Found[]> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
    throw error;
  });
  const wanted = (name: string): boolean =>
    code === "lock_stale" ? LOCK.test(name) : name.endsWith(".sock");
  const found: Found[] = [];
  for (const name of names.filter(wanted)) {
    const path = join(directory, name);
    const stats = await lstat(path).catch(() => undefined);
    if (stats?.isSocket() !== true || nowMs - stats.mtimeMs < YOUNG_MS) continue;
    if (await isRefused(path)) found.push(makeStale(code, path));
  }
  return found;
}

function makeStale(code: "lock_stale" | "socket_stale", path: string): Found {
  return makeFound(code, {
    path,
    found: "Nobody listens on it",
    mend: {
      what: `remove ${path}`,
      note: "after",
      async run() {
        // Only a refused connection proves that nobody is there.
        if (!(await isRefused(path))) throw new Error(`${path} is in use again`);
        await unlink(path);
        return `Removed ${path}`;
      },
    },
  });
}
