/**
 * Start for: starts the resident of a home for a command that is no thin client.
 */
import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { ConsentError, asError } from "@acp/core";
import type { Home } from "@acp/home";
import { buildOf, versionOf } from "../build-of.js";
import type { Invocation } from "../command.js";
import type { Release } from "./newer.js";
import { placesOf } from "./places.js";
import type { Places } from "./places.js";
import { reachResident } from "./reach.js";
import type { Reached, Unreached } from "./reach.js";
import { greetingMsIn, isStarter, reachOrStart } from "./reach-or-start.js";
import type { ReachOrStartParts } from "./reach-or-start.js";

const loadStarter = (): unknown => createRequire(import.meta.url)("#resident-start");

/** The file that builds are told apart by; the same for every file of one build. */
export const ENTRY: string = fileURLToPath(new URL("./index.js", import.meta.url));

/** What this process was loaded from, where the files are still those. */
export const releaseOf = (): Release => ({ version: versionOf(ENTRY), build: buildOf(ENTRY) });

/** How {@link reachFor} goes about it. */
export interface ReachForOptions {
  /** Ends the one that runs first. */
  readonly end?: ReachOrStartParts["end"];
  /** What an older resident gives way to. Default: this process's. */
  readonly release?: Release;
  /** Called where an older one stays. */
  readonly onOlder?: () => void;
}

/**
 * Connects to the resident, which is started where none runs.
 *
 * @throws ConsentError `home_busy` where there is none, and none can be started.
 */
export async function reachFor(
  { dir }: Pick<Home, "dir">,
  { io, print }: Pick<Invocation, "io" | "print">,
  { end, release = releaseOf(), onOlder }: ReachForOptions = {},
): Promise<Reached> {
  const home = realpathSync(dir);
  const uid = process.getuid?.() ?? -1;
  const reached = await reachOrStart({
    home,
    places: placesOf(home, { env: io.env, uid }),
    env: io.env,
    cwd: io.cwd,
    uid,
    release,
    loadStarter,
    onOlder(why) {
      onOlder?.();
      print.notice(`An older version of ACP still serves this home: ${why}`);
    },
    ...(end !== undefined && { end }),
  });
  if (typeof reached === "string") throw new ConsentError("home_busy", reached);
  return reached;
}

/** One more connection to the resident that runs; none is started. */
export function reachAgainFor(
  { dir }: Pick<Home, "dir">,
  { io: { env } }: Pick<Invocation, "io">,
): Promise<Reached | Unreached> {
  const home = realpathSync(dir);
  const uid = process.getuid?.() ?? -1;
  return reachResident(home, placesOf(home, { env, uid }), {
    uid,
    greetingMsMax: greetingMsIn(env),
  });
}

/**
 * Makes sure that a resident runs.
 *
 * @param end - Ends the one that runs first.
 * @returns Where it is.
 * @throws ConsentError as {@link reachFor}.
 */
export async function startFor(
  home: Home,
  invocation: Invocation,
  end?: ReachOrStartParts["end"],
): Promise<Places> {
  const { socket } = await reachFor(home, invocation, end === undefined ? {} : { end });
  socket.destroy();
  return placesOf(realpathSync(home.dir), {
    env: invocation.io.env,
    uid: process.getuid?.() ?? -1,
  });
}

/** Whether this command may use a resident at all. */
const isAlone = ({ env }: Invocation["io"]): boolean =>
  process.platform === "win32" || env["ACP_ALONE"] === "1";

/**
 * The same for somebody who answers questions: one that is asked in an agent's first second then
 * finds them. Where none can be started they still wait for gates, and are told why.
 */
export async function startForApprover(home: Home, invocation: Invocation): Promise<void> {
  if (isAlone(invocation.io)) return;
  await startFor(home, invocation).catch((error: unknown) =>
    invocation.print.notice(`${asError(error).message}; gates that start are still joined`),
  );
}

/**
 * Starts one for those who come later, where that may be, and waits for nothing. Never rejects:
 * without one the next hook answers alone, too.
 *
 * @param dir - The home's path, whether or not there is one.
 */
export async function startForLater(dir: string, { io }: Invocation): Promise<void> {
  if (isAlone(io) || !existsSync(dir)) return;
  try {
    const home = realpathSync(dir);
    const uid = process.getuid?.() ?? -1;
    const starter = loadStarter();
    if (!isStarter(starter)) return;
    const places = placesOf(home, { env: io.env, uid });
    await starter.startForLater({ home, places, env: io.env, cwd: io.cwd, uid });
  } catch {
    // As above.
  }
}
