/**
 * Trial watch: looks again and again at how much a trial has written and how much memory it has,
 * and says when that is more than it may. No quota holds a directory of a plain user; one file is
 * held by a limit of the kernel's as well.
 */
import { readFileSync } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { descendantsOf, parentOf } from "./process-tree.js";
import type { TrialLimits } from "./trial-parts.js";

/** What is looked at. */
export interface WatchParts extends Pick<TrialLimits, "writtenBytes" | "writtenEntries"> {
  /** The layer that it writes to. */
  readonly layer: string;
  /** Its command's process. */
  readonly pid: number;
  /** The most memory it may have; `undefined` where a control group holds it. */
  readonly memoryBytes: number | undefined;
  /** Ends the watch. */
  readonly signal: AbortSignal;
  /** Called once. */
  readonly onExcess: (why: string) => void;
}

const LOOK_MS = 200;
const BLOCK_BYTES = 512;
const PAGE_BYTES = 4096;

/** Watches until the signal. Never rejects. */
export async function watchTrial(parts: WatchParts): Promise<void> {
  // What its command leaves behind belongs to the first process of the namespace.
  const first = parentOf(parts.pid);
  while (!parts.signal.aborted) {
    const why = tooMuchMemory(parts, first) ?? (await tooMuchWritten(parts));
    if (parts.signal.aborted) return;
    if (why !== undefined) return parts.onExcess(why);
    await sleep(LOOK_MS, undefined, { signal: parts.signal }).catch(() => {});
  }
}

/** Why it may not go on; a folder that it closed to us could hold anything. */
async function tooMuchWritten({
  layer,
  writtenBytes,
  writtenEntries,
}: WatchParts): Promise<string | undefined> {
  let [bytes, entries] = [0, 0];
  const open = [layer];
  for (const folder of open) {
    const found = await readdir(folder, { withFileTypes: true }).catch((error: unknown) =>
      isGone(error) ? [] : undefined,
    );
    if (found === undefined) return "it closed a folder that it wrote";
    entries += found.length;
    if (entries > writtenEntries) return `it wrote more than ${writtenEntries} files and folders`;
    for (const entry of found) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) open.push(path);
      else bytes += ((await lstat(path).catch(() => undefined))?.blocks ?? 0) * BLOCK_BYTES;
    }
    if (bytes > writtenBytes) return `it wrote more than ${writtenBytes} bytes`;
  }
  return undefined;
}

function isGone(error: unknown): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    (error.code === "ENOENT" || error.code === "ENOTDIR")
  );
}

function tooMuchMemory({ memoryBytes }: WatchParts, first: number | undefined): string | undefined {
  if (memoryBytes === undefined || first === undefined) return undefined;
  const used = descendantsOf(first).reduce((sum, pid) => sum + residentBytes(pid), 0);
  return used > memoryBytes ? `it used more than ${memoryBytes} bytes of memory` : undefined;
}

function residentBytes(pid: number): number {
  try {
    const [, pages = "0"] = readFileSync(`/proc/${pid}/statm`, "utf8").split(" ");
    return Number(pages) * PAGE_BYTES;
  } catch {
    return 0; // it has ended
  }
}
