/**
 * Resident start: starts the resident of a home for a thin client that found none. Loaded only then.
 * Nothing of the client's environment, directory or workspace has a say in what is started.
 */
import {
  closeSync,
  existsSync,
  futimesSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
} from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { startProgram, trustedProgram, trustedPath, trySocketLock } from "@acp/host";
import { RESIDENT_LOCK, makePlaces, workspacesOf } from "./resident/places.js";
import type { Places } from "./resident/places.js";

/** What a start needs to know. */
export interface StartParts {
  /** The home's real path. */
  readonly home: string;
  readonly places: Places;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The time until a started resident, or somebody else's, answers. */
  readonly readyMsMax: number;
  /** Whether a resident answers that this client can use, whoever started it. */
  isThere(): Promise<boolean>;
  /** Called before one is started, with the lock; gives why none may be. */
  before?(): Promise<string | undefined>;
}

/** What a start for later needs to know. */
export interface LaterParts extends Pick<StartParts, "home" | "places" | "env" | "cwd"> {
  readonly uid: number;
}

const LOOK_EVERY_MS = 10;
/** Up to half a second, give or take half. */
const DOUBLINGS_MAX = 6;
/**
 * One that was started for later may take this long until it answers; then it has failed, and
 * another try is allowed.
 */
const START_MS = 10_000;
const START_LOCK = "start.lock.";
/**
 * A core dump would have keys and secrets in it; Node has no other way to turn it off. The shell is
 * replaced, and its own variables are not passed on.
 */
const WITHOUT_CORES = 'ulimit -c 0 && unset PWD OLDPWD SHLVL && exec "$0" "$@"';
/** How much the engine lets young objects take: without it, a third of a resident's memory. */
const SMALL = "--max-semi-space-size=4";
/** A log this long is put aside, and one of them is kept. */
const LOG_BYTES_MAX = 1024 * 1024;
/**
 * What a resident gets of the environment: where keys and their passphrase lie, and where sockets
 * may be. What servers get comes with each client.
 */
const KEPT_VARIABLES = ["ACP_KEY_FILE", "ACP_PASSPHRASE_FILE", "LANG", "XDG_RUNTIME_DIR"] as const;

/**
 * Starts one, or waits for the one that another client starts.
 *
 * @returns Why there is none; nothing where there is.
 */
export async function startResident(parts: StartParts): Promise<string | undefined> {
  const { home, places, env } = parts;
  const why = whyConfined(env);
  if (why !== undefined)
    return `this process ${why}, and what it starts would be held, too; run this outside: acp resident serve --home ${home}`;
  const endMs = performance.now() + parts.readyMsMax;
  let tries = 0;
  let nextTryMs = 0;
  for (; !(await parts.isThere()); await wait(LOOK_EVERY_MS)) {
    if (performance.now() < nextTryMs) continue;
    const lock = await trySocketLock({ directory: places.run, prefix: START_LOCK });
    if (lock.isHeld) {
      try {
        return await startLocked(parts, endMs);
      } finally {
        await lock.release();
      }
    }
    if (performance.now() > endMs) return tooLate(parts);
    nextTryMs = performance.now() + backOffMs(tries++);
  }
  return undefined;
}

/**
 * Several that only want the lock all step back, at other times the next time. On a busy machine
 * twenty clients would always meet: each time they stay away longer, and look meanwhile.
 */
const backOffMs = (tries: number): number =>
  LOOK_EVERY_MS * 2 ** Math.min(tries, DOUBLINGS_MAX) * (0.5 + Math.random());

/**
 * Starts one for those who come later, unless one is there or somebody has just started one. Waits
 * for nothing.
 */
