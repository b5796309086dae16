/**
 * Quarantine: sets a broken log aside whole and begins a new one under its name, whose first event
 * says so. Nothing is removed or changed in place. After a crash between any two steps no gate opens
 * the log, or opens the new one, and whoever does it again finishes. Format: spec/audit.md §6.1.
 */
import { link, lstat, mkdir, rename, rmdir, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { noteSigner, openAuditLog, readAuditLog } from "@acp/audit";
import { logEvent, randomIds, systemClock } from "@acp/core";
import type { AuditEventInput } from "@acp/core";
import { stateSavedEvent } from "@acp/core/unstable";
import { createFileAtomic, readCheckpointKey, syncDirectory, whileWriting } from "@acp/home";
import type { HomePaths } from "@acp/home";
import { trySocketLock } from "@acp/host";
import { originOf } from "../../logs/checkpoint-key.js";
import { addSeam, logSeamsPath, seamMetadata, seamsOf } from "../../logs/log-seams.js";
import { exists } from "../../home/exists.js";
import { makePlan, readPlans, writePlan } from "./quarantine-plan.js";
import type { LogFault, QuarantinePlan } from "./quarantine-plan.js";
import { setAside } from "./set-aside.js";

/** Where the new log is made before it takes its name. Short: a lock's socket lies in it. */
const NEXT = "next-log";

/**
 * Sets a log aside, or finishes that; says what was done.
 *
 * @throws Error where a live process writes the log, or the system refuses.
 */
export function quarantineLog(home: HomePaths, path: string, fault: LogFault): Promise<string> {
  return whileHeld(home, path, async () => {
    const begun = await unfinishedPlan(home, basename(path));
    if (begun !== undefined) return finishPlan(home, path, begun);
    const { code, message, events, head } = fault;
    const found = { code, message, events, ...(head !== undefined && { head }) };
    return takeSteps(home, await makePlan(home, path, found));
  });
}

/** Finishes what somebody began; begins nothing. */
export function finishQuarantine(home: HomePaths, path: string): Promise<string> {
  return whileHeld(home, path, async () => {
    const begun = await unfinishedPlan(home, basename(path));
    return begun === undefined ? `${path} is set aside already` : finishPlan(home, path, begun);
  });
}

/**
 * Writes the seams of a log again, by the plans of what was set aside; what is in their place is set
 * aside itself. Says what was done.
 *
 * @throws Error where there is no plan of one of them, or the home has no key that signs.
 */
export function rewriteSeams(home: HomePaths, path: string): Promise<string> {
  return whileHeld(home, path, async () => {
    const signerKey = await readCheckpointKey(home);
    if (signerKey === undefined) throw new Error("there is no checkpoint key");
    const plans = await finishedPlans(home, path);
    const seams = logSeamsPath(path);
    const aside = (await exists(seams)) ? `${await setAside(home, seams)}; ` : "";
    for (const plan of plans) await addSeamOnce(path, plan, signerKey);
    return `${aside}${plans.length} seams were written to ${seams} again`;
  });
}

/**
 * The plans of all logs of a name that were set aside, oldest first.
 *
 * @throws Error where one is missing between them.
 */
export async function finishedPlans(
  home: Pick<HomePaths, "dir">,
  path: string,
): Promise<readonly QuarantinePlan[]> {
  const plans = (await readPlans(home))
    .filter(({ log, isDone }) => isDone && log === basename(path))
    .toSorted((one, other) => one.seams - other.seams);
  if (plans.some(({ seams }, at) => seams !== at))
    throw new Error(`what was set aside of ${path} is not all there`);
  return plans;
}

/** Runs while nobody else changes the home or writes the log. */
function whileHeld(home: HomePaths, path: string, work: () => Promise<string>): Promise<string> {
  return whileWriting(home.dir, async () => {
    const log = basename(path);
    const lock = await trySocketLock({ directory: home.dir, prefix: `${log}.lock.` });
    if (!lock.isHeld)
      throw new Error(`process ${lock.pid ?? "unknown"} writes ${log}; end it first`);
    try {
      return await work();
    } finally {
      await lock.release();
    }
  });
}

/** Until its file is held, a gate may have written more: then the plan is made again. */
async function finishPlan(home: HomePaths, path: string, begun: QuarantinePlan): Promise<string> {
  const isHeld = await exists(join(home.dir, begun.folder, begun.log));
  const isCurrent = isHeld || (await isSeamOf(path, begun));
  return takeSteps(home, isCurrent ? begun : await makePlan(home, path, begun));
}

async function takeSteps(home: HomePaths, plan: QuarantinePlan): Promise<string> {
  for (const step of await quarantineSteps(home, plan)) await step();
  return describePlan(plan);
}

function describePlan({ log, folder, events }: QuarantinePlan): string {
  const count = `${events} ${events === 1 ? "event" : "events"}`;
  return `${log} was set aside in ${folder}, its first ${count} are good; a new log began`;
}

/** The plan that somebody began and did not finish. */
export async function unfinishedPlan(
  home: Pick<HomePaths, "dir">,
  log: string,
): Promise<QuarantinePlan | undefined> {
  return (await readPlans(home)).find((plan) => !plan.isDone && plan.log === log);
}

/** The steps, each of which may be done again. */
export async function quarantineSteps(
  home: HomePaths,
  plan: QuarantinePlan,
): Promise<readonly (() => Promise<void>)[]> {
  const signerKey = await readCheckpointKey(home);
  const folder = join(home.dir, plan.folder);
  const path = join(home.dir, plan.log);
  const next = join(home.dir, NEXT);
  const isPlaced = await isSeamOf(path, plan);
  const unlessPlaced = (step: () => Promise<void>): (() => Promise<void>) =>
    isPlaced ? () => Promise.resolve() : step;
  return [
    unlessPlaced(() => holdName(path, join(folder, plan.log))),
    unlessPlaced(() => moveRest(home.dir, folder, plan)),
    unlessPlaced(() => addSeamOnce(path, plan, signerKey)),
    unlessPlaced(() => makeNext(next, plan, signerKey)),
    unlessPlaced(() => moveIfThere(join(next, `${plan.log}.checkpoints`), `${path}.checkpoints`)),
    // The moment: the old log has the folder's name only, and the new one its own.
    unlessPlaced(() => moveIfThere(join(next, plan.log), path)),
    () => finish(home, plan, { folder, next }),
  ];
}

/**
 * Gives the current file its second name: from now on no gate opens it. An empty one where there is
 * none, so that no gate makes one meanwhile.
 */
async function holdName(path: string, kept: string): Promise<void> {
  if (await exists(kept)) return;
  if (!(await exists(path))) await createFileAtomic(path, "");
  if ((await lstat(path)).isFile()) await link(path, kept);
  else await rename(path, kept);
  await syncDirectory(dirname(kept));
}

async function moveRest(
  dir: string,
  folder: string,
  { files, log }: QuarantinePlan,
): Promise<void> {
  for (const { name } of files)
    if (name !== log && !(await exists(join(folder, name))))
      await moveIfThere(join(dir, name), join(folder, name));
  await syncDirectory(dir);
  await syncDirectory(folder);
}

async function addSeamOnce(
  path: string,
  plan: QuarantinePlan,
  signerKey: string | undefined,
): Promise<void> {
  if (signerKey === undefined || (await seamsOf(path)) > plan.seams) return;
  const origin = originOf(noteSigner(signerKey).name, path, plan.seams);
  const { seams: _seams, carried: _carried, isDone: _isDone, ...seam } = plan;
  await addSeam(path, seam, { signerKey, origin });
}

/** The new log, with its first events, and signed. Made again where a crash came meanwhile. */
async function makeNext(
  next: string,
  plan: QuarantinePlan,
  signerKey: string | undefined,
): Promise<void> {
  const path = join(next, plan.log);
  await mkdir(next, { mode: 0o700, recursive: true });
  for (const each of [path, `${path}.checkpoints`]) await unlinkIfThere(each);
  const origin =
    signerKey === undefined
      ? undefined
      : originOf(noteSigner(signerKey).name, path, plan.seams + 1);
  await using log = await openAuditLog({
    path,
    ...(signerKey !== undefined && origin !== undefined && { checkpoints: { signerKey, origin } }),
  });
  await log.append(firstEvents(plan));
}

function firstEvents({
  seams: _seams,
  isDone: _isDone,
  carried,
  ...seam
}: QuarantinePlan): readonly AuditEventInput[] {
  const stamp = (atMs: number): Pick<AuditEventInput, "id" | "atMs"> => ({
    id: randomIds.next("ae"),
    atMs,
  });
  const first = logEvent("log_quarantined", stamp(systemClock.now()), seamMetadata(seam));
  const states = carried.map(({ atMs, seq, ...mark }) => stateSavedEvent(mark, stamp(atMs), seq));
  return [first, ...states];
}

/** Whether a log begins with the event of this quarantine. */
async function isSeamOf(path: string, { folder }: QuarantinePlan): Promise<boolean> {
  try {
    for await (const { eventType, metadata } of readAuditLog(path))
      return eventType === "log_quarantined" && metadata["folder"] === folder;
  } catch {
    return false; // the broken one
  }
  return false;
}

async function finish(
  home: HomePaths,
  plan: QuarantinePlan,
  { folder, next }: { readonly folder: string; readonly next: string },
): Promise<void> {
  await syncDirectory(home.dir);
  // The empty file that only held the name.
  const held = join(folder, plan.log);
  const isListed = plan.files.some(({ name }) => name === plan.log);
  const stats = isListed ? undefined : await lstat(held).catch(() => undefined);
  if (stats?.isFile() === true && stats.size === 0) await unlink(held);
  await writePlan(home, { ...plan, isDone: true });
  await rmdir(next).catch(() => {}); // it is only untidy
}

async function moveIfThere(from: string, to: string): Promise<void> {
  await rename(from, to).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}

async function unlinkIfThere(path: string): Promise<void> {
  await unlink(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}
