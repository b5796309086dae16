/**
 * Confine kit: the helper as built here, and its callers: whoever runs the tests, and a plain uid
 * where that is root.
 */
import type { ChildProcess, StdioOptions } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hostNeed } from "@acp/testing";
import { afterAll } from "vitest";
import { nativeHelper } from "../src/native-helper.js";

export const directory = mkdtempSync(join(tmpdir(), "acp-confine-"));
chmodSync(directory, 0o711);
export const helper = join(directory, "confine");
const made = await nativeHelper({ directory: join(directory, "cache") });
if (made.isAvailable) {
  copyFileSync(made.path, helper);
  chmodSync(helper, 0o755);
}
export const landlockAbi = made.isAvailable ? made.landlockAbi : 0;
export const need = hostNeed("cc", () => (made.isAvailable ? undefined : made.reason));
export const withTcpRules = hostNeed("Landlock with TCP rules", () =>
  landlockAbi >= 4 ? undefined : `Landlock is of version ${landlockAbi}`,
);
export const withScopes = hostNeed("Landlock with scopes", () =>
  landlockAbi >= 6 ? undefined : `Landlock is of version ${landlockAbi}`,
);
export const isRoot = process.getuid?.() === 0;
export const PLAIN = 61_021;
/** Everybody who can start the helper here. */
export const callers: readonly (readonly [string, readonly string[]])[] = isRoot
  ? [
      ["root", []],
      [
        "a plain uid",
        ["setpriv", "--reuid", `${PLAIN}`, "--regid", `${PLAIN}`, "--clear-groups", "--"],
      ],
    ]
  : [["a plain user", []]];

afterAll(() => {
  rmSync(directory, { recursive: true });
});

let count = 0;
/** A name that no other test of the file has. */
export const freshName = (kind: string): string => join(directory, `${kind}-${(count += 1)}`);

/** A directory of the plain uid's own. */
export function ownDirectory(): string {
  const path = freshName("own");
  mkdirSync(path);
  if (isRoot) chownSync(path, PLAIN, PLAIN);
  return path;
}

/** How it is started. */
export interface Run {
  readonly prefix?: readonly string[];
  readonly options?: readonly string[];
  readonly stdio?: StdioOptions;
}

export function start(
  command: readonly string[],
  { prefix = [], options = [], stdio = ["ignore", "pipe", "pipe"] }: Run = {},
): ChildProcess {
  const [program = "", ...args] = [...prefix, helper, ...options, "--", ...command];
  return spawn(program, args, { stdio, env: { PATH: process.env["PATH"] }, cwd: "/" });
}

/** How it went. */
export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly out: string;
  readonly err: string;
}

/** Resolves when the helper has ended and nobody holds its streams any more. */
export async function finish(child: ChildProcess): Promise<Ended> {
  let out = "";
  let err = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (err += text));
  await once(child, "close");
  return { code: child.exitCode, signal: child.signalCode, out, err };
}

export const run = (command: readonly string[], how: Run = {}): Promise<Ended> =>
  finish(start(command, how));
export const sh = (script: string, how: Run = {}): Promise<Ended> =>
  run(["/bin/sh", "-c", script], how);
const SYSTEM = ["/usr", "/bin", "/lib", "/lib64", "/sbin", "/etc"].filter((path) =>
  existsSync(path),
);
export const readSystem = SYSTEM.flatMap((path) => ["--read", path]);