export async function startForLater({ uid, ...parts }: LaterParts): Promise<void> {
  const { places, env } = parts;
  if (whyConfined(env) !== undefined) return;
  makePlaces(places, uid);
  const starting = await trySocketLock({ directory: places.run, prefix: START_LOCK });
  try {
    if (!starting.isHeld) return;
    const age = Date.now() - (statSync(places.log, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (age >= 0 && age < START_MS) return;
    // One that hangs, or is of another build.
    const running = await trySocketLock({ directory: places.run, prefix: RESIDENT_LOCK });
    if (running.isHeld) await running.release();
    else return;
    spawnResident(parts, () => undefined);
  } finally {
    if (starting.isHeld) await starting.release();
  }
}

/** Starts one, with the lock. */
async function startLocked(parts: StartParts, endMs: number): Promise<string | undefined> {
  const { places } = parts;
  // Somebody was faster.
  if (await parts.isThere()) return undefined;
  const why = await parts.before?.();
  if (why !== undefined) return why;
  let ended: string | undefined;
  const problem = spawnResident(parts, (error) => {
    ended = error?.message ?? `it ended at once; ${places.log} says why`;
  });
  if (problem !== undefined) return problem;
  while (!(await parts.isThere())) {
    if (ended !== undefined) return (await parts.isThere()) ? undefined : ended;
    if (performance.now() > endMs) return tooLate(parts);
    await wait(LOOK_EVERY_MS);
  }
  return undefined;
}

/**
 * Starts its process.
 *
 * @param onEnd - Called when it ends before this process, or does not start.
 * @returns Why it may not be started.
 */
function spawnResident(
  { home, places, env, cwd }: Omit<LaterParts, "uid">,
  onEnd: (error?: Error) => void,
): string | undefined {
  const program = join(__dirname, "../bin/acp.cjs");
  const reach = { workspaces: workspacesOf(cwd, home) };
  const node = trustedProgram(process.execPath, reach);
  if ("reason" in node) return `Node.js is not started: ${node.reason}`;
  const code = trustedPath(program, reach);
  if (typeof code !== "string") return `"${program}" is not started: ${code.reason}`;
  const shell = trustedProgram("/bin/sh", reach);
  if ("reason" in shell) return `Its core dumps cannot be turned off: ${shell.reason}`;
  const log = openLog(places.log);
  const words = [node.path, SMALL, code, "resident", "serve", "--home", home];
  const child = startProgram(shell, ["-c", WITHOUT_CORES, ...words], {
    env: keptOf(env),
    isDetached: true,
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  child.on("error", onEnd);
  child.on("exit", () => onEnd());
  child.unref();
  return undefined;
}

const tooLate = ({ readyMsMax }: StartParts): string =>
  `none was ready after ${readyMsMax / 1_000} seconds`;

const wait = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

function keptOf(env: StartParts["env"]): Readonly<Record<string, string>> {
  const kept = KEPT_VARIABLES.flatMap((name) =>
    env[name] === undefined ? [] : [[name, env[name]] as const],
  );
  return {
    ...Object.fromEntries(kept),
    HOME: userInfo().homedir,
    PATH: "/usr/local/bin:/usr/bin:/bin",
  };
}

function openLog(path: string): number {
  if (existsSync(path) && statSync(path).size > LOG_BYTES_MAX) renameSync(path, `${path}.1`);
  const log = openSync(path, "a", 0o600);
  // Who starts one for later sees that somebody has just started one.
  const now = new Date();
  futimesSync(log, now, now);
  return log;
}

/** How this process is held in a sandbox; what it starts would be, too. */
function whyConfined(env: StartParts["env"]): string | undefined {
  if ((env["ACP_SANDBOX"] ?? "") !== "") return `is in sandbox "${env["ACP_SANDBOX"]}" of acp run`;
  if (process.platform !== "linux") return undefined;
  const [inside, outside, count] = readFileSync("/proc/self/uid_map", "utf8").trim().split(/\s+/);
  if (!(inside === "0" && outside === "0" && count === "4294967295"))
    return "is in a user namespace of its own";
  const status = readFileSync("/proc/self/status", "utf8");
  if (/^Seccomp:\s*2$/m.test(status)) return "has a seccomp filter";
  // Landlock cannot be seen; for whoever is not root it needs this flag.
  return /^NoNewPrivs:\s*1$/m.test(status) ? "cannot get privileges, as in a sandbox" : undefined;
}
