/**
 * Trusted program: decides what may be started outside of a sandbox. It looks for a name in the
 * system's directories, never in PATH, which `npm run` and an agent's `.envrc` prepend to. What it
 * promises: SECURITY.md.
 */
import { statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { type AgentReach, type Distrust, trustedPath } from "./trusted-path.js";

/**
 * A program that no agent could have written. Only {@link trustedProgram} makes one: an object of
 * the same shape starts nothing.
 */
export interface TrustedProgram {
  /**
   * Absolute path under which the program was found. Links are kept, because some programs look at
   * their own name (`busybox`, the Python of a virtual environment).
   */
  readonly path: string;
}

/** Only an administrator writes there. The first two of NixOS and Guix, which have no others. */
const SYSTEM_DIRECTORIES = [
  "/usr/bin",
  "/usr/sbin",
  "/bin",
  "/sbin",
  "/usr/local/bin",
  "/usr/local/sbin",
  "/run/current-system/sw/bin",
  "/run/current-system/profile/bin",
] as const;

const programs = new WeakSet<object>();

/** Where to look for a program, and where agents can write. */
export interface ProgramPlaces extends AgentReach {
  /**
   * Absolute directories. Default: the system's. An untrusted program in one of them is skipped.
   */
  readonly directories?: readonly string[];
}

/**
 * Finds a program that no agent could have written. On Windows, nothing is checked.
 *
 * @param name - A name to look for in the directories, or an absolute path.
 * @returns The program, or why there is none.
 */
export function trustedProgram(
  name: string,
  { directories = SYSTEM_DIRECTORIES, ...reach }: ProgramPlaces = {},
): TrustedProgram | Distrust {
  // no owners in modes to judge by, and no sandbox to get out of
  if (process.platform === "win32") return known(name);
  if (isAbsolute(name)) return programAt(name, reach);
  if (!/^[A-Za-z0-9][A-Za-z0-9._+-]*$/u.test(name))
    return { reason: `"${name}" is not the name of a program`, isMissing: false };
  let refused: Distrust | undefined;
  for (const directory of directories.filter((each) => isAbsolute(each))) {
    const found = programAt(join(directory, name), reach);
    if (!("reason" in found)) return found;
    if (!found.isMissing) refused ??= found;
  }
  return refused ?? { reason: `"${name}" is not installed`, isMissing: true };
}

/**
 * Returns the directories of a PATH in which no agent could have put a program, so that programs
 * started with it also find only such programs.
 */
export function trustedDirectories(path: string, reach: AgentReach = {}): readonly string[] {
  return path
    .split(delimiter)
    .filter((each) => isAbsolute(each) && typeof trustedPath(each, reach) === "string");
}

/** True if {@link trustedProgram} made the value. */
export function isTrustedProgram(value: unknown): value is TrustedProgram {
  return typeof value === "object" && value !== null && programs.has(value);
}

function programAt(path: string, reach: AgentReach): TrustedProgram | Distrust {
  const real = trustedPath(path, reach);
  if (typeof real !== "string") return real;
  const found = statSync(real);
  if (!found.isFile() || (found.mode & 0o111) === 0)
    return { reason: `"${path}" is not a program`, isMissing: false };
  return known(path);
}

function known(path: string): TrustedProgram {
  const program: TrustedProgram = Object.freeze({ path });
  programs.add(program);
  return program;
}
