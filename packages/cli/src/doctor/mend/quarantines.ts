/** Quarantines: the logs of a home that were set aside, and whether they are still what they were. */
import { lstat } from "node:fs/promises";
import { basename, join } from "node:path";
import { isConsentError } from "@acp/core";
import type { HomePaths } from "@acp/home";
import { keysOf, readKeySeams } from "../../logs/checkpoint-seams.js";
import { listAuditFiles } from "../../logs/log-files.js";
import { readLogSeams, seamFolder, logSeamsPath } from "../../logs/log-seams.js";
import type { Seam } from "../../logs/log-seams.js";
import { hashFile } from "./hash-file.js";
import type { FileHash } from "./hash-file.js";
import { readPlans } from "./quarantine-plan.js";

/** A file of a log that was set aside. */
export interface QuarantinedFile extends FileHash {
  readonly path: string;
  readonly state: "kept" | "changed" | "gone";
}

/** A log that was set aside. */
export interface Quarantine extends Omit<Seam, "files"> {
  /** Whether the home's checkpoint key signed it. */
  readonly signed: boolean;
  readonly files: readonly QuarantinedFile[];
}

/** A file of seams that says nothing that counts. */
export interface BrokenSeams {
  readonly path: string;
  readonly reason: string;
}

/** What a home says of the logs that were set aside. */
export interface Quarantines {
  readonly all: readonly Quarantine[];
  readonly broken: readonly BrokenSeams[];
}

/**
 * Every quarantine that is finished. What is signed counts; the plan in the folder says it in a home
 * without a key.
 *
 * @param isQuick - Looks at the size of files only.
 */
export async function listQuarantines(
  home: HomePaths,
  verifierKey: string | undefined,
  isQuick = false,
): Promise<Quarantines> {
  const broken: BrokenSeams[] = [];
  const plans = await readPlans(home);
  const open = new Set(plans.filter(({ isDone }) => !isDone).map(({ folder }) => folder));
  const seams = new Map<string, { readonly seam: Seam; readonly signed: boolean }>();
  for (const seam of plans) seams.set(seam.folder, { seam, signed: false });
  // What a key signed that was rotated since still counts.
  // Seams of keys that cannot be read are said by the examination of keys.
  const keySeams = await readKeySeams(home).catch(() => []);
  const keys = verifierKey === undefined ? [] : keysOf(verifierKey, keySeams);
  for (const path of keys.length === 0 ? [] : await listAuditFiles(home.dir))
    for (const opened of await readLogSeams(path, keys).catch(reasonOf))
      if (opened.ok) seams.set(opened.seam.folder, { seam: opened.seam, signed: true });
      else broken.push({ path: logSeamsPath(path), reason: opened.reason });
  const all: Quarantine[] = [];
  for (const { seam, signed } of seams.values())
    if (!open.has(seam.folder)) all.push(await look(home, { seam, signed, isQuick }));
  return { all, broken };
}

function reasonOf(error: unknown): readonly { readonly ok: false; readonly reason: string }[] {
  if (!isConsentError(error)) throw error;
  return [{ ok: false, reason: error.message }];
}

interface Looking {
  readonly seam: Seam;
  readonly signed: boolean;
  readonly isQuick: boolean;
}

async function look(home: HomePaths, { seam, signed, isQuick }: Looking): Promise<Quarantine> {
  const { log, folder, code, message, events, head } = seam;
  const files: QuarantinedFile[] = [];
  for (const file of seam.files) {
    const path = join(seamFolder(join(home.dir, log), seam), basename(file.name));
    files.push({
      path,
      bytes: file.bytes,
      hash: file.hash,
      state: await stateOf(path, file, isQuick),
    });
  }
  return {
    log,
    folder,
    code,
    message,
    events,
    ...(head !== undefined && { head }),
    signed,
    files,
  };
}

async function stateOf(
  path: string,
  { bytes, hash }: FileHash,
  isQuick: boolean,
): Promise<QuarantinedFile["state"]> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined) return "gone";
  if (!stats.isFile() || stats.size !== bytes) return "changed";
  return isQuick || (await hashFile(path)).hash === hash ? "kept" : "changed";
}
