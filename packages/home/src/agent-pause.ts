/**
 * AgentPause: while it is set, every call of one agent, and of everything it started, is denied.
 * Each agent has its own file, so that two commands at the same time lose nothing. It applies to
 * every gate and survives restarts. A file that cannot be understood means paused. Format:
 * spec/home.md §5.
 */
import { hash } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { ConsentError, quoteText } from "@acp/core";
import { cannot, causeText, hasErrno } from "./errors.js";
import type { HomePaths } from "./paths.js";
import {
  isPauseOver,
  type KeptPause,
  parsePause,
  type PauseEnd,
  pauseEndText,
  readPauseText,
  removePause,
  writePause,
} from "./pause-file.js";
import { makePrivateDirectory } from "./private-file.js";

/** Characters of an agent's id. */
const ID_CHARS_MAX = 256;
const NAME = /^[0-9a-f]{64}\.json$/;

/** An agent, with the agents that started it. */
export interface PausableAgent {
  /** The agent's ID, 1 to 256 characters. */
  readonly id: string;
  /** IDs of the agents that started it, nearest first. */
  readonly parents?: readonly string[];
}

/** An agent that is paused, and until when. */
export interface PausedAgent {
  /** The agent's ID. */
  readonly agent: string;
  /** When the pause ends. */
  readonly until: PauseEnd;
}

const fileOf = ({ pausedAgentsDir }: HomePaths, agent: string): string =>
  join(pausedAgentsDir, `${hash("sha256", agent, "hex")}.json`);

function checkId(agent: string): void {
  if (agent !== "" && agent.length <= ID_CHARS_MAX) return;
  throw new ConsentError(
    "options_invalid",
    `Cannot pause an agent: its id does not have 1 to ${ID_CHARS_MAX} characters`,
  );
}

/**
 * Pauses an agent, replacing an earlier pause of it.
 *
 * @throws ConsentError `options_invalid` for an invalid ID or time; `home_invalid` if the pause
 * cannot be stored.
 */
export async function pauseAgent(home: HomePaths, agent: string, end: PauseEnd): Promise<void> {
  checkId(agent);
  const until = pauseEndText(end);
  await makePrivateDirectory(home.pausedAgentsDir);
  await writePause(fileOf(home, agent), { agent, until });
}

/**
 * Ends an agent's pause.
 *
 * @returns False if it was not paused.
 * @throws ConsentError `options_invalid` for an invalid ID; `home_invalid` if the file cannot be
 * removed: the pause then continues.
 */
export async function resumeAgent(home: HomePaths, agent: string): Promise<boolean> {
  checkId(agent);
  return removePause(fileOf(home, agent));
}

interface KeptAgentPause extends KeptPause {
  readonly agent: string;
}

function readKept(text: string): KeptAgentPause | undefined {
  const kept = parsePause(text);
  const agent = kept?.fields["agent"];
  return kept === undefined || typeof agent !== "string" ? undefined : { ...kept, agent };
}

function whyPaused(home: HomePaths, agent: string, nowMs: number): string | undefined {
  let text: string | undefined;
  try {
    text = readPauseText(fileOf(home, agent));
  } catch (error) {
    if (hasErrno(error, "ENOTDIR")) return undefined;
    return `the agent ${quoteText(agent)} is paused: its pause file cannot be read`;
  }
  if (text === undefined) return undefined;
  const kept = readKept(text);
  if (kept === undefined || kept.agent !== agent)
    return `the agent ${quoteText(agent)} is paused: its pause file is malformed`;
  if (isPauseOver(kept, nowMs)) return undefined;
  return `the agent ${quoteText(agent)} is paused${kept.until === "until-off" ? "" : ` until ${kept.untilText}`}`;
}

/**
 * Returns why an agent is paused at `nowMs` (milliseconds since 1970), by its own pause or that of
 * an agent that started it; `undefined` if it is not. Reads small files synchronously.
 */
export function readAgentPause(
  home: HomePaths,
  { id, parents = [] }: PausableAgent,
  nowMs: number,
): string | undefined {
  for (const each of [id, ...parents]) {
    const why = whyPaused(home, each, nowMs);
    if (why !== undefined) return why;
  }
  return undefined;
}

/**
 * Lists the paused agents, sorted by ID. Files that cannot be understood are left out, because
 * their agents are unknown; those agents are still paused.
 *
 * @throws ConsentError `home_invalid` if the files cannot be listed.
 */
export async function listPausedAgents(
  home: HomePaths,
  nowMs: number,
): Promise<readonly PausedAgent[]> {
  const names = await readdir(home.pausedAgentsDir).catch((error: unknown) => {
    if (hasErrno(error, "ENOENT")) return [];
    throw cannot("read", home.pausedAgentsDir)(causeText(error), error);
  });
  const found: PausedAgent[] = [];
  for (const name of names.filter((each) => NAME.test(each))) {
    const kept = readKept(await readFile(join(home.pausedAgentsDir, name), "utf8").catch(() => ""));
    if (kept === undefined || isPauseOver(kept, nowMs)) continue;
    found.push({ agent: kept.agent, until: kept.until });
  }
  return found.toSorted((one, other) => (one.agent < other.agent ? -1 : 1));
}
