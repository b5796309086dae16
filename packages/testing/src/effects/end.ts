/**
 * End: watches the processes of a run and says when they will not end by themselves. No clock on
 * the wall decides: a machine that stalls makes nobody guilty. Processor time does, or sleep of all
 * of them that goes on for many looks.
 */
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

const LOOK_MS = 250;

interface Process {
  readonly parent: number;
  readonly name: string;
  readonly isAsleep: boolean;
  readonly ticks: number;
}

async function readProcess(pid: string): Promise<readonly [number, Process] | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const close = text.lastIndexOf(")");
  const [state = "", parent = "", ...rest] = text.slice(close + 2).split(" ");
  // utime, stime and those of children that it has waited for: fields 14 to 17.
  const ticks = rest.slice(9, 13).reduce((sum, field) => sum + Number(field), 0);
  return [
    Number(pid),
    {
      parent: Number(parent),
      name: text.slice(text.indexOf("(") + 1, close),
      isAsleep: state === "S",
      ticks,
    },
  ];
}

async function processes(): Promise<ReadonlyMap<number, Process>> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  return new Map((await Promise.all(pids.map(readProcess))).filter((entry) => entry !== undefined));
}

function isBelow(all: ReadonlyMap<number, Process>, pid: number, root: number): boolean {
  for (let at = all.get(pid)?.parent; at !== undefined && at > 1; at = all.get(at)?.parent)
    if (at === root) return true;
  return false;
}

async function processesBelow(root: number): Promise<ReadonlyMap<number, Process>> {
  const all = await processes();
  return new Map([...all].filter(([pid]) => isBelow(all, pid, root)));
}

/**
 * Ends a process and all below it. Theirs first: the first process of a namespace takes all of it
 * along, and who watches it sees that.
 */
export async function endProcesses(root: number): Promise<void> {
  for (const pid of [...(await processesBelow(root)).keys(), root]) {
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      // It ended by itself meanwhile.
      if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
    }
  }
}

/** Processor time of everything below a process so far, and whether all of it sleeps. */
async function workOf(
  root: number,
): Promise<{ readonly ticks: number; readonly isAsleep: boolean }> {
  const below = [...(await processesBelow(root)).values()];
  return {
    ticks: below.reduce((sum, one) => sum + one.ticks, 0),
    isAsleep: below.every(({ isAsleep }) => isAsleep),
  };
}

/**
 * Looks at which nothing moves before somebody types, and those after which they no longer wait for
 * a screen.
 */
const STILL_LOOKS = 2;
const BLANK_LOOKS = 12;

/**
 * Resolves when everything below a process waits, as for a key: it has drawn its screen
 * (`hasDrawn`), or has drawn nothing for long. No clock on the wall decides, but looks at which all
 * of it sleeps.
 */
export async function untilStill(
  root: number,
  hasDrawn: () => boolean,
  over: AbortSignal,
): Promise<void> {
  let [still, before] = [0, -1];
  while (!over.aborted && still < (hasDrawn() ? STILL_LOOKS : BLANK_LOOKS)) {
    await sleep(LOOK_MS, undefined, { signal: over }).catch(() => undefined);
    const { ticks, isAsleep } = await workOf(root);
    still = ticks === before && isAsleep ? still + 1 : 0;
    before = ticks;
  }
}

/** What a run may use. */
export interface EndLimits {
  /** Processor time of all processes together, in seconds. */
  readonly cpuSecondsMax: number;
  /** Looks, four a second, at which everything sleeps and no processor time is used. */
  readonly idleLooksMax: number;
}

/** Resolves with why a run has to be ended; `undefined` when `over` is aborted first. */
export async function watchEnd(
  root: number,
  limits: EndLimits,
  over: AbortSignal,
): Promise<"busy" | "waiting" | undefined> {
  let [idle, before] = [0, -1];
  while (!over.aborted) {
    await sleep(LOOK_MS, undefined, { signal: over }).catch(() => undefined);
    if (over.aborted) return undefined;
    const { ticks, isAsleep } = await workOf(root);
    if (ticks / 100 > limits.cpuSecondsMax) return "busy";
    idle = ticks === before && isAsleep ? idle + 1 : 0;
    before = ticks;
    if (idle >= limits.idleLooksMax) return "waiting";
  }
  return undefined;
}
