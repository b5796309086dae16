/**
 * Reach or start: a connection to the resident of a home, which is started where there is none.
 * Imports nothing of ours but what is as small: a client must start fast.
 */
import { secondsIn } from "../seconds-in.js";
import { makePlaces } from "./places.js";
import type { Places } from "./places.js";
import { reachResident } from "./reach.js";
import type { Reached, Unreached } from "./reach.js";

/** What resident-start.ts exports. */
export interface Starter {
  startResident(parts: {
    readonly home: string;
    readonly places: Places;
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly cwd: string;
    readonly readyMsMax: number;
    readonly isThere: () => Promise<boolean>;
  }): Promise<string | undefined>;
  startForLater(parts: {
    readonly home: string;
    readonly places: Places;
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly cwd: string;
    readonly uid: number;
  }): Promise<void>;
}

/** Who wants the resident. */
export interface ReachOrStartParts {
  /** The home's real path. */
  readonly home: string;
  readonly places: Places;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly uid: number;
  readonly build: string;
  /** Loads resident-start.cjs, which only those need who start one. */
  readonly loadStarter: () => unknown;
}

/**
 * How long a resident may take until it is ready, unless `ACP_RESIDENT_SECONDS` says it: a busy
 * machine takes longer.
 */
const READY_SECONDS = 5;
/** The part of that time in which one that accepts has to greet. */
const GREETING_PART = 2 / 5;

const REASONS: Readonly<Record<Unreached, string>> = {
  none: "The resident gate ended while this process connected to it",
  hung: "The resident gate accepts connections and does not answer; acp resident stop ends it",
  build_differs:
    "The resident gate was started from another build of ACP; acp resident stop ends it, and the next client starts one of this build",
  not_ours: "The folder of the resident's socket is not one that only this user can enter",
};

/**
 * Connects to the resident, or says why there is none.
 *
 * @throws Error where the folders of its sockets are not private.
 */
export async function reachOrStart(parts: ReachOrStartParts): Promise<Reached | string> {
  const { home, places, env, cwd, uid, build, loadStarter } = parts;
  makePlaces(places, uid);
  const readyMsMax = 1_000 * secondsIn(env["ACP_RESIDENT_SECONDS"], READY_SECONDS);
  const own = { build, uid, greetingMsMax: readyMsMax * GREETING_PART };
  const reach = (): Promise<Reached | Unreached> => reachResident(home, places, own);
  let found = await reach();
  if (found === "none") {
    const starter = loadStarter();
    if (!isStarter(starter)) throw new Error("the installation of ACP is not whole");
    const isThere = async (): Promise<boolean> => {
      const now = await reach();
      if (typeof now !== "string") found = now;
      return now !== "none";
    };
    const problem = await starter.startResident({ home, places, env, cwd, readyMsMax, isThere });
    if (problem !== undefined) return `There is no resident gate of ${home}: ${problem}`;
    if (typeof found === "string") found = await reach();
  }
  return typeof found === "string" ? `${REASONS[found]} (${home})` : found;
}

/** Whether that is resident-start.cjs. */
export const isStarter = (loaded: unknown): loaded is Starter =>
  typeof loaded === "object" && loaded !== null && "startResident" in loaded;
