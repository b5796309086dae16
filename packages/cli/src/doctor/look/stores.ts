/**
 * Examination of what gates keep: grants, claims, open questions and pauses. Nothing is taken over
 * or written.
 */
import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { readAuditLog } from "@acp/audit";
import { asError, isJsonObject, parseIsoTime } from "@acp/core";
import type { JsonObject } from "@acp/core";
import { parseGrants, readPrivateFile } from "@acp/home";
import type { HomePaths } from "@acp/home";
import { exists } from "../../home/exists.js";
import { readIndexKey } from "../../logs/index-key.js";
import { listAuditFiles } from "../../logs/log-files.js";
import type { Examination } from "../examination.js";
import { makeFound } from "../finding.js";
import type { Found, Mend } from "../finding.js";
import { setAside } from "../mend/set-aside.js";
import { policyTexts, serverPins } from "./kept-texts.js";
import { isPrivateFile } from "./private.js";

/** What gates keep. */
export const storesExamination: Examination = {
  id: "stores",
  looksAt: "Grants, claims, open questions, pauses, policy texts and pins can be read",
  look: async ({ home, isQuick }) => [
    ...(await grants(home)),
    ...(await claims(home, isQuick)),
    ...(await pending(home)),
    ...(await pause(home)),
    ...(await agentPauses(home)),
    ...(await policyTexts(home)),
    ...(await serverPins(home)),
  ],
};

const CLAIMS_BYTES_MAX: number = 64 * 1024 * 1024;
const GRANTS_BYTES_MAX: number = 16 * 1024 * 1024;
const JOURNAL_BYTES_MAX: number = 256 * 1024 * 1024;
const OWNER = /^[0-9a-f]{8}$/;
const AGENT_PAUSE = /^[0-9a-f]{64}\.json$/;

function aside(home: HomePaths, paths: readonly string[], effect: string): Mend {
  return {
    what: `set ${paths.join(", ")} aside; ${effect}`,
    note: "before",
    async run() {
      const done: string[] = [];
      for (const path of paths) if (await exists(path)) done.push(await setAside(home, path));
      return done.join("; ");
    },
  };
}

async function grants(home: HomePaths): Promise<readonly Found[]> {
  const path = home.grantsPath;
  // Only what is missing has no grants.
  if (!(await exists(path)) || !(await isPrivateFile(path))) return [];
  // The text alone: what seals it may be broken, and is looked at by itself.
  const fault = await grantsFault(path);
  if (typeof fault === "string") {
    const mend = aside(home, [path], "every earlier consent ends, and is asked for again");
    return [makeFound("grants_broken", { path, found: fault, mend })];
  }
  const ignored = fault;
  const found = `${ignored} of its entries are not grants`;
  return ignored === 0 ? [] : [makeFound("grants_ignored", { path, found })];
}

/** Why it holds no grants, or how many of its entries are none. */
async function grantsFault(path: string): Promise<string | number> {
  try {
    const text = await readPrivateFile(path, GRANTS_BYTES_MAX);
    const parsed = parseGrants(text);
    const { counter = 0, grants: entries } = readObject(text);
    if (parsed === undefined || !Array.isArray(entries)) return `"${path}" holds no grants`;
    const isCount = typeof counter === "number" && Number.isSafeInteger(counter) && counter >= 0;
    return isCount ? entries.length - parsed.length : "Its counter is not a whole number";
  } catch (error) {
    return asError(error).message;
  }
}

async function claims(home: HomePaths, isQuick: boolean): Promise<readonly Found[]> {
  const folder = join(home.dir, "claims");
  const path = join(folder, "claims.jsonl");
  if (!(await isPrivateFile(path))) return [];
  // Whatever a claim keeps from happening twice ends with it.
  const paths = [folder, home.grantsPath, join(home.dir, "pending")];
  const mend = aside(home, paths, "every open question and every earlier consent ends");
  const fault = await claimFault(path);
  if (fault !== undefined) return [makeFound("claims_broken", { path, found: fault, mend })];
  if (isQuick || !(await isEmptied(home, path))) return [];
  const found = "It is empty, and the logs have answers, each of which is in it";
  return [makeFound("claims_emptied", { path, found, mend })];
}

