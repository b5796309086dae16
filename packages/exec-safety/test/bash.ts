/**
 * Real bash as the referee: what it would run of a line. Nothing is found in PATH, so that only
 * builtins run; each program that bash looks for is logged with its arguments. Random redirections
 * name random files, also at `/`: root gives the work to a user who may write only where the lines
 * run. Only lines from {@link randomLine} may be given to it.
 */
import { spawn, spawnSync } from "node:child_process";
import {
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** What globs find where the lines run. */
const FILES: readonly string[] = ["a", "b", "ab", "f1", "x.y", "c1", ".env"];
/** `nobody`, in every distribution. */
const NOBODY = 65_534;
const AS_NOBODY: { readonly uid?: number; readonly gid?: number } =
  process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
const REFEREE: string = fileURLToPath(new URL("./referee.sh", import.meta.url));

/** Why there is no referee here, or `undefined`. Older ones read some lines in another way. */
export const NO_BASH: string | undefined = missing();

function missing(): string | undefined {
  const { status, stdout } = spawnSync(
    "bash",
    ["--noprofile", "--norc", "-c", "echo ${BASH_VERSINFO[0]}"],
    { encoding: "utf8" },
  );
  if (status !== 0) return "no bash";
  return Number(stdout) >= 5 ? undefined : `bash ${stdout.trim()} is older than 5`;
}

/** A program that bash would have run, with its arguments. */
export type Run = readonly string[];

/** For each line, what bash would run of it. */
export async function runsOf(lines: readonly string[]): Promise<readonly (readonly Run[])[]> {
  const folder = mkdtempSync(join(tmpdir(), "acp-exec-"));
  try {
    const [log, input, referee, cwd] = [
      join(folder, "log"),
      join(folder, "input"),
      join(folder, "referee.sh"),
      join(folder, "cwd"),
    ];
    mkdirSync(cwd);
    for (const file of FILES) writeFileSync(join(cwd, file), "");
    writeFileSync(log, "");
    writeFileSync(input, lines.map((line) => `${line}\0`).join(""));
    copyFileSync(REFEREE, referee);
    if (AS_NOBODY.uid !== undefined)
      for (const path of [folder, cwd, log, input, referee]) chownSync(path, NOBODY, NOBODY);
    await bash(["--noprofile", "--norc", referee, log, input], cwd);
    return readLog(readFileSync(log, "utf8"), lines.length);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function bash(args: readonly string[], cwd: string): Promise<void> {
  const child = spawn("bash", args, {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", LC_ALL: "C.UTF-8" },
    stdio: ["ignore", "ignore", "inherit"],
    ...AS_NOBODY,
  });
  const status = await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  if (status !== 0) throw new Error(`bash ended with ${String(status)}`);
}

function readLog(log: string, lines: number): readonly (readonly Run[])[] {
  const runs: Run[][] = Array.from({ length: lines }, () => []);
  const fields = log.split("\0");
  if (!fields.includes("end")) throw new Error("bash did not come to the last line");
  for (let at = 0; at + 1 < fields.length; ) {
    const count = Number(fields[at + 1]);
    runs[Number(fields[at])]?.push(
      fields.slice(at + 2, at + 2 + count).map((field) => field.replaceAll("\u0001", "\n")),
    );
    at += 2 + count;
  }
  return runs;
}
