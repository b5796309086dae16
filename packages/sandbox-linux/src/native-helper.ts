/**
 * Native helpers: native/confine.c, init.c, overlay.c, hold.c and peer.c, compiled by `cc` when they
 * are first needed and kept in a directory that only this user can write. A new source, architecture
 * or C library gives a new file, so nothing has to be removed or noticed.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ConsentError } from "@acp/core";
import { trustedPath } from "@acp/host";
import { helperDirectory } from "./helper-directory.js";
import { isKnown, remember } from "./known-trials.js";
import { findTool, runTool, TOOL_ENVIRONMENT } from "./tools.js";

/** Why a helper cannot be used here. */
export interface MissingHelper {
  readonly isAvailable: false;
  /** Why, in one line. */
  readonly reason: string;
  /** What the user can do about it. */
  readonly fix: string;
}

/** Whether native/confine.c can be used here. */
export type NativeHelper =
  | {
      readonly isAvailable: true;
      readonly path: string;
      /** Version of Landlock in this kernel, 0 without it. */
      readonly landlockAbi: number;
    }
  | MissingHelper;

/** Whether native/init.c, overlay.c, hold.c or peer.c can be used here. */
export type InitHelper = { readonly isAvailable: true; readonly path: string } | MissingHelper;

/** Where the helper comes from and goes to. */
export interface NativeHelperOptions {
  /** Left out: this user's cache directory, {@link helperDirectory}. */
  readonly directory?: string;
  /** A name among the system's programs, or a path; left out: `cc`. */
  readonly compiler?: string;
  /** Whether a native/init.c that ran before is taken to run again. It is the start that shows. */
  readonly mayRecall?: boolean;
}

const SOURCES = fileURLToPath(new URL("../native/", import.meta.url));
/** Part of some helper; a change of one makes all of them anew. */
const HEADERS = ["common.h", "proc.h", "watch.h"];
const FLAGS = [
  "-std=gnu11",
  "-O2",
  "-Wall",
  "-fPIE",
  "-pie",
  "-fstack-protector-strong",
  "-D_FORTIFY_SOURCE=2",
];
const COMPILE_TIMEOUT_MS = 120_000;
const RUN_TIMEOUT_MS = 30_000;

/** Finds native/confine.c compiled, or compiles it. */
export async function nativeHelper(options: NativeHelperOptions = {}): Promise<NativeHelper> {
  const found = await findCompiled(
    { name: "confine", question: "--landlock-abi", answer: /^\d+\n$/u },
    options,
  );
  return found.isAvailable
    ? { isAvailable: true, path: found.path, landlockAbi: Number(found.said) }
    : found;
}

/** Finds native/init.c compiled, or compiles it. */
export async function initHelper(options: NativeHelperOptions = {}): Promise<InitHelper> {
  const found = await findCompiled(INIT, options);
  return found.isAvailable ? { isAvailable: true, path: found.path } : found;
}

/** Finds native/overlay.c compiled, or compiles it. */
export async function overlayHelper(options: NativeHelperOptions = {}): Promise<InitHelper> {
  const found = await findCompiled(OVERLAY, options);
  return found.isAvailable ? { isAvailable: true, path: found.path } : found;
}

/** Finds native/hold.c compiled, or compiles it. */
export async function holdHelper(options: NativeHelperOptions = {}): Promise<InitHelper> {
  const found = await findCompiled(HOLD, options);
  return found.isAvailable ? { isAvailable: true, path: found.path } : found;
}

/** Finds native/peer.c compiled, or compiles it. */
export async function peerHelper(options: NativeHelperOptions = {}): Promise<InitHelper> {
  const found = await findCompiled(PEER, options);
  return found.isAvailable ? { isAvailable: true, path: found.path } : found;
}

const INIT: Source = { name: "init", question: "--about", answer: /^init\n$/u, said: "init" };
const OVERLAY: Source = {
  name: "overlay",
  question: "--about",
  answer: /^overlay\n$/u,
  said: "overlay",
};
const HOLD: Source = { name: "hold", question: "--about", answer: /^hold\n$/u, said: "hold" };
const PEER: Source = { name: "peer", question: "--about", answer: /^peer\n$/u, said: "peer" };

/** A helper, and how it is seen to run here. */
interface Source {
  readonly name: "confine" | "init" | "overlay" | "hold" | "peer";
  readonly question: string;
  readonly answer: RegExp;
  /** What every one of them answers, where that is known; the other is asked each time. */
  readonly said?: string;
}

type Compiled =
  | { readonly isAvailable: true; readonly path: string; readonly said: string }
  | MissingHelper;

