/**
 * Trouble is never shown as emptiness: with a home that is missing, another user's or unreadable,
 * every command that lists something of it fails, and says what to do.
 */
import { spawn } from "node:child_process";
import { chmod, chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { acp, BIN } from "./harness.js";
import type { Ended } from "./harness.js";

const COMMANDS: readonly (readonly string[])[] = [
  ["pending"],
  ["approve", "--json"],
  ["approve", "--once", "cr_1", "--approve"],
  ["inbox", "--port", "0"],
  ["pause", "--off"],
  ["grants"],
  ["grants", "revoke", "--all"],
  ["passkeys", "list"],
  ["passkeys", "export"],
  ["keys", "list"],
  ["vault", "list"],
  ["servers", "list"],
  ["review", "list"],
  ["audit", "show"],
  ["audit", "show", "--follow"],
  ["audit", "verify"],
  ["audit", "export"],
  ["proof", "export", "cr_1"],
  ["suggest"],
  ["policy", "check"],
  ["doctor", "--quick"],
];
/** Nobody's: what root needs to meet a folder that it may not read. */
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

const folders: string[] = [];
let closed = "";
let foreign = "";

/** A home that is there, in a folder that everybody may enter. */
async function makeHome(): Promise<string> {
  const at = await mkdtemp(join(tmpdir(), "acp-"));
  folders.push(at);
  await chmod(at, 0o755);
  const home = join(at, "h");
  expect(await acp(["init"], { home })).toMatchObject({ code: 0 });
  return home;
}

beforeAll(async () => {
  [closed, foreign] = [await makeHome(), await makeHome()];
  if (isRoot) await chown(foreign, NOBODY, NOBODY);
  else await chmod(closed, 0o000);
});

afterAll(async () => {
  await chmod(closed, 0o700);
  for (const at of folders) await rm(at, { recursive: true, force: true });
});

/** Runs `acp` as nobody where this is root. */
function acpAsNobody(args: readonly string[], home: string): Promise<Ended> {
  const child = spawn(process.execPath, [BIN, ...args], {
    env: { ACP_HOME: home, PATH: process.env["PATH"], ACP_ALONE: "1" },
    cwd: "/",
    ...(isRoot && { uid: NOBODY, gid: NOBODY }),
  });
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (chunk: string) => (texts[name] += chunk));
  child.stdin.end();
  return new Promise((resolve) =>
    child.on("close", (code, signal) => resolve({ code, signal, ...texts })),
  );
}

function expectTrouble(ended: Ended, says: RegExp): void {
  expect(ended.code).not.toBe(0);
  expect(`${ended.stdout}${ended.stderr}`).toMatch(says);
  expect(ended.stdout).not.toMatch(
    /Nothing waits|\b0 gates|No earlier consent|No passkeys|No server/,
  );
}

describe.each(COMMANDS.map((args) => [args.join(" "), args] as const))("acp %s", (name, args) => {
  it("says that a home is missing", async () => {
    const at = await mkdtemp(join(tmpdir(), "acp-"));
    onTestFinished(() => rm(at, { recursive: true, force: true }));
    expectTrouble(await acp(args, { home: join(at, "none") }), /acp init/);
  });

  it("says that a home cannot be read, or belongs to somebody else", async () => {
    const says = /belongs to|may not read|cannot be looked at|EACCES|may not use/;
    expectTrouble(await acpAsNobody(args, closed), says);
    if (!isRoot || name.startsWith("audit") || name === "proof export cr_1" || name === "suggest")
      return; // root may read another user's logs, and then shows them
    expectTrouble(await acp(args, { home: foreign }), /belongs to/);
  });
});

it.each([
  ["pending", "run"],
  ["approve --json", "run"],
  ["review list", "reviews"],
] as const)("acp %s says that its folder %s cannot be read", async (line, folder) => {
  const home = await makeHome();
  await writeFile(join(home, folder), "");
  const ended = await acp(line.split(" "), { home });
  expect(ended).toMatchObject({ code: 3, stdout: "" });
  expect(ended.stderr).toMatch(/it is not a folder; run acp doctor/);
});
