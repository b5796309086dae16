/**
 * Swap: a home goes aside and a complete one takes a place. The plan is on disk before the first
 * rename and goes after the last one, so that whoever comes after a crash can finish. At every
 * moment both homes are whole. Format of the plan: spec/home.md §12.
 */
import { lstat, rename, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { ConsentError, isJsonObject, isoTime, quoteText } from "@acp/core";
import { createFileAtomic, readPrivateFile, swapPath, syncDirectory } from "@acp/home";
import { busy, socketsIn } from "./live.js";
import { isStagingPath, removeStaging } from "./staging.js";

/** What goes where. Absolute paths. */
export interface SwapPlan {
  readonly kind: "restore" | "move";
  /** The home that goes aside. */
  readonly home: string;
  readonly aside: string;
  /** The complete new home, under a name that nothing looks for. */
  readonly staging: string;
  /** Where the new home belongs; may be where the old one was. */
  readonly target: string;
}

const PLAN_BYTES_MAX = 65_536;

/**
 * Swaps.
 *
 * @param check - Looks at the home that went aside, which nobody writes any more; what it throws
 *   takes everything back.
 * @throws ConsentError `home_busy` where somebody began to use the home meanwhile: nothing is
 *   changed then. Error from the system: the old home is back in its place then.
 */
export async function swapHomes(
  plan: SwapPlan,
  check: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const { kind, home, aside, staging, target } = plan;
  const text = `${JSON.stringify({ version: "1", ...plan }, undefined, 2)}\n`;
  if (!(await createFileAtomic(swapPath(home), text)))
    throw new ConsentError(
      "home_busy",
      `Cannot ${kind} ${quoteText(home)}: a restore or move of it is under way or was interrupted; where none runs, run: acp doctor --fix home_half_moved`,
    );
  let isAside = false;
  try {
    const before = new Set((await socketsIn(home)).map(({ socket }) => socket));
    await rename(home, aside);
    isAside = true;
    const started = (await socketsIn(aside)).filter(({ socket }) => !before.has(socket));
    if (started.length > 0) throw busy(kind, home, started);
    await check();
    await rename(staging, target);
  } catch (error) {
    if (isAside) await rename(aside, home);
    await unlink(swapPath(home));
    throw error;
  }
  await finish(plan);
}

/** A name beside a home that nothing has: `HOME.WORD-TIME`. */
export async function asideName(home: string, word: string, nowMs: number): Promise<string> {
  const base = `${home}.${word}-${isoTime(nowMs).replaceAll(/[-:]|\.\d+/g, "")}`;
  for (let number = 1; ; number++) {
    const name = number === 1 ? base : `${base}-${number}`;
    if (!(await isThere(name))) return name;
  }
}

async function finish({ home, target }: SwapPlan): Promise<void> {
  await syncDirectory(dirname(target));
  await syncDirectory(dirname(home));
  await unlink(swapPath(home));
}

/** How an interrupted swap ended. */
export interface Settled {
  readonly plan: SwapPlan;
  /** `done`: the new home is in its place; `undone`: the old one never left its own. */
  readonly end: "done" | "undone";
}

/** The plan of an interrupted swap; `undefined` where there is none. */
export async function readSwap(home: string): Promise<SwapPlan | undefined> {
  if (!(await isThere(swapPath(home)))) return undefined;
  const text = await readPrivateFile(swapPath(home), PLAN_BYTES_MAX);
  const plan = planIn(text);
  if (plan === undefined || plan.home !== home)
    throw new ConsentError(
      "home_invalid",
      `Cannot read ${quoteText(swapPath(home))}: it is not the plan of a restore or move of this home`,
    );
  return plan;
}

/**
 * Finishes an interrupted swap, or takes it back where nothing had happened. May be interrupted and
 * called again.
 *
 * @throws ConsentError `home_invalid` where neither is possible, because somebody moved things.
 */
export async function settleSwap(home: string): Promise<Settled | undefined> {
  const plan = await readSwap(home);
  if (plan === undefined) return undefined;
  const { aside, staging, target } = plan;
  const there = {
    home: await isThere(home),
    aside: await isThere(aside),
    staging: await isThere(staging),
    target: await isThere(target),
  };
  if (there.home && !there.aside) {
    // Its own unfinished copy, by the name that only this program gives.
    if (isStagingPath(staging)) await removeStaging({ dir: staging });
    await unlink(swapPath(home));
    return { plan, end: "undone" };
  }
  if (there.aside && there.staging && !there.target) await rename(staging, target);
  else if (!there.target || there.staging || !there.aside)
    throw new ConsentError(
      "home_invalid",
      `Cannot finish the ${plan.kind} of ${quoteText(home)}: something else is at ${quoteText(target)}; the homes are ${quoteText(aside)} and ${quoteText(staging)}`,
    );
  if (isStagingPath(staging)) await removeStaging({ dir: staging });
  await finish(plan);
  return { plan, end: "done" };
}

function planIn(text: string): SwapPlan | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(value) || value["version"] !== "1") return undefined;
  const { kind, home, aside, staging, target } = value;
  if (kind !== "restore" && kind !== "move") return undefined;
  return typeof home === "string" &&
    typeof aside === "string" &&
    typeof staging === "string" &&
    typeof target === "string"
    ? { kind, home, aside, staging, target }
    : undefined;
}

function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" || error.code === "ENOTDIR") return false;
      throw error;
    },
  );
}
