/**
 * A home whose resident is killed, or stopped, at one moment after another while many clients call:
 * real clients that stay, real servers with a journal of their own, three approvers with a list of
 * their own answers. Clients start each next resident themselves, and each can be told to end where
 * fixtures/die-at.cjs knows a moment. A moment that was not reached is said, never counted.
 */
import { existsSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { askIfOurs } from "../src/resident/control.js";
import type { Ask, Told } from "../src/resident/control.js";
import { placesOf } from "../src/resident/places.js";
import { acp } from "./harness.js";
import { invitePeople } from "./resident-killed-people.js";
import type { Call, People } from "./resident-killed-people.js";
import { install, residentWorld } from "./resident-world.js";
import type { ClientOptions, Installed, RawClient, ResidentWorld } from "./resident-world.js";

const HOOK = fileURLToPath(new URL("fixtures/die-at.cjs", import.meta.url));
const SERVER = fileURLToPath(new URL("fixtures/journal-server.sh", import.meta.url));
export const PASSPHRASE = "correct horse battery staple 9917";
const POLICY = `version: "1"
default_action: deny
rules:
  - { id: acts, match: { tool: act }, action: allow }
  - { id: asks, match: { tool: ask }, action: ask, timeout: 30 }
`;
const CONFIG = `version: "1"
defaults:
  prompt_limit: none
`;
/** Small files, so that a log is full and pruned within one load. */
const SMALL_LOGS = `audit:
  rotate_megabytes: 1
  keep_files: 1
`;
const LOOK_EVERY_MS = 10;
/** How long one that was stopped stands still. */
const STOPPED_MS = 400;

/** What is killed, or stopped and then killed or let go on. */
export type How = "kill" | "stop, then kill" | "stop, then let go";

/** When it ends. */
export interface Death {
  /** A moment of fixtures/die-at.cjs. */
  readonly at: string;
  readonly how: How;
  /** Whether that is the resident that runs, or the next one. */
  readonly of: "this" | "next";
}

/** What is called while it ends. */
export interface Load {
  /** Calls of each client that ask a person, and that are allowed. */
  readonly asks: number;
  readonly acts: number;
  /** Whether every eighth call takes its server a while. */
  readonly isSlow?: boolean;
}

/** The home, its clients and its people. */
export interface KilledWorld extends AsyncDisposable {
  readonly at: ResidentWorld;
  readonly people: People;
  /** How far the wall clock of residents and people is ahead. */
  readonly clock: { aheadMs: number };
  readonly clients: readonly RawClient[];
  /** Two installations of the program. */
  readonly places: readonly [Installed, Installed];
  client(options?: ClientOptions): Promise<RawClient>;
  ask(ask: Ask): Promise<Told>;
  call(load: Load): readonly Call[];
  /** The number of another call. */
  number(): number;
  /** The process of the resident, once every client has a session of it. */
  resident(): Promise<number>;
}

export interface WorldOptions {
  readonly clients: number;
  readonly hasSmallLogs?: boolean;
  readonly isLocked?: boolean;
}

/** A copy of the program that loads the hook first. */
async function installHooked(folder: string, deaths: string): Promise<Installed> {
  const installed = await install(folder, "1.0.0");
  const real = join(folder, "bin/acp-real.cjs");
  await rename(installed.bin, real);
  const words = [HOOK, deaths, real].map((each) => JSON.stringify(each));
  await writeFile(installed.bin, `require(${words[0]})(${words[1]});\nrequire(${words[2]});\n`);
  return installed;
}

/** Makes the home; its clients run. */
export async function openKilledWorld(options: WorldOptions): Promise<KilledWorld> {
  const at = await residentWorld(POLICY);
  const deaths = join(at.path, "deaths");
  await mkdir(deaths);
  const places = [
    await installHooked(join(at.path, "one"), deaths),
    await installHooked(join(at.path, "two"), deaths),
  ] as const;
  const file = join(at.path, "passphrase");
  await writeFile(file, PASSPHRASE, { mode: 0o600 });
  const env = { ...(options.isLocked === true && { ACP_PASSPHRASE_FILE: file }) };
  await acp(["init", "--home", at.home], { env });
  const text = options.hasSmallLogs === true ? CONFIG + SMALL_LOGS : CONFIG;
  await writeFile(join(at.home, "config.yml"), text, { mode: 0o600 });
  const client = (more: ClientOptions = {}): Promise<RawClient> =>
    at.client({ bin: places[0].bin, command: ["/bin/sh", SERVER], ...more });
  const clients = await Promise.all(
    Array.from({ length: options.clients }, async (_, index) => {
      const cwd = join(at.path, `cwd-${index}`);
      await mkdir(cwd);
      const { bin } = places[index % 2 === 0 ? 0 : 1];
      return client({ bin, args: ["--agent", `a-${index}`], env: { TOKEN: `t-${index}` }, cwd });
    }),
  );
  const clock = { aheadMs: 0 };
  const people = await invitePeople(at, () => Date.now() + clock.aheadMs);
  const own = placesOf(realpathSync(at.home), { env: {}, uid: process.getuid?.() ?? -1 });
  const ask: KilledWorld["ask"] = (asked) => askIfOurs(own, asked);
  let next = 1;
  return {
    at,
    people,
    clock,
    clients,
    places,
    client,
    ask,
    number: () => next++,
    call({ asks, acts, isSlow }) {
      return Array.from({ length: asks + acts }).flatMap((_, turn) =>
        clients.map((each): Call => {
          const n = next++;
          const [isAsk, id] = [turn < asks, each.nextId()];
          const slow = isSlow === true && n % 8 === 0;
          const over = each.call(isAsk ? "ask" : "act", { n, ...(slow && { slow }) });
          return { n, isAsk, answers: () => each.answers.get(id) ?? [], over };
        }),
      );
    },
    resident: () => untilServed(ask, clients),
    async [Symbol.asyncDispose]() {
      await people[Symbol.asyncDispose]();
      await Promise.all(clients.map((each) => each[Symbol.asyncDispose]()));
      await at[Symbol.asyncDispose]();
    },
  };
}

/** Clients come back by themselves, and at their next request where no resident could be started. */
async function untilServed(
  ask: KilledWorld["ask"],
  clients: readonly RawClient[],
): Promise<number> {
  for (let tries = 1; ; tries++) {
    const told = await ask({ ask: "status" });
    if (typeof told !== "string" && Array.isArray(told["clients"]))
      if (told["clients"].length >= clients.length) return Number(told["pid"]);
    await wait(5 * LOOK_EVERY_MS);
    if (tries % 25 === 0) await Promise.all(clients.map((each) => each.ask("ping")));
  }
}

const read = (path: string): string => (existsSync(path) ? readFileSync(path, "utf8") : "");

/** A death that was ordered. */
export interface Ordered {
  /** Resolves with true once it came, and with false once it was taken back. */
  readonly hit: Promise<boolean>;
  /** Takes it back; false where it did not come before. */
  end(): Promise<boolean>;
}

/** Ends a process from outside, also one that has stopped itself. */
export async function finish(pid: number, how: How): Promise<void> {
  if (how === "kill") return void signal(pid, "SIGKILL");
  signal(pid, "SIGSTOP");
  await wait(STOPPED_MS);
  signal(pid, how === "stop, then kill" ? "SIGKILL" : "SIGCONT");
}

const fileOf = ({ at }: KilledWorld, name: string): string => join(at.path, "deaths", name);

/** Has fixtures/die-at.cjs read that. */
function writeOrder(world: KilledWorld, order: Pick<Death, "at" | "how">): void {
  writeFileSync(fileOf(world, "new"), JSON.stringify(order));
  // Read by a process that may start at any moment.
  renameSync(fileOf(world, "new"), fileOf(world, "next"));
}

/** No moment. */
const NEVER = { at: "", how: "kill" } as const;

/** Has the resident that runs read what was written. */
async function hear(world: KilledWorld, pid: number): Promise<void> {
  signal(pid, "SIGUSR2");
  while (existsSync(fileOf(world, "next")) && signal(pid, 0)) await wait(LOOK_EVERY_MS);
}

/** Lets time pass for the resident that runs and those that follow, and for people. */
export async function pass(world: KilledWorld, pid: number, ms: number): Promise<void> {
  world.clock.aheadMs += ms;
  writeFileSync(fileOf(world, "ahead"), String(world.clock.aheadMs));
  writeOrder(world, NEVER);
  await hear(world, pid);
}

/** Orders a death; for the resident that runs, once that has heard of it. */
export async function orderDeath(world: KilledWorld, death: Death, pid: number): Promise<Ordered> {
  const path = (name: string): string => fileOf(world, name);
  rmSync(path("hit"), { force: true });
  rmSync(path("armed"), { force: true });
  writeOrder(world, death);
  if (death.of === "this") await hear(world, pid);
  let isOver = false;
  const hit = (async (): Promise<boolean> => {
    while (!isOver && read(path("hit")) === "") await wait(LOOK_EVERY_MS);
    const found = Number(read(path("hit")));
    if (found > 1 && death.how !== "kill") await finish(found, death.how);
    return found > 1;
  })();
  return {
    hit,
    async end() {
      isOver = true;
      if (await hit) return true;
      // Whoever waits for the moment no longer does.
      const waiting = Number(read(path("armed")));
      rmSync(path("next"), { force: true });
      if (waiting > 1 && signal(waiting, 0)) {
        writeOrder(world, NEVER);
        await hear(world, waiting);
      }
      return false;
    },
  };
}

/** Whether the process was there to get it. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
