/**
 * Serve: the resident of a home. It has the home's lock for as long as it lives, so that there is
 * one, listens for agents and, on another socket, for people's commands, and ends when nobody needs
 * it, when its sockets are gone, when it is told to, and when a newer release wants its place.
 */
import type { Socket } from "node:net";
import { lstat, realpath, unlink } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { ConsentError, asError } from "@acp/core";
import { homePaths } from "@acp/home";
import { trySocketLock } from "@acp/host";
import type { SocketLock } from "@acp/host";
import type { Command, Invocation } from "../command.js";
import type { Exit } from "../exit-codes.js";
import { createIndexRebuild } from "../logs/index-rebuild.js";
import type { IndexRebuild } from "../logs/index-rebuild.js";
import { makeHome } from "../home/make-home.js";
import { ownHomePath } from "../home/home-source.js";
import { createBudgets } from "./budgets.js";
import { freeBytes } from "./log-room.js";
import { askIfOurs, attendControl } from "./control.js";
import type { ControlParts } from "./control.js";
import { createLobby, finishRequests, partAll } from "./hand-over.js";
import type { Lobby } from "./hand-over.js";
import { DOOR_LIMITS, createDoors } from "./doors.js";
import { createHomeGates } from "./home-gates.js";
import type { HomeGates } from "./home-gates.js";
import { createIdle } from "./idle.js";
import { listenPrivately } from "./listen.js";
import { loadAll } from "./load-all.js";
import { buildOf } from "../build-of.js";
import { lockCommands, lockOf } from "./lock-home.js";
import { givesWay } from "./newer.js";
import type { Release } from "./newer.js";
import { createPeers } from "./peers.js";
import { RESIDENT_LOCK, makePlaces, placesOf } from "./places.js";
import type { Places } from "./places.js";
import { restartServers } from "./restart-servers.js";
import { openServers } from "./servers.js";
import { createSharedServers } from "./shared-servers.js";
import type { SharedServers } from "./shared-servers.js";
import { attendSession } from "./session.js";
import { endSilent } from "./silent.js";
import type { Session, SessionParts } from "./session.js";
import { ENTRY, releaseOf } from "./start-for.js";
import { statusOf } from "./status.js";
import { greetingFrame } from "./wire.js";

/** How often it looks whether it is still wanted. */
const LOOK_EVERY_MS = 2_000;
/** More connections than sessions and silent ones can be; the rest are refused and go at once. */
const CONNECTIONS_MAX: number = 256 + DOOR_LIMITS.ofAll;
/** People's commands have connections of their own, which no agent can use up. */
const CONTROLS_MAX = 16;
/** How long clients have to take what is left for them. */
const LEAVE_MS = 10_000;
/** One that is ending gives its lock up soon. */
const LOCK_MS_MAX = 3_000;
/** One that gives way takes as long as its requests do. */
const HANDED_OVER_MS_MAX = 20_000;
const LOCK_WAIT_MS = 200;

