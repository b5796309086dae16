/**
 * `acp mcp restart`: has the resident of the home restart the MCP servers of its clients, which go on
 * meanwhile.
 */
import { realpathSync } from "node:fs";
import { escapeText } from "@acp/core";
import type { Run } from "../command.js";
import { homeOf } from "../home/home-source.js";
import { askIfOurs } from "../resident/control.js";
import { placesOf } from "../resident/places.js";
import type { Restarted } from "../resident/restart-servers.js";

/** Runs it. */
export const mcpRestart: Run = async (invocation) => {
  const { print, operands, io } = invocation;
  const [server] = operands;
  const home = realpathSync((await homeOf(invocation)).dir);
  const places = placesOf(home, { env: io.env, uid: process.getuid?.() ?? -1 });
  const told = await askIfOurs(places, {
    ask: "restart servers",
    ...(server !== undefined && { server }),
  });
  if (told === "hung") {
    print.notice("The resident does not answer; run: acp resident restart");
    return "failed";
  }
  const restarted = told === "none" ? [] : readRestarted(told["restarted"]);
  print.result({ running: told !== "none", restarted }, () => [
    ...restarted.map(
      ({ agent, pid, servers, late }) =>
        `${escapeText(agent)} (process ${pid}): ${late === true ? NOT_YET : servers.map((name) => escapeText(name)).join(", ")}`,
    ),
    ...(restarted.length > 0 ? [] : [none(server)]),
    "Servers of acp mcp --alone are restarted with the client that started it",
  ]);
  if (restarted.some(({ late }) => late === true)) return "failed";
  return restarted.length > 0 ? "ok" : "nothing";
};

const NOT_YET = "not restarted yet, its configuration is still being written or cannot be read";

const none = (server: string | undefined): string =>
  server === undefined
    ? "No client of this home's resident has servers now"
    : `No client of this home's resident has a server called ${escapeText(server)}`;

/** What a resident of another release says otherwise is nothing. */
function readRestarted(told: unknown): readonly Restarted[] {
  return Array.isArray(told) ? (told as readonly Restarted[]).filter(isRestarted) : [];
}

function isRestarted({ agent, pid, servers }: Partial<Restarted>): boolean {
  return typeof agent === "string" && typeof pid === "number" && Array.isArray(servers);
}
