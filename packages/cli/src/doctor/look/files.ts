/**
 * Examination of the home's files: owner, mode, kind, second names, and what killed processes left.
 */
import type { Stats } from "node:fs";
import { chmod, lstat, readdir, readlink, unlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { quoteText } from "@acp/core";
import { isLogName } from "../../logs/log-files.js";
import type { DoctorContext } from "../context.js";
import type { Examination } from "../examination.js";
import { makeFound, shellWord } from "../finding.js";
import type { Found, Mend } from "../finding.js";
import { quarantinePath } from "../mend/set-aside.js";
import { octal } from "./home.js";

/** The files of the home. */
export const filesExamination: Examination = {
  id: "files",
  looksAt: "Files and folders are yours, private, and no links",
  look,
};

/** What servers and reviews keep is theirs: its modes mean something to them. */
const NOT_OURS: ReadonlySet<string> = new Set(["servers", "reviews", "agents"]);
const FILES_MAX = 20_000;
const TEMPORARY = /^\..+\.\d+\.[0-9a-f]{12}\.tmp$/;
/** A process that writes needs milliseconds. */
const TEMPORARY_AGE_MS: number = 60 * 60 * 1_000;
/** Read by whoever may enter the home; nobody but the owner may. */
const PLAIN: ReadonlySet<string> = new Set(["config.yml", "policy.yml", "public.key"]);
const LOG = /^audit(?:\.\d{1,4})?\.jsonl$/;
const FILE_NAME = /\.(?:yml|json|jsonl|key|checkpoints|seams|index|lookup|log|fault)$/;
const FOLDERS: ReadonlySet<string> = new Set(["keys", "pending", "policies", "quarantined", "run"]);
/** What a person or another system takes for a log, and no gate does. */
const LIKE_LOG = /^audit(?:\.\d+)?\.jsonl\s*$/i;

async function look(context: DoctorContext): Promise<readonly Found[]> {
  const found: Found[] = [];
  let files = 0;
  const walk = async (dir: string, depth: number): Promise<void> => {
    for (const name of (await readdir(dir)).toSorted()) {
      if ((files += 1) > FILES_MAX) return;
      const path = join(dir, name);
      const stats = await lstat(path).catch(() => undefined);
      if (stats === undefined) continue; // it went away meanwhile
      const all = await findingsOf(path, stats, context.nowMs);
      // What was set aside may be anything.
      const isAside = dir.startsWith(quarantinePath(context.home));
      found.push(...all.filter(({ finding }) => !isAside || finding.code !== "file_not_file"));
      const isOurs = depth > 0 || !NOT_OURS.has(name);
      if (stats.isDirectory() && isOurs && depth < 3 && (stats.mode & 0o500) === 0o500)
        await walk(path, depth + 1);
    }
  };
  await walk(context.home.dir, 0);
  return found;
}

async function findingsOf(path: string, stats: Stats, nowMs: number): Promise<readonly Found[]> {
  const name = basename(path);
  const uid = process.getuid?.();
  if (stats.isSymbolicLink()) return await linkFound(path);
  if (stats.isSocket()) return [];
  if (stats.uid !== uid) {
    const command = `sudo chown ${uid} PATH`;
    return [makeFound("file_foreign", { path, command, found: `It belongs to uid ${stats.uid}` })];
  }
  if (stats.isDirectory()) return folderFound(path, stats);
  if (!stats.isFile())
    return [makeFound("file_not_file", { path, found: "It is neither a file nor a folder" })];
  if (FOLDERS.has(name))
    return [makeFound("file_not_file", { path, found: "It is a file, and should be a folder" })];
  if (TEMPORARY.test(name) && nowMs - stats.mtimeMs > TEMPORARY_AGE_MS) return [leftOver(path)];
  return [...modeFound(path, stats), ...secondName(path, stats), ...misnamed(path)];
}

async function linkFound(path: string): Promise<readonly Found[]> {
  const target = await readlink(path).catch(() => "?");
  const command = `cp --remove-destination ${shellWord(target)} PATH`;
  return [makeFound("file_link", { path, command, found: `It is a link to ${target}` })];
}

function folderFound(path: string, { mode }: Stats): readonly Found[] {
  if (FILE_NAME.test(basename(path)))
    return [makeFound("file_not_file", { path, found: "It is a folder" })];
  if ((mode & 0o077) === 0 && (mode & 0o700) === 0o700) return [];
  const found = `Its mode is ${octal(mode)}, and should be 700`;
  return [makeFound("folder_open", { path, found, mend: changeMode(path, 0o700) })];
}

function modeFound(path: string, { mode }: Stats): readonly Found[] {
  const found = `Its mode is ${octal(mode)}, and should be 600`;
  const mend = changeMode(path, 0o600);
  if ((mode & 0o400) === 0) return [makeFound("file_unreadable", { path, found, mend })];
  if ((mode & 0o077) === 0) return [];
  const isRead = PLAIN.has(basename(path)) && (mode & 0o022) === 0;
  return [makeFound(isRead ? "file_readable" : "file_open", { path, found, mend })];
}

function secondName(path: string, { nlink }: Stats): readonly Found[] {
  if (nlink < 2 || !LOG.test(basename(path))) return [];
  return [makeFound("file_second_name", { path, found: `It has ${nlink} names (hard links)` })];
}

function misnamed(path: string): readonly Found[] {
  const name = basename(path);
  if (!LIKE_LOG.test(name) || isLogName(name)) return [];
  return [makeFound("log_misnamed", { path, found: `Its name is ${quoteText(name)}` })];
}

function changeMode(path: string, mode: number): Mend {
  return {
    what: `run chmod ${octal(mode)} ${path}`,
    note: "after",
    async run() {
      // Looked at again: a link that was put there meanwhile would lead elsewhere.
      if ((await lstat(path)).isSymbolicLink()) throw new Error(`${path} is a link now`);
      await chmod(path, mode);
      return `Only you may use ${path}`;
    },
  };
}

function leftOver(path: string): Found {
  return makeFound("temporary_left", {
    path,
    found: "A file that was being written is left over",
    mend: {
      what: `remove ${path}`,
      note: "after",
      async run() {
        await unlink(path);
        return `Removed ${path}`;
      },
    },
  });
}