/**
 * Serves a home until it is told to end, nobody needs it, or a newer release takes its place: then
 * this process exits.
 *
 * @throws ConsentError `home_busy` where another one does and does not give way.
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
  const own = releaseOf();
  const lock = await takeLock(homeDir, places, own);
  try {
    await serveLocked({ invocation, commands, signal, homeDir, places, own });
  } finally {
    await lock.release();
  }
  return "ok";
}

/** One that is ending gives it up soon, and of two that only want it each steps back. */
async function takeLock(homeDir: string, places: Places, own: Release): Promise<SocketLock> {
  let endMs: number | undefined;
  const startMs = performance.now();
  for (;;) {
    const lock = await trySocketLock({ directory: places.run, prefix: RESIDENT_LOCK });
    if (lock.isHeld) return lock;
    if (endMs === undefined && lock.isHolder) {
      // Nobody is asked to go for one that cannot serve.
      await loadAll();
      const told = await askIfOurs(places, { ask: "handover", ...own });
      // One that is slow to say so may be going all the same.
      const isGoing = told === "hung" || (told !== "none" && told["handing_over"] === true);
      endMs = performance.now() + (isGoing ? HANDED_OVER_MS_MAX : LOCK_MS_MAX);
    }
    if (performance.now() > (endMs ?? startMs + LOCK_MS_MAX))
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
  readonly own: Release;
}

async function serveLocked(locked: Locked): Promise<void> {
  const { invocation, commands, homeDir, places, own } = locked;
  const sessions = new Set<Session>();
  const [end, way] = [new AbortController(), new AbortController()];
  const greeting = (): Buffer => greetingFrame({ ...own, isCurrent: isCurrent(own) });
  const lobby = createLobby(greeting);
  const say = (text: string): void => invocation.print.notice(text);
  await using rebuild = createIndexRebuild({ home: homePaths(homeDir), say });
  const lock = lockOf(invocation, rebuild);
  const servers = await openServers(places.run);
  const peers = createPeers(process.getuid?.() ?? -1, say);
  await using sharing = createSharedServers(invocation, { servers, version: own.version });
  const ofHome = { lock, rebuild, servers, peers, shared: sharing };
  await using gates = createHomeGates(invocation, ofHome);
  const isUnlocked = (): boolean => lock.keys() !== undefined;
  const budgets = createBudgets(undefined, undefined, () => freeBytes(homeDir));
  const shared = { homeDir, greeting, gates, peers };
  const parts: SessionParts = { ...shared, commands, budgets, doors: createDoors(), isUnlocked };
  const isNow = (): boolean => isCurrent(own);
  const status = statusOf({ ...shared, sharing, own, isCurrent: isNow, lock, rebuild, sessions });
  const isNeeded = (): boolean =>
    invocation.flags.has("stay") || sessions.size > 0 || gates.attached() > 0 || isUnlocked();
  const idle = createIdle(isNeeded, () => performance.now());
  const ofLock = lockCommands({ lock, gates, sessions, print: invocation.print });
  {
    const giveWay = (to: Release | "whoever follows"): boolean => {
      if (to !== "whoever follows" && !givesWay(own, to, isNow())) return false;
      way.abort();
      return true;
    };
    const stop = (): void => end.abort();
    const people = { ...thatWarms(ofLock, gates), ...thatRestarts(sharing, sessions) };
    const control = { greeting, peers, status, stop, giveWay, ...people };
    await using _control = await listenPrivately(places.control, CONTROLS_MAX, (socket) =>
      attendControl(socket, control),
    );
    const attend = { parts, sessions, lobby, way: way.signal, onOver: idle.touch };
    await using _agents = await listenPrivately(places.agents, CONNECTIONS_MAX, (socket) =>
      takeAgent(socket, attend),
    );
    invocation.print.notice(`Serving ${homeDir} as process ${process.pid}`);
    void warmUp(gates, rebuild);
    // Its files may be replaced while it runs. What it cannot load now it could not load later.
    loadAll().catch((error: unknown) => invocation.print.notice(asError(error).message));
    await untilUnwanted({
      ...locked,
      ends: [end.signal, way.signal],
      isIdle: idle.isOver,
      isFree: () => sessions.size === 0,
      expire: ofLock.expire,
    });
    const isHandedOver = way.signal.aborted && !end.signal.aborted && !locked.signal.aborted;
    if (isHandedOver) await finishRequests(sessions);
    // From now on a client's start makes the next one, which waits for the lock.
    for (const path of [places.agents, places.control]) await unlink(path).catch(() => undefined);
    if (isHandedOver) return void (await depart(locked, { sessions, lobby }));
    await leaveAll(sessions);
  }
  invocation.print.notice("Ended");
}

interface Attending {
  readonly parts: SessionParts;
  readonly sessions: Set<Session>;
  readonly lobby: Lobby;
  /** Aborted where another resident takes this one's place: whoever comes waits for that one. */
  readonly way: AbortSignal;
  onOver(): void;
}

function takeAgent(socket: Socket, { parts, sessions, lobby, way, onOver }: Attending): void {
  if (way.aborted) return lobby.enter(socket);
  const session = attendSession(socket, parts);
  sessions.add(session);
  endSilent(sessions);
  void session.done.then(() => {
    sessions.delete(session);
    onOver();
  });
}

/** Approvers attach to what an unlocked key opens, before anybody asks. */
const thatWarms = (
  ofLock: ReturnType<typeof lockCommands>,
  gates: Pick<HomeGates, "warm">,
): ReturnType<typeof lockCommands> => ({
  ...ofLock,
  async unlock(passphrase) {
    const unlocked = await ofLock.unlock(passphrase);
    if (unlocked.unlocked) void gates.warm();
    return unlocked;
  },
});

/** Processes that clients share are others once those have left the ones of now. */
const thatRestarts = (
  sharing: Pick<SharedServers, "renew">,
  sessions: ReadonlySet<Session>,
): Pick<ControlParts, "restartServers"> => ({
  restartServers(name) {
    sharing.renew(name);
    return restartServers(sessions, name);
  },
});

/** Opens what can be opened, and once more where the index had to be made first. */
async function warmUp(
  gates: Pick<HomeGates, "warm">,
  rebuild: Pick<IndexRebuild, "percent" | "whole">,
): Promise<void> {
  await gates.warm();
  if (rebuild.percent() === undefined) return;
  await rebuild.whole;
  await gates.warm();
}

/**
 * Ends this process with all that is open. To close gates would end their questions, which the next
 * resident shows again; the home is as a process leaves it that is killed, and nothing is under way.
 * The lock goes with the process, like those of its journals.
 */
async function depart(
  { invocation }: Locked,
  { sessions, lobby }: { readonly sessions: ReadonlySet<Session>; readonly lobby: Lobby },
): Promise<never> {
  await partAll(sessions, lobby);
  invocation.print.notice("Gave way to another resident");
  process.exit(0);
}

async function leaveAll(sessions: ReadonlySet<Session>): Promise<void> {
  const all = [...sessions];
  for (const session of all) session.leave("leaving");
  const limit = new Promise<void>((resolve) => void setTimeout(resolve, LEAVE_MS).unref());
  await Promise.race([Promise.all(all.map(({ done }) => done)), limit]);
}

interface Wanted extends Locked {
  readonly ends: readonly AbortSignal[];
  isIdle(): boolean;
  isFree(): boolean;
  expire(): Promise<void>;
}

/** Settles when it is told to end, is idle, is out of date with no client, or has lost its socket. */
async function untilUnwanted(wanted: Wanted): Promise<void> {
  const { signal, ends, places, own: release, isIdle, isFree, expire } = wanted;
  const own = await lstat(places.agents);
  const look = async (): Promise<boolean> => {
    const found = await lstat(places.agents).catch(() => undefined);
    await expire();
    return found?.ino === own.ino && !isIdle() && !(isFree() && !isCurrent(release));
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
    for (const each of [signal, ...ends])
      if (each.aborted) stop();
      else each.addEventListener("abort", stop, { once: true });
  });
}

function isCurrent({ build }: Release): boolean {
  try {
    return buildOf(ENTRY) === build;
  } catch {
    return false;
  }
}
