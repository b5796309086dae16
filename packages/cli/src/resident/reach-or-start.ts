/**
 * Reach or start: a connection to the resident of a home, which is started where there is none, and
 * where the one that runs is older than this process. Imports nothing of ours but what is as small:
 * a client must start fast.
 */
import type { LaterParts, StartParts } from "../resident-start.js";
import { secondsIn } from "../seconds-in.js";
import { givesWay } from "./newer.js";
import type { Release } from "./newer.js";
import { makePlaces } from "./places.js";
import type { Places } from "./places.js";
import { reachResident } from "./reach.js";
import type { Reached, Unreached } from "./reach.js";
import { PROTOCOLS, speakAlike } from "./wire.js";
import type { Greeting } from "./wire.js";

/** What resident-start.ts exports. */
export interface Starter {
  startResident(parts: StartParts): Promise<string | undefined>;
  startForLater(parts: LaterParts): Promise<void>;
}

/** Who wants the resident. */
export interface ReachOrStartParts {
  /** The home's real path. */
  readonly home: string;
  readonly places: Places;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly uid: number;
  /** What this process was loaded from; an older resident is asked to give way to it. */
  readonly release: Release;
  /** Loads resident-start.cjs, which only those need who start one. */
  readonly loadStarter: () => unknown;
  /** Called where an older resident stays, with the reason. */
  readonly onOlder?: (why: string) => void;
  /** Ends the resident that runs, whatever it is, before another one is started; why it did not. */
  readonly end?: () => Promise<string | undefined>;
}

/**
 * How long a resident may take until it is ready, unless `ACP_RESIDENT_SECONDS` says it: a busy
 * machine takes longer.
 */
const READY_SECONDS = 5;
/** The part of that time in which one that accepts has to greet. */
const GREETING_PART = 2 / 5;
/** What an older one may take besides, until its calls have ended. */
export const GIVE_WAY_MS_MAX = 25_000;

const REASONS: Readonly<Record<Unreached, string>> = {
  none: "The resident gate ended while this process connected to it",
  hung: "The resident gate accepts connections and does not answer; run: acp resident restart",
  not_understood:
    "The resident gate is of a version that this one cannot talk to; run: acp resident restart",
  not_ours: "The folder of the resident's socket is not one that only this user can enter",
};

const readyMsIn = (env: ReachOrStartParts["env"]): number =>
  1_000 * secondsIn(env["ACP_RESIDENT_SECONDS"], READY_SECONDS);

/** How long a resident that accepts a connection may take to greet. */
export const greetingMsIn = (env: ReachOrStartParts["env"]): number =>
  readyMsIn(env) * GREETING_PART;

/**
 * Connects to the resident, or says why there is none.
 *
 * @throws Error where the folders of its sockets are not private.
 */
export async function reachOrStart(parts: ReachOrStartParts): Promise<Reached | string> {
  const { home, places, env, uid, end, release, onOlder } = parts;
  makePlaces(places, uid);
  const readyMsMax = readyMsIn(env);
  const greetingMsMax = greetingMsIn(env);
  const reach = (): Promise<Reached | Unreached> =>
    reachResident(home, places, { uid, greetingMsMax });
  // Whoever is to be ended is not asked for: it may hang.
  let isEnded = end === undefined;
  let found: Reached | Unreached = isEnded ? await reach() : "none";
  if (isEnded && !isUnfit(found, release)) return spoken(found, home);
  const isThere = async (): Promise<boolean> => {
    if (!isEnded) return false;
    if (typeof found !== "string") found.socket.destroy();
    found = await reach();
    if (typeof found === "string") return found !== "none";
    return end !== undefined || !gives(found.greeting, release);
  };
  const before = async (): Promise<string | undefined> => {
    const why = await end?.();
    isEnded = why === undefined;
    return why;
  };
  const isOlder = typeof found !== "string";
  const readyIn = readyMsMax + (isOlder || end !== undefined ? GIVE_WAY_MS_MAX : 0);
  const problem = await start(parts, { isThere, before, readyMsMax: readyIn });
  if (problem === undefined) return spoken(typeof found === "string" ? await reach() : found, home);
  if (!isOlder) return `There is no resident gate of ${home}: ${problem}`;
  onOlder?.(problem);
  if (typeof found !== "string") found.socket.destroy();
  return spoken(await reach(), home);
}

const gives = ({ version, build, isCurrent }: Greeting, release: Release): boolean =>
  givesWay({ version, build }, release, isCurrent);

/** Whether another one has to be started. */
const isUnfit = (found: Reached | Unreached, release: Release): boolean =>
  typeof found === "string" ? found === "none" : gives(found.greeting, release);

async function start(
  { home, places, env, cwd, loadStarter }: ReachOrStartParts,
  how: Required<Pick<StartParts, "isThere" | "before" | "readyMsMax">>,
): Promise<string | undefined> {
  const starter = loadStarter();
  if (!isStarter(starter)) throw new Error("the installation of ACP is not whole");
  return starter.startResident({ home, places, env, cwd, ...how });
}

/** What is reached, if it speaks what this process speaks. */
function spoken(found: Reached | Unreached, home: string): Reached | string {
  if (typeof found === "string") return `${REASONS[found]} (${home})`;
  const { protocol } = found.greeting;
  if (speakAlike(protocol, PROTOCOLS)) return found;
  found.socket.destroy();
  return protocol[0] > PROTOCOLS[1]
    ? `The resident gate is newer than this client: restart your client (${home})`
    : `${REASONS.not_understood} (${home})`;
}

/** Whether that is resident-start.cjs. */
export const isStarter = (loaded: unknown): loaded is Starter =>
  typeof loaded === "object" && loaded !== null && "startResident" in loaded;
