/**
 * Changes of keys that are killed before and after each change of the file system: the keys open, the
 * vault opens or is said to be another one, a gate starts, and the same command again comes to its end.
 */
import { spawnSync } from "node:child_process";
import { cp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { verifyAuditLog } from "@acp/audit";
import { homePaths, readPublicKeys } from "@acp/home";
import { afterAll, expect, it } from "vitest";
import { openHomeKeys } from "../src/gate/home-keys.js";
import { folder, say } from "./backup-world.js";
import { doctorWorld, ioOf, removeTemplate } from "./doctor-world.js";
import { BIN } from "./harness.js";

afterAll(removeTemplate);

const KILL = fileURLToPath(new URL("kill-at.mjs", import.meta.url));
const invocation = { io: ioOf(), values: {}, flags: new Set<string>() } as never;

interface End {
  readonly isKilled: boolean;
  readonly calls: number;
}

function killedAt(at: number, argv: readonly string[]): End {
  const env = {
    PATH: process.env["PATH"],
    HOME: process.env["HOME"],
    ACP_TEST_KILL_AT: String(at),
    ACP_TEST_CALLS: "1",
  };
  const { status, signal, stderr } = spawnSync(process.execPath, ["--import", KILL, BIN, ...argv], {
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (signal === null && status !== 0) throw new Error(stderr);
  const calls = Number(/^calls (\d+)$/m.exec(stderr)?.[1] ?? "0");
  return { isKilled: signal === "SIGKILL", calls };
}

const COMMANDS: readonly (readonly [string, readonly string[]])[] = [
  ["acp keys rotate", ["keys", "rotate"]],
  ["acp keys rotate --checkpoint", ["keys", "rotate", "--checkpoint"]],
  ["acp keys reset", ["keys", "reset"]],
];

it.each(COMMANDS)("%s leaves keys that open, wherever it is killed", async (_name, command) => {
  const { home } = await doctorWorld();
  const at = await folder();
  const isReset = command.includes("reset");
  const run = async (point: number): Promise<End> => {
    const own = homePaths(join(at, String(point)));
    await cp(home.dir, own.dir, { recursive: true });
    // A reset is for a key that nothing opens any more.
    if (isReset) await writeFile(join(own.keysDir, "unlock.key"), `${"1f".repeat(32)}\n`);
    const argv = [...command, "--home", own.dir];
    const end = killedAt(point, argv);
    const held = await openHomeKeys(own, invocation).catch((error: unknown) => error);
    // Until a reset is done the old key is what it was: nothing opens it.
    if (held instanceof Error)
      expect([isReset && end.isKilled, held]).toMatchObject([true, { code: "key_locked" }]);
    else expect(held).toMatchObject({ keys: expect.anything() });
    if (end.isKilled)
      expect(await say(argv)).toMatchObject({ code: isReset ? expect.toBeOneOf([0, 2]) : 0 });
    const now = await openHomeKeys(own, invocation);
    expect([now.ring?.isStopped(), now.vaultMark !== undefined]).toEqual([false, true]);
    expect((await readPublicKeys(own))[0]?.publicKey).toBe(now.keys?.publicKey);
    expect((await verifyAuditLog(join(own.dir, "audit.jsonl"))).ok).toBe(true);
    const { stdout } = await say(["doctor", "--json", "--home", own.dir]);
    const { ok, examinations } = JSON.parse(stdout);
    expect([point, ok, ok ? "" : examinations]).toEqual([point, true, ""]);
    await rm(own.dir, { recursive: true });
    return end;
  };
  const { calls } = await run(0);
  let killed = 0;
  // Every third: before and after calls in turn. All of them hold, and take three minutes.
  for (let point = 2; point <= 2 * calls + 1; point += 3)
    killed += (await run(point)).isKilled ? 1 : 0;
  expect(killed).toBeGreaterThan(5);
});
