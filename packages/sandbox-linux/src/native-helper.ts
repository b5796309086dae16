/**
 * Native helper: native/confine.c, compiled by `cc` when it is first needed and kept in a directory that only this user can write.
 * A new source, architecture or C library gives a new file, so nothing has to be removed or noticed.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { chmod, lstat, mkdir, mkdtemp, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ConsentError } from "@acp/core";

/** Whether the helper can be used here. */
export type NativeHelper =
  | {
      readonly isAvailable: true;
      readonly path: string;
      /** Version of Landlock in this kernel, 0 without it. */
      readonly landlockAbi: number;
    }
  | { readonly isAvailable: false; readonly reason: string; readonly fix: string };

/** Where the helper comes from and goes to. */
export interface NativeHelperOptions {
  /** Left out: this user's cache directory, {@link helperDirectory}. */
  readonly directory?: string;
  /** Left out: `cc`, from the PATH. */
  readonly compiler?: string;
}

const run = promisify(execFile);
const SOURCE = fileURLToPath(new URL("../native/confine.c", import.meta.url));
const FLAGS = ["-std=gnu11", "-O2", "-Wall", "-fPIE", "-pie", "-fstack-protector-strong", "-D_FORTIFY_SOURCE=2"];
const COMPILE_TIMEOUT_MS = 120_000;
const RUN_TIMEOUT_MS = 30_000;

/** Where the compiled helper is kept: an agent must never be able to write there. */
export function helperDirectory(): string {
  if (process.getuid?.() === 0) return "/var/cache/acp-sandbox";
  const cache = process.env["XDG_CACHE_HOME"];
  return join(cache !== undefined && cache.startsWith("/") ? cache : join(homedir(), ".cache"), "acp-sandbox");
}

/** Finds the helper, or compiles it. Several processes may do so at once: each puts a whole file in place. */
export async function nativeHelper({ directory = helperDirectory(), compiler = "cc" }: NativeHelperOptions = {}): Promise<NativeHelper> {
  let place: string;
  try {
    place = await prepare(directory);
  } catch (error) {
    const fix = "Set XDG_CACHE_HOME to a directory that only this user can write";
    return { isAvailable: false, reason: `the directory "${directory}" for the compiled helper is not safe: ${causeText(error)}`, fix };
  }
  const path = join(place, `confine-${await fingerprint()}`);
  const found = await tryHelper(path);
  if (found !== undefined) return found;
  try {
    await compile({ compiler, place, path });
  } catch (error) {
    return { isAvailable: false, ...compileFailure(compiler, error) };
  }
  const made = await tryHelper(path);
  const fix = `See whether "${place}" lies on a file system that is mounted noexec, and set XDG_CACHE_HOME to one that is not`;
  return made ?? { isAvailable: false, reason: `the compiled helper "${path}" does not run`, fix };
}

/** The directory, made if need be, by its real path. Whoever can replace any part of that path can replace the helper. */
async function prepare(directory: string): Promise<string> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const place = await realpath(directory);
  const own = process.getuid?.();
  for (let path = place; ; path = dirname(path)) {
    const { uid, mode } = await stat(path);
    const isOwnersOnly = (mode & 0o022) === 0 || (path !== place && (mode & 0o1000) !== 0);
    if ((uid !== own && uid !== 0) || !isOwnersOnly)
      throw new ConsentError("sandbox_unavailable", `"${path}" can be changed by other users`);
    if (path === "/") return place;
  }
}

/** A file that is ours alone, and that runs: one of another machine on a shared home directory may not. */
async function tryHelper(path: string): Promise<NativeHelper | undefined> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined || !found.isFile() || found.uid !== process.getuid?.() || (found.mode & 0o022) !== 0) return undefined;
  try {
    const { stdout } = await run(path, ["--landlock-abi"], { timeout: RUN_TIMEOUT_MS, env: {} });
    return /^\d+\n$/u.test(stdout) ? { isAvailable: true, path, landlockAbi: Number(stdout) } : undefined;
  } catch {
    return undefined;
  }
}

async function compile({ compiler, place, path }: { compiler: string; place: string; path: string }): Promise<void> {
  const directory = await mkdtemp(join(place, ".compile-"));
  try {
    const made = join(directory, "confine");
    const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C", TMPDIR: directory };
    await run(compiler, [...FLAGS, "-o", made, SOURCE], { timeout: COMPILE_TIMEOUT_MS, env });
    await chmod(made, 0o700);
    await rename(made, path);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function fingerprint(): Promise<string> {
  const hash = createHash("sha256")
    .update(await readFile(SOURCE))
    .update(FLAGS.join(" "))
    .update(await describeLibc());
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

function compileFailure(compiler: string, error: unknown): { readonly reason: string; readonly fix: string } {
  const fix = "Install a C compiler: on Debian and Ubuntu, apt-get install gcc libc6-dev";
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return { reason: `there is no C compiler "${compiler}"`, fix };
  const output = error instanceof Error && "stderr" in error && typeof error.stderr === "string" ? error.stderr : "";
  const line = output.split("\n").find((each) => /error/iu.test(each)) ?? causeText(error);
  return { reason: `"${compiler}" did not compile the helper: ${line.trim().slice(0, 200)}`, fix };
}

function causeText(error: unknown): string {
  return error instanceof Error ? error.message.split("\n", 1).join("") : String(error);
}
