/**
 * Start for: starts the resident of a home for a command of a person, as a thin client does.
 */
import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { ConsentError } from "@acp/core";
import type { Home } from "@acp/home";
import { buildOf } from "../build-of.js";
import type { Invocation } from "../command.js";
import { placesOf } from "./places.js";
import type { Places } from "./places.js";
import { reachOrStart } from "./reach-or-start.js";

/**
 * Makes sure that a resident runs.
 *
 * @returns Where it is.
 * @throws ConsentError `home_busy` where there is none, and none can be started.
 */
export async function startFor({ dir }: Home, { io }: Invocation): Promise<Places> {
  const home = realpathSync(dir);
  const uid = process.getuid?.() ?? -1;
  const places = placesOf(home, { env: io.env, uid });
  const reached = await reachOrStart({
    home,
    places,
    env: io.env,
    cwd: io.cwd,
    uid,
    build: buildOf(fileURLToPath(new URL("./index.js", import.meta.url))),
    loadStarter: (): unknown => createRequire(import.meta.url)("#resident-start"),
  });
  if (typeof reached === "string") throw new ConsentError("home_busy", reached);
  reached.socket.destroy();
  return places;
}
