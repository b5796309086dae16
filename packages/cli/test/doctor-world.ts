/**
 * A home as `acp init` and a few events make it, copied for each damage, and the doctor in this
 * process.
 */
import { chmod, cp, mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { logEvent, randomIds } from "@acp/core";
import { homePaths, initHome, initKeys, makeKeyFile, printPasskeys } from "@acp/home";
import type { HomePaths } from "@acp/home";
import { onTestFinished } from "vitest";
import type { Io } from "../src/command.js";
import { createContext } from "../src/doctor/context.js";
import type { ContextParts, DoctorContext } from "../src/doctor/context.js";
import type { Finding } from "../src/doctor/finding.js";
import { EXAMINATIONS, examine } from "../src/doctor/examine.js";
import type { Examined } from "../src/doctor/examine.js";
import { fix } from "../src/doctor/fix.js";
import type { Mended } from "../src/doctor/fix.js";
import { initCheckpointKey } from "../src/logs/checkpoint-key.js";
import { openHomeAudit } from "../src/logs/open-audit.js";
import { noteNewKeys } from "../src/logs/vault-log.js";

export const EVENTS = 8;

/** The probe of sandboxes takes long and looks at no home. */
const QUICK = EXAMINATIONS.filter(({ id }) => id !== "sandbox");

export interface World {
  readonly home: HomePaths;
  readonly log: string;
  /** Another context, with these parts. */
  context(parts?: Partial<ContextParts>): DoctorContext;
  examine(parts?: Partial<ContextParts>): Promise<readonly Examined[]>;
  fix(
    parts?: Partial<ContextParts>,
    code?: string,
  ): Promise<{ readonly all: readonly Examined[]; readonly mended: readonly Mended[] }>;
}

export const findingsOf = (all: readonly Examined[]): readonly Finding[] =>
  all.flatMap(({ found }) => found.map(({ finding }) => finding));

export const codesOf = (all: readonly Examined[]): readonly string[] =>
  findingsOf(all).map(({ code }) => code);

export function ioOf(env: Io["env"] = {}): Io {
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env,
    cwd: tmpdir(),
    userHome: tmpdir(),
    pid: process.pid,
    ppid: process.ppid,
    onStop: () => new AbortController().signal,
    onSignals: () => {},
  };
}

async function makeTemplate(): Promise<string> {
  const dir = join(await mkdtemp(join(tmpdir(), "acp-")), "h");
  const { home } = await initHome(dir);
  const text = makeKeyFile();
  const { keys } = await initKeys(home, { kind: "key-file", text });
  await writeFile(join(home.keysDir, "unlock.key"), text, { mode: 0o600 });
  await initCheckpointKey(home);
  await noteNewKeys({ home, io: ioOf() }, keys);
  await writeFile(home.passkeysPath, printPasskeys([]), { mode: 0o600 });
  await addEvents(home, EVENTS - 1);
  return dir;
}

/** Appends notices to the home's first log. */
export async function addEvents(home: HomePaths, count: number): Promise<void> {
  await using audit = await openHomeAudit(home);
  for (let number = 1; number <= count; number++)
    await audit.append([
      logEvent(
        "gate_notice",
        { id: randomIds.next("ae"), atMs: Date.now() },
        { notice: "sample", text: `sample ${number}` },
      ),
    ]);
}

let template: Promise<string> | undefined;

/** A home of its own, removed with the test. */
export async function doctorWorld(): Promise<World> {
  const at = await mkdtemp(join(tmpdir(), "acp-"));
  onTestFinished(() => rm(at, { recursive: true, force: true }));
  const dir = join(at, "h");
  await cp(await (template ??= makeTemplate()), dir, { recursive: true });
  await chmod(dir, 0o700);
  const home = homePaths(dir);
  const context = (parts: Partial<ContextParts> = {}): DoctorContext =>
    createContext({
      home,
      io: ioOf(),
      values: {},
      nowMs: Date.now(),
      isQuick: false,
      isFull: false,
      isOnline: false,
      onProgress: () => {},
      ...parts,
    });
  return {
    home,
    log: join(dir, "audit.jsonl"),
    context,
    examine: (parts) => examine(context(parts), QUICK),
    fix: (parts, code) =>
      fix({
        context: () => context(parts),
        code,
        agrees: () => Promise.resolve(true),
        examinations: QUICK,
      }),
  };
}

/** Removes what the tests of a file shared. */
export async function removeTemplate(): Promise<void> {
  if (template !== undefined) await rm(join(await template, ".."), { recursive: true });
  template = undefined;
}

/** Changes the text of a file. */
export async function edit(path: string, change: (text: string) => string): Promise<void> {
  await writeFile(path, change(await readFile(path, "utf8")));
}

/** Changes a letter of a log in place; its size stays. */
export async function poke(path: string): Promise<void> {
  const at = (await readFile(path, "latin1")).indexOf("sample 2");
  await using handle = await open(path, "r+");
  await handle.write("S", at);
  await handle.utimes(1, 1);
}