/** Several processes may do so at once: each puts a whole file in place. */
async function findCompiled(
  source: Source,
  { directory = helperDirectory(), compiler = "cc", mayRecall = false }: NativeHelperOptions,
): Promise<Compiled> {
  let place: string;
  try {
    place = await prepare(directory);
  } catch (error) {
    const fix = "Set XDG_CACHE_HOME to a directory that only this user can write";
    return {
      isAvailable: false,
      reason: `the directory "${directory}" for the compiled helper is not safe: ${causeText(error)}`,
      fix,
    };
  }
  const path = join(place, `${source.name}-${await fingerprint(source)}`);
  const found =
    (mayRecall ? recallHelper(source, path) : undefined) ?? (await tryHelper(source, path));
  if (found !== undefined) return found;
  const problem = await compile({ source, compiler, place, path }).catch((error: unknown) => ({
    reason: causeText(error),
    fix: `Look at "${place}"`,
  }));
  if (problem !== undefined) return { isAvailable: false, ...problem };
  const made = await tryHelper(source, path);
  const fix = `See whether "${place}" lies on a file system that is mounted noexec, and set XDG_CACHE_HOME to one that is not`;
  return made ?? { isAvailable: false, reason: `the compiled helper "${path}" does not run`, fix };
}

/**
 * The directory, made if need be, by its real path. Whoever can replace any part of that path can
 * replace the helper.
 */
async function prepare(directory: string): Promise<string> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const place = trustedPath(directory);
  if (typeof place !== "string") throw new ConsentError("sandbox_unavailable", place.reason);
  const { mode } = await stat(place);
  if ((mode & 0o002) !== 0)
    throw new ConsentError("sandbox_unavailable", `"${place}" is writable by all users`);
  return place;
}

/**
 * A file that is ours alone, and that runs: one of another machine on a shared home directory may
 * not.
 */
async function tryHelper(
  { name, question, answer, said }: Source,
  path: string,
): Promise<Compiled | undefined> {
  if (trustedPath(path) !== path) return undefined;
  const { stdout, code } = await runTool([path, question], {
    timeoutMs: RUN_TIMEOUT_MS,
    env: {},
  }).catch(() => NOTHING);
  if (code !== 0 || !answer.test(stdout)) return undefined;
  if (said !== undefined) await remember({ words: [name], programs: [path] });
  return { isAvailable: true, path, said: stdout.trim() };
}

/** The same of one that ran before. Who could have written it is looked at each time. */
function recallHelper({ name, said }: Source, path: string): Compiled | undefined {
  if (
    said === undefined ||
    trustedPath(path) !== path ||
    !isKnown({ words: [name], programs: [path] })
  )
    return undefined;
  return { isAvailable: true, path, said };
}

const NOTHING = { stdout: "", code: undefined } as const;

interface Compilation {
  readonly source: Source;
  readonly compiler: string;
  readonly place: string;
  readonly path: string;
}

/** @returns What is wrong, where it did not work. */
async function compile({
  source,
  compiler,
  place,
  path,
}: Compilation): Promise<{ readonly reason: string; readonly fix: string } | undefined> {
  const fix = "Install a C compiler: on Debian and Ubuntu, apt-get install gcc libc6-dev";
  const found = findTool(compiler);
  if (typeof found !== "string")
    return { reason: found.isMissing ? `there is no C compiler "${compiler}"` : found.reason, fix };
  const directory = await mkdtemp(join(place, ".compile-"));
  try {
    const made = join(directory, source.name);
    const env = { ...TOOL_ENVIRONMENT, TMPDIR: directory };
    const command = [found, ...FLAGS, "-o", made, sourcePath(source)];
    const { code, stderr, failure } = await runTool(command, {
      timeoutMs: COMPILE_TIMEOUT_MS,
      env,
    });
    if (code !== 0) {
      const line =
        stderr.split("\n").find((each) => /error/iu.test(each)) ?? failure ?? `exit code ${code}`;
      return {
        reason: `"${compiler}" did not compile the helper: ${line.trim().slice(0, 200)}`,
        fix,
      };
    }
    // For others to run, who get it as a descriptor, and not to read: the kernel then shows nobody
    // what is in such a process.
    await chmod(made, 0o711);
    await rename(made, path);
    return undefined;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function sourcePath({ name }: Source): string {
  return join(SOURCES, `${name}.c`);
}

async function fingerprint(source: Source): Promise<string> {
  const hash = createHash("sha256").update(await readFile(sourcePath(source)));
  for (const name of HEADERS) hash.update(await readFile(join(SOURCES, name)));
  hash.update(FLAGS.join(" ")).update(await describeLibc());
  return `${process.arch}-${hash.digest("hex").slice(0, 24)}`;
}

/** The C library that this process itself runs with: its file, size and time. */
async function describeLibc(): Promise<string> {
  const path = /\s(\/\S*\/(?:libc\.so\.6|libc-[\d.]+\.so|ld-musl-\S+|libc\.musl-\S+))$/mu.exec(
    readFileSync("/proc/self/maps", "utf8"),
  )?.[1];
  if (path === undefined) return "unknown";
  const { size, mtimeMs } = await stat(path);
  return `${path} ${size} ${mtimeMs}`;
}

function causeText(error: unknown): string {
  return error instanceof Error ? error.message.split("\n", 1).join("") : String(error);
}
