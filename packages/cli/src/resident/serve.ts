/**
 * Serve: the resident of a home. It has the home's lock for as long as it lives, so that there is
 * one, listens for agents and, on another socket, for people's commands, and ends when nobody needs
 * it, when its sockets are gone, and when it is told to.
 */
import { lstat, realpath, unlink } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { ConsentError } from "@acp/core";
import { trySocketLock } from "@acp/host";
import type { SocketLock } from "@acp/host";
import type { Command, Invocation } from "../command.js";
import type { Exit } from "../exit-codes.js";
import { makeHome } from "../home/make-home.js";
import { ownHomePath } from "../home/home-source.js";
import { createBudgets } from "./budgets.js";
import { attendControl } from "./control.js";
import type { Status } from "./control.js";
import { createHomeGates } from "./home-gates.js";
import type { HomeGates } from "./home-gates.js";
import { createIdle } from "./idle.js";
import { listenPrivately } from "./listen.js";
import { buildOf } from "../build-of.js";
import type { Lock } from "./lock.js";
import { lockCommands, lockOf } from "./lock-home.js";
import { RESIDENT_LOCK, makePlaces, placesOf } from "./places.js";
import type { Places } from "./places.js";
import { attendSession } from "./session.js";
import type { Session, SessionParts } from "./session.js";

/** How often it looks whether it is still wanted. */
const LOOK_EVERY_MS = 2_000;
/** Connections that have not said who they are; one more ends the oldest of them. */
const SILENT_MAX = 16;
/** More connections than sessions and silent ones can be; the rest are refused and go at once. */
const CONNECTIONS_MAX = 256;
/** People's commands have connections of their own, which no agent can use up. */
const CONTROLS_MAX = 16;
/** How long clients have to take what is left for them. */
const LEAVE_MS = 10_000;
/** About three seconds. */
const LOCK_TRIES = 30;
const LOCK_WAIT_MS = 200;
/** The file that builds are told apart by; the same for every file of one build. */
const ENTRY: string = fileURLToPath(new URL("./index.js", import.meta.url));

/**
 * Serves a home until it is told to end or nobody needs it.
 *
 * @throws ConsentError `home_busy` where another one does.
 */
export async function serveHome(
  invocation: Invocation,
  commands: readonly Command[],
): Promise<Exit> {
  process.umask(0o077);
  const signal = invocation.io.onStop();
  const home = await makeHome(ownHomePath(invocation));
  const homeDir = await realpath(home.dir);
  const places = placesOf(homeDir, { env: invocation.io.env, uid: process.getuid?.() ?? -1 });
  makePlaces(places, process.getuid?.() ?? -1);
  const lock = await takeLock(homeDir, places);
  try {
    await serveLocked({ invocation, commands, signal, homeDir, places });
  } finally {
    await lock.release();
  }
  return "ok";
}

/** One that is ending gives it up soon, and of two that only want it each steps back. */
async function takeLock(homeDir: string, { run: directory }: Places): Promise<SocketLock> {
  for (let tries = 1; ; tries++) {
    const lock = await trySocketLock({ directory, prefix: RESIDENT_LOCK });
    if (lock.isHeld) return lock;
    if (tries >= LOCK_TRIES)
      throw new ConsentError("home_busy", `A resident of ${homeDir} runs already (${lock.pid})`);
    await wait(Math.random() * LOCK_WAIT_MS);
  }
}

interface Locked {
  readonly invocation: Invocation;
  readonly commands: readonly Command[];
  readonly signal: AbortSignal;
  readonly homeDir: string;
  readonly places: Places;
}

