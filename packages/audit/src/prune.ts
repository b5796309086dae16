/**
 * Prune: removes the oldest full files of a log. What is removed is first verified and then stated
 * in the log, with the hash and the tree of it, so that the rest stays verifiable and a kept copy
 * can be proven. Format: spec/audit.md §8.
 */
import { unlink } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { logEvent, type Clock, type Ids, randomIds, systemClock } from "@acp/core";
import type { AuditLog } from "./audit-log.js";
import { walkChain } from "./chain.js";
import { cannot } from "./errors.js";
import { readLastEventMs } from "./last-event.js";
import { piecesOf } from "./lines.js";
import { createSlices } from "./slices.js";
import { stampAt } from "./stamp.js";
import { syncDirectory } from "./log-file.js";
import { type Archive, type LogPart, listArchives, openParts } from "./log-parts.js";
import { findPruned, prunedMetadata, type PrunedStart } from "./pruned.js";
import { growTree } from "./tree-edge.js";

/** What stays when a log is pruned. */
export interface PruneOptions {
  /** How many full files stay, the newest ones; the file that is written to stays as well. */
  readonly keepFiles: number;
  /** Source of time for the event that records the removal; the system's clock unless given. */
  readonly clock?: Pick<Clock, "now">;
  /** Source of that event's id; random unless given. */
  readonly ids?: Ids;
}

/**
 * Removes full files of an open log beyond the newest `keepFiles`, and records each removal. A file
 * that does not verify, or holds what {@link AuditLog.heldFrom} names, is never removed. Source:
 * spec/audit.md §8.
 *
 * @returns Names of the removed files.
 * @throws ConsentError `audit_failed`; files removed before stay removed, and the log says so.
 */
export async function pruneAuditLog(
  log: AuditLog,
  options: PruneOptions,
): Promise<readonly string[]> {
  const { keepFiles, clock = systemClock, ids = randomIds } = options;
  if (!Number.isSafeInteger(keepFiles) || keepFiles < 0)
    throw cannot("prune", log.path)(`keepFiles is ${keepFiles}, not a count`);
  const archives = await listArchives(log.path);
  const removed: string[] = [];
  let before = await startOf(log.path);
  const heldFrom = await log.heldFrom();
  for (const archive of archives.slice(0, Math.max(0, archives.length - keepFiles))) {
    before = await verifyArchive(archive, before);
    if (before.beforeSeq > heldFrom) break;
    const lastMs = await readLastEventMs(archive.path);
    const metadata = prunedMetadata(before, { file: basename(archive.path), lastMs });
    await log.append([logEvent("log_pruned", stampAt(ids, clock.now()), metadata)]);
    await unlink(archive.path);
    await syncDirectory(dirname(archive.path));
    removed.push(basename(archive.path));
  }
  return removed;
}

/** What was removed before. */
async function startOf(path: string): Promise<PrunedStart | undefined> {
  await using log = await openParts(path);
  const firstSeq = log.parts[0]?.firstSeq ?? 0;
  if (firstSeq === 0) return undefined;
  const found = await findPruned(log.parts, firstSeq);
  if (found === undefined)
    throw cannot(
      "prune",
      path,
    )(
      `it starts at event ${firstSeq}, and nothing says that earlier events were removed; run \`acp audit verify\``,
    );
  return found;
}

/** Where the chain and the tree stand after the file. */
async function verifyArchive(
  { path, firstSeq }: Archive,
  before: PrunedStart | undefined,
): Promise<PrunedStart> {
  await using log = await openParts(path);
  const tree = growTree(before?.edge);
  const chain = walkChain({
    firstSeq,
    onLine: (bytes, start, end) => {
      tree.add(bytes, start, end);
      return undefined;
    },
  });
  // The gate that prunes answers clients meanwhile.
  const slices = createSlices();
  for await (const block of blocksOf(log.parts))
    for (const piece of piecesOf(block)) {
      const fault = chain.walk(piece);
      if (fault !== undefined)
        throw cannot(
          "prune",
          path,
        )(`line ${chain.events() + 1} is bad (${fault.code}); run \`acp audit verify\``);
      if (slices.isOver()) await slices.rest();
    }
  const head = chain.head();
  if (
    head === undefined ||
    firstSeq !== (before?.beforeSeq ?? 0) ||
    chain.startHash() !== (before?.hash ?? null)
  )
    throw cannot("prune", path)("it does not follow the file before it; run `acp audit verify`");
  return { beforeSeq: head.seq + 1, hash: head.hash, edge: tree.edge() };
}

async function* blocksOf(parts: readonly LogPart[]): ReturnType<LogPart["blocks"]> {
  for (const part of parts) yield* part.blocks({ inPlace: true });
}
