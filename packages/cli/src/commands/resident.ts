/**
 * `acp resident`: the one process of a home that the clients of `acp mcp` and hooks share, for
 * people: start it in the foreground, look at it, end it, and have another one take its place.
 */
import { readFileSync, realpathSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Command, Invocation, Run } from "../command.js";
import type { Exit } from "../exit-codes.js";
import { homeOf } from "../home/home-source.js";
import { askIfOurs, lockHolder } from "../resident/control.js";
import type { Told } from "../resident/control.js";
import { RESIDENT_LOCK, placesOf } from "../resident/places.js";
import type { Places } from "../resident/places.js";
import { serveHome } from "../resident/serve.js";
import { startFor } from "../resident/start-for.js";

/** How long an ending resident may take. */
const END_MS_MAX = 15_000;
const LOOK_EVERY_MS = 50;
/** Of the log. */
const LINES_SHOWN = 100;

/**
 * Makes `acp resident serve`.
 *
 * @param commands - What it reads its clients' command lines with.
 */
export const createServe =
  (commands: readonly Command[]): Run =>
  (invocation) =>
    serveHome(invocation, commands);

/** `acp resident status`. */
export const status: Run = async (invocation) => {
  const told = await ask(invocation, "status");
  const { print } = invocation;
  if (told === "none") return notRunning(invocation);
  if (told === "hung") return sayHung(invocation);
  print.result(told, () => [
    `Process ${String(told["pid"])}, version ${String(told["version"])}, up for ${String(told["uptime_seconds"])} s since ${String(told["started_at"])}, ${Math.round(Number(told["memory_bytes"]) / 1e6)} MB`,
    ...(told["is_current"] === false
      ? ["Its files have changed since it started; acp resident restart loads the new ones"]
      : []),
    `Approvers: ${String(told["approvers"])}`,
    `Open questions: ${String(told["questions"])}`,
    `Budgets of each client: ${JSON.stringify(told["budgets"])}`,
    told["peer_uids_checked"] === true
      ? "The user of each connecting process is checked"
      : "The user of each connecting process is not checked: only this user can enter the folder of the sockets",
    ...(typeof told["unlocked_until"] === "string"
      ? [`Unlocked until ${told["unlocked_until"]}`]
      : []),
    ...(typeof told["index_percent"] === "number"
      ? [`The index of the audit logs is being rebuilt: ${told["index_percent"]} %`]
      : []),
    ...(Array.isArray(told["shared_servers"]) && told["shared_servers"].length > 0
      ? [`Servers that clients share: ${told["shared_servers"].join(", ")}`]
      : []),
    ...(Array.isArray(told["clients"]) ? told["clients"] : []).map(
      (client: unknown) => `Client: ${JSON.stringify(client)}`,
    ),
  ]);
  return "ok";
};

/** `acp resident restart`: another one takes its place, also where it hangs. */
export const restart: Run = async (invocation) => {
  let was: number | null = null;
  await startFor(await homeOf(invocation), invocation, async () => {
    const ended = await endForNext(invocation);
    if (typeof ended === "string") return ended;
    was = ended;
    return undefined;
  });
  const now = await ask(invocation, "status");
  if (typeof now === "string") return sayHung(invocation);
  const [pid, version] = [Number(now["pid"]), String(now["version"])];
  invocation.print.result({ restarted: true, pid, version, was }, () => [
    `Process ${pid} serves this home, version ${version}; ${was === null ? "none ran before" : `before it process ${was} did`}`,
  ]);
  return "ok";
};

/**
 * Its clients go to the next one, and its open questions stay. One that hangs is killed.
 *
 * @returns The process that ended, `null` where none ran, or why it did not end.
 */
async function endForNext(invocation: Invocation): Promise<number | null | string> {
  const { run } = await placesFor(invocation);
  const told = await ask(invocation, "restart");
  const pid = typeof told === "string" ? lockHolder(run, RESIDENT_LOCK) : Number(told["pid"]);
  if (pid === undefined || !isResident(pid)) return null;
  if (typeof told !== "string" && (await waitUntil(() => !isResident(pid)))) return pid;
  return (await kill(invocation, pid)) ? pid : `process ${pid} does not end`;
}

/** `acp resident stop`: also one that hangs. */
export const stop: Run = async (invocation) => {
  const end = await endResident(invocation);
  if (end === "none") return notRunning(invocation);
  if (end === "hung") return sayHung(invocation);
  return end === "ended" ? sayEnded(invocation) : "failed";
};

/** Ends the resident of the home, also one that hangs. */
export async function endResident(
  invocation: Invocation,
): Promise<"none" | "ended" | "hung" | "failed"> {
  const places = await placesFor(invocation);
  const pid = lockHolder(places.run, RESIDENT_LOCK);
  const told = await ask(invocation, "stop");
  if (told === "none" && (pid === undefined || !isResident(pid))) return "none";
  const holder = typeof told === "string" ? pid : Number(told["pid"]);
  const isGone = (): boolean => holder === undefined || !isResident(holder);
  if (typeof told !== "string" && (await waitUntil(isGone))) return "ended";
  if (holder === undefined || !isResident(holder)) return "hung";
  return (await kill(invocation, holder)) ? "ended" : "failed";
}

/** Kills a resident; true once it is gone. */
async function kill({ print }: Invocation, pid: number): Promise<boolean> {
  const isGone = (): boolean => !isResident(pid);
  if (isGone()) return true;
  print.notice(`Process ${pid} does not end by itself and is killed`);
  process.kill(pid, "SIGKILL");
  return waitUntil(isGone);
}

/** `acp resident logs`. */
export const logs: Run = async (invocation) => {
  const { log } = await placesFor(invocation);
  const text = await readFile(log, "utf8").catch(() => "");
  const lines = text
    .split("\n")
    .filter((line) => line !== "")
    .slice(-LINES_SHOWN);
  invocation.print.result({ file: log, lines }, () => lines);
  return lines.length === 0 ? "nothing" : "ok";
};

async function placesFor(invocation: Invocation): Promise<Places> {
  const home = realpathSync((await homeOf(invocation)).dir);
  return placesOf(home, { env: invocation.io.env, uid: process.getuid?.() ?? -1 });
}

async function ask(invocation: Invocation, what: "status" | "stop" | "restart"): Promise<Told> {
  return askIfOurs(await placesFor(invocation), { ask: what });
}

/** Whether a process is a resident of ours: its ID alone could be anybody's by now. */
function isResident(pid: number): boolean {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    const isDead = /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
    return !isDead && words.some((word, at) => word === "resident" && words[at + 1] === "serve");
  } catch {
    return false;
  }
}

async function waitUntil(isTrue: () => boolean): Promise<boolean> {
  const endMs = performance.now() + END_MS_MAX;
  while (!isTrue() && performance.now() < endMs)
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  return isTrue();
}

function notRunning({ print }: Invocation): Exit {
  print.result({ running: false }, () => ["No resident runs for this home"]);
  return "nothing";
}

function sayEnded({ print }: Invocation): Exit {
  print.result({ ended: true }, () => ["The resident has ended"]);
  return "ok";
}

function sayHung({ print }: Invocation): Exit {
  print.notice("The resident does not answer; run: acp resident restart");
  return "failed";
}
