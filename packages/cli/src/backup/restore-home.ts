/**
 * Restore home: checks all of a backup, shows what would come back, and puts the restored home in
 * its place. Nothing outside a folder of its own is touched before everything was checked, and the
 * home that was there stays beside it. Format: spec/backup.md §5.
 */
import { lstat, mkdir, open, readdir, readFile, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ConsentError, isConsentError, isoTime, quoteText } from "@acp/core";
import { homePaths, openHome, syncDirectory } from "@acp/home";
import type { Unlock } from "@acp/home";
import type { Io } from "../command.js";
import { declareRestore } from "../rollback/declare-restore.js";
import { AGENT_PAUSE, CONSENT_FILES, cameBack, cameBackMetadata } from "./came-back.js";
import type { CameBack, ConsentTexts } from "./came-back.js";
import { isLogFile } from "./format.js";
import { keepClaims } from "./keep-claims.js";
import { refuseLive } from "./live.js";
import type { BackupRead, OpenBackup } from "./read-backup.js";
import { settleLogs } from "./settle-logs.js";
import { beginStaging, leftStagings, removeStaging } from "./staging.js";
import { asideName, swapHomes } from "./swap.js";

/** What is restored, and where to. */
export interface RestorePlan {
  readonly backup: OpenBackup;
  readonly unlock: Unlock;
  /** Absolute path of the home to be. */
  readonly target: string;
  /** The home that the backup is compared with. */
  readonly current: string;
  readonly hasLogs: boolean;
  readonly io: Pick<Io, "userHome">;
  readonly nowMs: number;
  readonly onProgress: (what: string, percent: number) => void;
}

/** What a backup holds, all of it checked. */
export interface Checked extends BackupRead {
  readonly back: readonly CameBack[];
  /** Whether there is a home to compare it with. */
  readonly isCompared: boolean;
}

/** Larger than any file of {@link CONSENT_FILES} that a home reads. */
const TEXT_BYTES_MAX: number = 16 * 1024 * 1024;

/**
 * Reads all of a backup and compares it with the home. Changes nothing.
 *
 * @throws ConsentError what `OpenBackup.read()` throws.
 */
export async function checkBackup(plan: RestorePlan): Promise<Checked> {
  const { backup, unlock, current, nowMs, onProgress } = plan;
  const texts: Record<string, string> = {};
  const read = await backup.read(
    unlock,
    {
      async file({ path, bytes }, contents) {
        const isNamed = CONSENT_FILES.some((name) => name === path) || AGENT_PAUSE.test(path);
        const isWanted = isNamed && bytes <= TEXT_BYTES_MAX;
        const pieces: Uint8Array[] = [];
        for await (const piece of contents) if (isWanted) pieces.push(Buffer.from(piece));
        if (isWanted) texts[path] = Buffer.concat(pieces).toString("utf8");
      },
    },
    (done) => onProgress("checking", Math.floor((100 * done) / backup.size)),
  );
  const now = await textsOf(current);
  return { ...read, back: cameBack(texts, now, nowMs), isCompared: now !== undefined };
}

async function textsOf(dir: string): Promise<ConsentTexts | undefined> {
  if (!(await isDirectory(dir))) return undefined;
  const names = await readdir(homePaths(dir).pausedAgentsDir).catch(() => []);
  const pauses = names.map((name) => `paused-agents/${name}`).filter((at) => AGENT_PAUSE.test(at));
  const found = await Promise.all(
    [...CONSENT_FILES, ...pauses].map(
      async (name): Promise<readonly [string, string]> => [
        name,
        // What cannot be read is taken for empty: everything in the backup is then shown as new.
        await readFile(join(dir, name), "utf8").catch(() => ""),
      ],
    ),
  );
  return Object.fromEntries(found.filter(([, text]) => text !== ""));
}

/** What was restored. Plain JSON data. */
export interface Restored {
  readonly home: string;
  /** Where the home is that was there before. */
  readonly replaced?: string;
}

/**
 * Restores a backup that was checked.
 *
 * @throws ConsentError `home_busy` where processes use the home; `home_invalid` where the place
 *   cannot be used. Nothing is changed then.
 */