async function serveLocked(locked: Locked): Promise<void> {
  const { invocation, commands, homeDir, places } = locked;
  const build = buildOf(ENTRY);
  const sessions = new Set<Session>();
  const end = new AbortController();
  const lock = lockOf(invocation);
  await using gates = createHomeGates(invocation, lock);
  const isUnlocked = (): boolean => lock.keys() !== undefined;
  const budgets = createBudgets();
  const parts: SessionParts = { homeDir, build, gates, commands, budgets, isUnlocked };
  const status = statusOf({ build, homeDir, gates, lock, sessions });
  const isNeeded = (): boolean =>
    invocation.flags.has("stay") || sessions.size > 0 || gates.attached() > 0 || isUnlocked();
  const idle = createIdle(isNeeded, () => performance.now());
  const ofLock = lockCommands({ lock, gates, sessions, print: invocation.print });
  {
    await using _control = await listenPrivately(places.control, CONTROLS_MAX, (socket) =>
      attendControl(socket, {
        build,
        status,
        stop: () => end.abort(),
        ...ofLock,
        async unlock(passphrase) {
          const unlocked = await ofLock.unlock(passphrase);
          if (unlocked.unlocked) void gates.warm();
          return unlocked;
        },
      }),
    );
    await using _agents = await listenPrivately(places.agents, CONNECTIONS_MAX, (socket) => {
      const session = attendSession(socket, parts);
      sessions.add(session);
      endOldest(sessions);
      void session.done.then(() => {
        sessions.delete(session);
        idle.touch();
      });
    });
    invocation.print.notice(`Serving ${homeDir} as process ${process.pid}`);
    void gates.warm();
    await untilUnwanted({
      ...locked,
      end: end.signal,
      build,
      isIdle: idle.isOver,
      isFree: () => sessions.size === 0,
      expire: ofLock.expire,
    });
    // From now on a client's start makes the next one, which waits for the lock.
    for (const path of [places.agents, places.control]) await unlink(path).catch(() => undefined);
    await leaveAll(sessions);
  }
  invocation.print.notice("Ended");
}

interface StatusParts {
  readonly build: string;
  readonly homeDir: string;
  readonly gates: HomeGates;
  readonly lock: Lock;
  readonly sessions: ReadonlySet<Session>;
}

function statusOf({ build, homeDir, gates, lock, sessions }: StatusParts): () => Status {
  const startMs = Date.now();
  return () => ({
    pid: process.pid,
    build,
    home: homeDir,
    started_at: new Date(startMs).toISOString(),
    memory_bytes: process.memoryUsage.rss(),
    approvers: gates.attached(),
    unlocked_until: lock.until() ?? null,
    clients: [...sessions].flatMap(({ hello, usage }) => {
      const [said, used] = [hello(), usage()];
      if (said === undefined || used === undefined) return [];
      return [{ pid: said.pid, ppid: said.ppid, cwd: said.cwd, argv: said.argv, used }];
    }),
  });
}

/** Whoever says nothing keeps nobody out who does. */
function endOldest(sessions: ReadonlySet<Session>): void {
  const silent = [...sessions].filter(({ isSilent }) => isSilent());
  for (const each of silent.slice(0, Math.max(0, silent.length - SILENT_MAX)))
    each.leave("leaving");
}

async function leaveAll(sessions: ReadonlySet<Session>): Promise<void> {
  const all = [...sessions];
  for (const session of all) session.leave("leaving");
  const limit = new Promise<void>((resolve) => void setTimeout(resolve, LEAVE_MS).unref());
  await Promise.race([Promise.all(all.map(({ done }) => done)), limit]);
}

interface Wanted extends Locked {
  readonly end: AbortSignal;
  readonly build: string;
  isIdle(): boolean;
  isFree(): boolean;
  expire(): Promise<void>;
}

/** Settles when it is told to end, is idle, is out of date with no client, or has lost its socket. */
async function untilUnwanted(wanted: Wanted): Promise<void> {
  const { signal, end, places, build, isIdle, isFree, expire } = wanted;
  const own = await lstat(places.agents);
  const look = async (): Promise<boolean> => {
    const found = await lstat(places.agents).catch(() => undefined);
    await expire();
    return found?.ino === own.ino && !isIdle() && !(isFree() && !isCurrent(build));
  };
  await new Promise<void>((resolve) => {
    const timer = setInterval(
      () => void look().then((isWanted) => (isWanted ? undefined : stop())),
      LOOK_EVERY_MS,
    );
    const stop = (): void => {
      clearInterval(timer);
      resolve();
    };
    for (const each of [signal, end])
      if (each.aborted) stop();
      else each.addEventListener("abort", stop, { once: true });
  });
}

function isCurrent(build: string): boolean {
  try {
    return buildOf(ENTRY) === build;
  } catch {
    return false;
  }
}
