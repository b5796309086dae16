/**
 * Held names: the manager's side of native/watch.h. While an agent runs, somebody outside may
 * replace a file that is held inside, and the kernel ends the mount with the name. Then everything
 * inside is stopped; here it is found out what has the name now, it is held again, and all goes on.
 * Where that cannot be done, or where nobody can say that the agent had no hand in it, the sandbox
 * ends.
 */
import { closeSync, constants, openSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { ConsentError } from "@acp/core";
import {
  holdInside,
  type HoldOrder,
  idAt,
  settleName,
  type Settled,
  textOf,
  type WatchedName,
} from "./held-again.js";
import type { JobControl } from "./job-control.js";
import type { InitHelper } from "./native-helper.js";
import type { HeldNameChange } from "./parts.js";
import { isThere } from "./guarded-look.js";
import type { OpenPlaces } from "./places.js";
import type { WorkspaceGuard } from "./workspace-guard.js";

/** Names that are watched. */
export interface HeldNames {
  /** @see HeldAgent.onHeldName */
  onChange(hear: (change: HeldNameChange) => void): void;
  /**
   * Resolves when nothing is stopped, or about to be.
   *
   * @throws ConsentError `sandbox_failed` where a name is lost.
   */
  settled(): Promise<void>;
  /** Why the sandbox was ended. */
  failure(): ConsentError | undefined;
}

/** What they are watched with. */
export interface HeldNamesParts {
  readonly names: readonly WatchedName[];
  readonly control: Pick<JobControl, "order" | "listen" | "ended">;
  /** The process whose mounts are those of the sandbox; undefined where it is not there. */
  readonly firstProcess: () => number | undefined;
  /** native/hold.c */
  readonly helper: InitHelper;
  /** Ends everything inside. */
  readonly end: () => void;
}

/** An editor has made its new file by then. Nothing inside runs meanwhile. */
const QUIET_MS = 50;
/** For a person's script that goes on replacing files. */
const BOUND_MS = 60_000;
const ROUNDS_MAX = 100;
/** Git has done with its lock by then. */
const LOCK_MS = 2000;
const ANSWER_MS = 10_000;

/** The names in the order in which native/watch.h knows them, with what the files hold now. */
export function namesToWatch(guard: WorkspaceGuard, { all }: OpenPlaces): readonly WatchedName[] {
  const opened = (path: string): number | undefined => all.find((each) => each.path === path)?.fd;
  const files = guard.readOnly.flatMap((path): readonly WatchedName[] => {
    const fd = opened(path);
    const text = fd === undefined ? undefined : textOf(fd);
    return fd === undefined ? [] : [{ path, ...(text !== undefined && { text }) }];
  });
  return [
    ...files,
    ...guard.pinned.filter((path) => opened(path) !== undefined).map((path) => ({ path })),
  ];
}

/** Watches them until the sandbox ends. */
export function watchNames(parts: HeldNamesParts): HeldNames {
  const { control, end } = parts;
  const [listeners, changes] = [[] as ((change: HeldNameChange) => void)[], [] as HeldNameChange[]];
  const state: Watch = {
    ...parts,
    held: [...parts.names],
    lost: new Map(),
    released: new Set(),
    isFrozen: false,
    frozenAtNs: 0n,
    waiting: new Set(),
    heardAtMs: 0,
  };
  let [failed, work, isOver] = [
    undefined as ConsentError | undefined,
    undefined as Promise<void> | undefined,
    false,
  ];
  void control.ended.then(() => {
    isOver = true;
    answer(state, "over");
  });
  const fail = (error: unknown): void => {
    if (isOver) return; // it has ended by itself, and nothing of it can write any more
    failed ??= toError(error);
    end();
  };
  const start = (): void => {
    work = settle(state)
      .then((done) => {
        changes.push(...done);
        for (const change of done) for (const hear of listeners) hear(change);
      })
      .catch(fail)
      .finally(() => {
        work = undefined;
        if (state.isFrozen && failed === undefined && !isOver) start();
      });
  };
  control.listen((word) => {
    listen(state, word);
    if (word === "unstoppable")
      fail(new Error("the agent could not be stopped in time, or went on by itself"));
    if (word === "unwatched") fail(unwatched());
    if (state.isFrozen && work === undefined && failed === undefined) start();
  });
  return {
    onChange: (hear) => {
      for (const change of changes) hear(change);
      listeners.push(hear);
    },
    settled: async () => {
      while (work !== undefined) await work;
      if (failed !== undefined) throw failed;
    },
    failure: () => failed,
  };
}

interface Watch extends Pick<HeldNamesParts, "control" | "firstProcess" | "helper"> {
  /** What is held of each name, in the order of the list; changes as they are replaced. */
  readonly held: WatchedName[];
  /** Those that were lost, and whether somebody inside may have touched what came instead. */
  readonly lost: Map<number, boolean>;
  /** Those that nobody holds any more. */
  readonly released: Set<number>;
  /** Who waits for a word. */
  readonly waiting: Set<(word: string) => void>;
  isFrozen: boolean;
  /** When that was certain, by the clock of files. */
  frozenAtNs: bigint;
  heardAtMs: number;
}

/** At once, word by word: what comes after "thawed" is of the next time. */
function listen(watch: Watch, word: string): void {
  const { kind, index } = /^(?<kind>lost|touched) (?<index>\d{1,4})$/u.exec(word)?.groups ?? {};
  if (index !== undefined)
    watch.lost.set(Number(index), kind === "touched" || watch.lost.get(Number(index)) === true);
  const { seconds, rest } =
    /^frozen (?<seconds>\d{1,12})\.(?<rest>\d{9})$/u.exec(word)?.groups ?? {};
  if (seconds !== undefined && rest !== undefined)
    [watch.isFrozen, watch.frozenAtNs] = [true, BigInt(seconds + rest)];
  if (word === "thawed") {
    watch.lost.clear();
    watch.isFrozen = false;
  }
  watch.heardAtMs = performance.now();
  answer(watch, seconds === undefined ? word : "frozen");
}

function answer({ waiting }: Watch, word: string): void {
  for (const hear of waiting) hear(word);
}

/** Gives an order, and resolves with the first of its answers. */
async function ask(
  { control, waiting }: Watch,
  order: string,
  ...answers: readonly string[]
): Promise<string> {
  const over = new AbortController();
  const said = new Promise<string>((resolve) => {
    const hear = (word: string): void => {
      if (![...answers, "over"].includes(word)) return;
      waiting.delete(hear);
      resolve(word);
    };
    waiting.add(hear);
  });
  control.order(order);
  const silent = sleep(ANSWER_MS, "over", { signal: over.signal }).catch(() => "over");
  const word = await Promise.race([said, silent]);
  over.abort();
  if (word === "over") throw new Error("the first process inside is silent");
  return word;
}

/** Everything inside has stopped. Returns what has changed when it goes on. */
async function settle(watch: Watch): Promise<readonly HeldNameChange[]> {
  const endMs = performance.now() + BOUND_MS;
  const changes = new Map<number, HeldNameChange>();
  using mounts = openMounts(watch);
  for (let round = 0; round < ROUNDS_MAX && (await isQuiet(watch, endMs)); round++) {
    const found = await settleAll(watch, mounts);
    for (const [index, each] of found ?? []) changes.set(index, apply(watch, index, each));
    if (found === undefined) await sleep(QUIET_MS / 2);
    else if ((await ask(watch, "r", "thawed", "frozen")) === "thawed") return [...changes.values()];
  }
  throw new Error("they are replaced again and again, or stay open for writing");
}

/**
 * What somebody inside may have touched already is looked at without delay: others could run it
 * meanwhile.
 */
async function isQuiet(watch: Watch, endMs: number): Promise<boolean> {
  while (
    ![...watch.lost.values()].includes(true) &&
    (performance.now() - watch.heardAtMs < QUIET_MS || isLocked(watch))
  ) {
    if (performance.now() > endMs) return false;
    await sleep(QUIET_MS / 2);
  }
  return true;
}

/** Whether Git is about to replace one of them. A lock that stays is of no interest. */
function isLocked({ held, heardAtMs }: Watch): boolean {
  return (
    performance.now() - heardAtMs < LOCK_MS &&
    held.some(({ path, text }) => text !== undefined && isThere(`${path}.lock`))
  );
}

interface Mounts extends Disposable {
  readonly fd: number;
  readonly helper: string;
}

function openMounts({ helper, firstProcess }: Watch): Mounts {
  if (!helper.isAvailable) throw new Error(helper.reason);
  const pid = firstProcess();
  const fd = pid === undefined ? undefined : openSync(`/proc/${pid}/ns/mnt`, constants.O_RDONLY);
  if (fd === undefined) throw new Error("the first process inside is gone");
  const close = (): void => closeSync(fd);
  // The number was that process's still when its mounts were open.
  if (firstProcess() === pid) return { fd, helper: helper.path, [Symbol.dispose]: close };
  close();
  throw new Error("the first process inside is gone");
}

/** What has the names now; undefined where that has changed meanwhile. */
async function settleAll(
  watch: Watch,
  { fd, helper }: Mounts,
): Promise<ReadonlyMap<number, Settled> | undefined> {
  const { held, lost, released } = watch;
  const names = [...lost].flatMap(([index, isTouched]) => {
    const name = held[index];
    return name === undefined || released.has(index) ? [] : [{ index, name, isTouched }];
  });
  const kept = await inside(
    names.map(({ name: { path } }) => ({ path, id: idAt(path), isHeld: false })),
    fd,
    helper,
  );
  const found = new Map<number, Settled>();
  for (const [at, { index, name, isTouched }] of names.entries()) {
    if (kept[at] === "kept") continue;
    const each = await settleName({ name, atNs: watch.frozenAtNs, isTouched, helper });
    if (each.state === "again") return undefined;
    if (each.state === "unsure") throw new Error(`"${name.path}": ${each.why}`);
    found.set(index, each);
  }
  await ask(watch, "f", "forgotten");
  const orders = names.flatMap(({ index, name: { path } }) => {
    const each = found.get(index);
    return each?.state === "there" ? [{ path, id: each.id, isHeld: true }] : [];
  });
  const isHeld = (await inside(orders, fd, helper)).every(
    (said) => said === "held" || said === "kept",
  );
  const isAll = [...lost.keys()].every(
    (index) => released.has(index) || names.some((each) => each.index === index),
  );
  return isHeld && isAll ? found : undefined;
}

async function inside(
  orders: readonly HoldOrder[],
  mounts: number,
  helper: string,
): Promise<readonly string[]> {
  const said = orders.length === 0 ? [] : await holdInside(orders, mounts, helper);
  if (typeof said === "string") throw new Error(said);
  const at = said.findIndex((each) => each.startsWith("failed "));
  if (at !== -1) throw new Error(`"${orders[at]?.path}": ${said[at]?.slice("failed ".length)}`);
  return said;
}

function apply({ held, released, control }: Watch, index: number, found: Settled): HeldNameChange {
  const place = held[index]?.path ?? "";
  if (found.state === "there") {
    held[index] = { path: place, text: found.text };
    return { place, state: "held", key: found.key };
  }
  released.add(index);
  control.order(`x${String.fromCharCode(index >> 8, index & 0xff)}`);
  return { place, state: "gone", key: "" };
}

function unwatched(): ConsentError {
  const fix =
    "end programs of its user that hold many, or raise fs.inotify.max_user_instances and fs.inotify.max_user_watches";
  return new ConsentError(
    "sandbox_failed",
    `Cannot watch the files that are protected from an agent: its user has no inotify instance or watch left; ${fix}`,
  );
}

function toError(error: unknown): ConsentError {
  // What would refuse a start for how it was called has ended one here.
  if (error instanceof ConsentError && error.code === "sandbox_failed") return error;
  const text = error instanceof Error ? error.message : String(error);
  const fix = "change such files in place, or when the agent has ended";
  const message = `Cannot continue an agent after somebody outside replaced files that are protected from it: ${text}; ${fix}`;
  return new ConsentError("sandbox_failed", message, { cause: error });
}