/** Once a question has ended there is a line, and there are never fewer than one. */
async function isEmptied(home: HomePaths, path: string): Promise<boolean> {
  if ((await readPrivateFile(path, CLAIMS_BYTES_MAX)).includes("\n")) return false;
  const indexKey = await readIndexKey(home).catch(() => undefined);
  const reading = { filter: { eventType: "consent_approved" }, indexKey } as const;
  try {
    for (const log of await listAuditFiles(home.dir))
      for await (const _event of readAuditLog(log, reading)) return true;
  } catch {
    // What is wrong with a log is said elsewhere.
  }
  return false;
}

async function claimFault(path: string): Promise<string | undefined> {
  try {
    const lines = (await readPrivateFile(path, CLAIMS_BYTES_MAX)).split("\n").slice(0, -1);
    const bad = lines.findIndex((line) => !isClaim(line));
    return bad === -1 ? undefined : `Line ${bad + 1} does not hold a claim`;
  } catch (error) {
    return asError(error).message;
  }
}

function isClaim(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line);
    return (
      isJsonObject(value) &&
      typeof value["key"] === "string" &&
      typeof value["end_ms"] === "number" &&
      typeof value["ttl_ms"] === "number"
    );
  } catch {
    return false;
  }
}

async function pending(home: HomePaths): Promise<readonly Found[]> {
  const directory = join(home.dir, "pending");
  if (!(await exists(directory))) return [];
  const found: Found[] = [];
  for (const name of (await readdir(directory)).filter((each) => OWNER.test(each))) {
    const folder = join(directory, name);
    const path = join(folder, "journal.jsonl");
    if (!(await isPrivateFile(path))) continue;
    try {
      const lines = (await readPrivateFile(path, JOURNAL_BYTES_MAX)).split("\n").slice(0, -1);
      const ignored = lines.filter((line) => typeof readObject(line)["id"] !== "string").length;
      const text = `${ignored} of its ${lines.length} lines are not questions`;
      if (ignored > 0) found.push(makeFound("pending_ignored", { path, found: text }));
    } catch (error) {
      const mend = aside(home, [folder], "the questions in it end without an answer");
      found.push(makeFound("pending_broken", { path, found: asError(error).message, mend }));
    }
  }
  return found;
}

async function pause({ pausePath: path }: HomePaths): Promise<readonly Found[]> {
  if (!(await exists(path)) || isPause(await readFile(path, "utf8").catch(() => ""))) return [];
  const found = "Every question is denied, because the pause file cannot be read";
  return [makeFound("pause_broken", { path, found })];
}

async function agentPauses({ pausedAgentsDir }: HomePaths): Promise<readonly Found[]> {
  if (!(await exists(pausedAgentsDir)) || !(await lstat(pausedAgentsDir)).isDirectory()) return [];
  const found: Found[] = [];
  for (const name of (await readdir(pausedAgentsDir)).filter((each) => AGENT_PAUSE.test(each))) {
    const path = join(pausedAgentsDir, name);
    const text = await readFile(path, "utf8").catch(() => "");
    if (!isAgentPause(text))
      found.push(makeFound("agent_pause_broken", { path, found: "It does not say which agent" }));
  }
  return found;
}

function isAgentPause(text: string): boolean {
  return isPause(text) && typeof readObject(text)["agent"] === "string";
}

function isPause(text: string): boolean {
  const { version, until } = readObject(text);
  if (version !== "1" || typeof until !== "string") return false;
  return until === "off" || parseIsoTime(until) !== undefined;
}

/** What a text says; nothing where it is not a JSON object. */
function readObject(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
