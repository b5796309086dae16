/**
 * Starting the resident: a hook that had to answer alone starts it for the next ones, where it may.
 * Never part of an answer, and never waited for.
 */
import { existsSync, openSync, readFileSync, closeSync, statSync, unlinkSync } from "node:fs";
import { userInfo } from "node:os";
import { join, relative } from "node:path";
import { makePrivateDirectory, openHome } from "@acp/home";
import { startProgram, trustedProgram } from "@acp/host";
import type { Invocation } from "../command.js";
import { runDirectory } from "../gate/run-directory.js";
import { OWN_PROGRAM } from "../own-program.js";

/**
 * One that was started may take this long until it answers; then it has failed, and another try is
 * allowed.
 */
const START_MS = 10_000;
/**
 * What a resident gets of the environment: where keys and their passphrase lie. Everything else
 * comes with each hook.
 */
const KEPT_VARIABLES = ["ACP_KEY_FILE", "ACP_PASSPHRASE_FILE"] as const;

/** Starts the resident of a home, unless it should be alone. Never rejects. */
export async function startResident(dir: string, invocation: Invocation): Promise<void> {
  const { io } = invocation;
  try {
    if (
      io.env["ACP_ALONE"] === "1" ||
      !existsSync(dir) ||
      isConfined(io.env) ||
      isBelow(OWN_PROGRAM, io.cwd)
    )
      return;
    const node = trustedProgram(process.execPath, { workspaces: [io.cwd] });
    if ("reason" in node) return;
    // The configuration's `~` has to mean the same to it.
    if (userInfo().homedir !== io.userHome) return;
    const home = await openHome(dir);
    await makePrivateDirectory(runDirectory(home.dir));
    const claim = join(runDirectory(home.dir), "hooks.log");
    const log = claimStart(claim);
    if (log === undefined) return;
    const env = Object.fromEntries(
      KEPT_VARIABLES.flatMap((name) =>
        io.env[name] === undefined ? [] : [[name, io.env[name]] as const],
      ),
    );
    const args = [OWN_PROGRAM, "exec", "hook", "--resident", "--home", home.dir];
    const child = startProgram(node, args, { env, isDetached: true, stdio: ["ignore", log, log] });
    child.on("error", () => undefined);
    child.unref();
    closeSync(log);
  } catch {
    // Without one the next hook answers alone, too.
  }
}

/**
 * The log that the resident writes, new for each start; `undefined` where another hook has just
 * started one.
 */
function claimStart(path: string): number | undefined {
  const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  if (age >= 0 && age < START_MS) return undefined;
  if (existsSync(path)) unlinkSync(path);
  try {
    return openSync(path, "wx", 0o600);
  } catch {
    return undefined;
  }
}

/**
 * Whether this process is held in a sandbox: what it starts would be, too, and be reachable from
 * inside.
 */
function isConfined(env: Invocation["io"]["env"]): boolean {
  if ((env["ACP_SANDBOX"] ?? "") !== "") return true;
  if (process.platform !== "linux") return false;
  const [inside, outside, count] = readFileSync("/proc/self/uid_map", "utf8").trim().split(/\s+/);
  const isWhole = inside === "0" && outside === "0" && count === "4294967295";
  // Landlock and the seccomp filters of unprivileged programs need this flag.
  return !isWhole || /^NoNewPrivs:\s*1$/m.test(readFileSync("/proc/self/status", "utf8"));
}

/** A program in the agent's own workspace is one that the agent may have written. */
function isBelow(path: string, folder: string): boolean {
  return !relative(folder, path).startsWith("..");
}
