/**
 * Move home: the home under another path, also on another file system. At every moment the old one
 * or the new one is whole; where the files have to be copied, the old home stays beside its place.
 */
import { lstat, mkdir, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { ConsentError, isConsentError, logEvent, quoteText, randomIds } from "@acp/core";
import { homePaths, syncDirectory } from "@acp/home";
import { openHomeAudit } from "../logs/open-audit.js";
import { socketBytesOver } from "../doctor/look/sockets.js";
import { copyTree, treeMark } from "./copy-tree.js";
import { busy, refuseLive, socketsIn } from "./live.js";
import { isInside } from "./is-inside.js";
import { beginStaging, leftStagings, removeStaging } from "./staging.js";
import { asideName, swapHomes } from "./swap.js";

/** What is moved, and where to. Absolute paths. */
export interface MovePlan {
  readonly from: string;
  readonly to: string;
  readonly nowMs: number;
  readonly onProgress: (what: string, percent: number) => void;
  /** Whether both are on one file system; looked up where it is left out. */
  readonly isOneFileSystem?: boolean;
}

/** What came of it. Plain JSON data. */
export interface Moved {
  readonly home: string;
  /** Where the old home is, where the files had to be copied. */
  readonly kept?: string;
}

/**
 * Moves a home that no process uses.
 *
 * @throws ConsentError `home_busy` where a process uses it; `options_invalid` for a place that
 *   cannot be one; `home_invalid` where the system refuses. The home is then where it was.
 */
export async function moveHome(plan: MovePlan): Promise<Moved> {
  const { from, to } = plan;
  const parent = dirname(to);
  try {
    await checkPlace(from, to);
    await refuseLive("move", from);
    await mkdir(parent, { recursive: true });
    const isOne = plan.isOneFileSystem ?? (await lstat(from)).dev === (await lstat(parent)).dev;
    const moved = isOne ? await renameHome(plan) : await moveByCopy(plan);
    await noteMove(plan);
    return moved;
  } catch (cause) {
    if (isConsentError(cause)) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ConsentError("home_invalid", `Cannot move ${quoteText(from)}: ${why}`, { cause });
  }
}

async function checkPlace(from: string, to: string): Promise<void> {
  const refuse = (why: string): ConsentError =>
    new ConsentError("options_invalid", `Cannot move the home to ${quoteText(to)}: ${why}`);
  const isThere = await lstat(to).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== "ENOENT",
  );
  if (isThere) throw refuse("something is there already; name a new directory");
  if (await isInside(from, to)) throw refuse("it is inside the home");
  const over = socketBytesOver(to);
  if (over > 0) throw refuse(`its path is ${over} bytes too long for sockets`);
}

/** One rename, taken back where a process began to use the home meanwhile. */
async function renameHome({ from, to }: MovePlan): Promise<Moved> {
  const before = new Set((await socketsIn(from)).map(({ socket }) => socket));
  await rename(from, to);
  const started = (await socketsIn(to)).filter(({ socket }) => !before.has(socket));
  if (started.length > 0) {
    await rename(to, from);
    throw busy("move", from, started);
  }
  await syncDirectory(dirname(to));
  await syncDirectory(dirname(from));
  return { home: to };
}

async function moveByCopy({ from, to, nowMs, onProgress }: MovePlan): Promise<Moved> {
  for (const left of await leftStagings(to)) await removeStaging(left);
  const aside = await asideName(from, "moved", nowMs);
  const staged = await beginStaging({ kind: "move", home: from, target: to });
  const { dir: staging } = staged;
  try {
    const mark = await treeMark(from);
    await copyTree(from, staging, (percent) => onProgress("copying", percent));
    await refuseLive("move", from);
    await swapHomes({ kind: "move", home: from, aside, staging, target: to }, async () => {
      // Somebody who came and went while it was copied wrote what the copy does not have.
      if ((await treeMark(aside)) !== mark)
        throw new ConsentError(
          "home_busy",
          `Cannot move ${quoteText(from)}: its files changed while they were copied; end your clients and try again`,
        );
    });
    await staged.done();
    return { home: to, kept: aside };
  } catch (error) {
    await staged.undo();
    throw error;
  }
}

async function noteMove({ from, to, nowMs }: MovePlan): Promise<void> {
  await using audit = await openHomeAudit(homePaths(to));
  const stamp = { id: randomIds.next("ae"), atMs: nowMs };
  const text = `This home was moved from ${from} to ${to}`;
  await audit.append([logEvent("gate_notice", stamp, { notice: "home_moved", text, from, to })]);
}