export async function restoreHome(plan: RestorePlan, checked: Checked): Promise<Restored> {
  const { target, nowMs } = plan;
  const isReplaced = await checkTarget(target);
  const parent = dirname(target);
  await mkdir(parent, { recursive: true });
  for (const left of await leftStagings(target)) await removeStaging(left);
  const aside = await asideName(target, "replaced", nowMs);
  const staged = await beginStaging({ kind: "restore", home: target, target });
  const { dir: staging } = staged;
  try {
    await extract(plan, staging);
    await openHome(staging);
    await declare(staging, plan, {
      checked,
      ...(isReplaced && { replaced: aside }),
    });
    if (!isReplaced) {
      // A rename replaces an empty folder, and nothing else.
      await rename(staging, target);
      await syncDirectory(parent);
      await staged.done();
      return { home: target };
    }
    await refuseLive("restore", target);
    await swapHomes({ kind: "restore", home: target, aside, staging, target });
    await staged.done();
    return { home: target, replaced: aside };
  } catch (error) {
    await staged.undo();
    if (isConsentError(error)) throw error;
    if (error instanceof Error && "code" in error && error.code === "ENOTEMPTY")
      throw new ConsentError(
        "home_busy",
        `Cannot restore ${quoteText(target)}: another process put a home there meanwhile; look at it before you restore again`,
        { cause: error },
      );
    const why = error instanceof Error ? error.message : String(error);
    throw new ConsentError("home_invalid", `Cannot restore ${quoteText(target)}: ${why}`, {
      cause: error,
    });
  }
}

/** A folder that has none of these, and is not empty, is somebody's and no home. */
const HOME_MARKS: ReadonlySet<string> = new Set([
  "audit.jsonl",
  "config.yml",
  "keys",
  "policy.yml",
  "vault.json",
]);

/**
 * Whether a home is there that would be replaced.
 *
 * @throws ConsentError `home_invalid` for what must not be moved aside; `home_busy` for a home in
 *   use.
 */
export async function checkTarget(target: string): Promise<boolean> {
  const refuse = (why: string): ConsentError =>
    new ConsentError("home_invalid", `Cannot restore ${quoteText(target)}: ${why}`);
  const stats = await lstat(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw refuse(error.message);
  });
  if (stats === undefined) return false;
  if (!stats.isDirectory())
    throw refuse("something is there that is not a folder; name another place");
  const uid = process.getuid?.();
  if (stats.uid !== uid) throw refuse(`it belongs to user ${stats.uid}, not to ${uid}`);
  const names = await readdir(target).catch((error: Error) => {
    throw refuse(error.message);
  });
  if (names.length > 0 && !names.some((name) => HOME_MARKS.has(name)))
    throw refuse("the folder that is there is no home of acp; name another place");
  await refuseLive("restore", target);
  return true;
}

function isDirectory(path: string): Promise<boolean> {
  return lstat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}

async function extract(plan: RestorePlan, staging: string): Promise<void> {
  const { backup, unlock, hasLogs, onProgress } = plan;
  const isWanted = (path: string): boolean => hasLogs || !isLogFile(path);
  const folders = [staging];
  await mkdir(staging, { mode: 0o700 });
  await backup.read(
    unlock,
    {
      async directory(path) {
        if (!isWanted(path)) return;
        await mkdir(join(staging, path), { mode: 0o700 });
        folders.push(join(staging, path));
      },
      async file({ path, modified_at_ms: modifiedAtMs }, contents) {
        if (!isWanted(path)) {
          for await (const _piece of contents);
          return;
        }
        await using out = await open(join(staging, path), "wx", 0o600);
        for await (const piece of contents) await out.writeFile(piece);
        await out.utimes(modifiedAtMs / 1000, modifiedAtMs / 1000);
        await out.sync();
      },
    },
    (done) => onProgress("restoring", Math.floor((100 * done) / backup.size)),
  );
  for (const folder of folders) await syncDirectory(folder);
}

/** The restored log says so, before the home is in its place. */
async function declare(
  staging: string,
  { backup, current, io }: RestorePlan,
  { checked, replaced }: { readonly checked: Checked; readonly replaced?: string },
): Promise<void> {
  const { created_at_ms: createdAtMs } = checked.facts;
  try {
    const home = homePaths(staging);
    const kept = checked.isCompared ? await keepClaims(homePaths(current), home) : 0;
    await settleLogs({ home, io });
    await declareRestore({
      home,
      io,
      reason: `A backup was restored: the home of ${isoTime(createdAtMs)}`,
      source: backup.id,
      ...(checked.isCompared && { replaced: homePaths(current) }),
      more: {
        backup_at_ms: createdAtMs,
        came_back: [...cameBackMetadata(checked.back)],
        claims_kept: kept ?? null,
        ...(replaced !== undefined && { replaced }),
      },
    });
  } catch (cause) {
    if (!isConsentError(cause)) throw cause;
    throw new ConsentError(
      cause.code,
      `Cannot note the restore in the restored log: ${cause.message}; restore without it: --without-logs`,
      { cause },
    );
  }
}
