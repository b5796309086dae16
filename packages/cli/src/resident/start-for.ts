/**
 * Start for: starts the resident of a home for a command of a person, as a thin client does.
 */
import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { ConsentError } from "@acp/core";
import type { Home } from "@acp/home";
import { buildOf, versionOf } from "../build-of.js";
import type { Invocation } from "../command.js";
import type { Release } from "./newer.js";
import { placesOf } from "./places.js";
import type { Places } from "./places.js";
import { reachOrStart } from "./reach-or-start.js";
import type { ReachOrStartParts } from "./reach-or-start.js";

/** The file that builds are told apart by; the same for every file of one build. */
export const ENTRY: string = fileURLToPath(new URL("./index.js", import.meta.url));

/** What this process was loaded from, where the files are still those. */
export const releaseOf = (): Release => ({ version: versionOf(ENTRY), build: buildOf(ENTRY) });

/**
 * Makes sure that a resident runs.
 *
 * @param end - Ends the one that runs first.
 * @returns Where it is.
 * @throws ConsentError `home_busy` where there is none, and none can be started.
 */
export async function startFor(
  { dir }: Home,
  { io, print }: Invocation,
  end?: ReachOrStartParts["end"],
): Promise<Places> {
  const home = realpathSync(dir);
  const uid = process.getuid?.() ?? -1;
  const places = placesOf(home, { env: io.env, uid });
  const reached = await reachOrStart({
    home,
    places,
    env: io.env,
    cwd: io.cwd,
    uid,
    release: releaseOf(),
    loadStarter: (): unknown => createRequire(import.meta.url)("#resident-start"),
    onOlder: (why) => print.notice(`An older version of ACP still serves this home: ${why}`),
    ...(end !== undefined && { end }),
  });
  if (typeof reached === "string") throw new ConsentError("home_busy", reached);
  reached.socket.destroy();
  return places;
}
