/**
 * Changes of keys that are killed before and after each change of the file system: the keys open, the
 * vault opens or is said to be another one, a gate starts, and the same command again comes to its end.
 */
import { spawnSync } from "node:child_process";
import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { verifyAuditLog } from "@acp/audit";
import { changeUnlock, homePaths, makeKeyFile, readPublicKeys } from "@acp/home";
import type { HomePaths, Unlock } from "@acp/home";
import { afterAll, expect, it } from "vitest";
import { openHomeKeys } from "../src/gate/home-keys.js";
import { folder, say } from "./backup-world.js";
import { doctorWorld, ioOf, removeTemplate } from "./doctor-world.js";
import { BIN } from "./harness.js";

afterAll(removeTemplate);

const KILL = fileURLToPath(new URL("kill-at.mjs", import.meta.url));
/** A command with these variables. */
const invocationWith = (env: Variables = {}) =>
  ({ io: ioOf(env), values: {}, flags: new Set<string>() }) as never;
const invocation = invocationWith();

type Variables = Readonly<Record<string, string>>;

interface End {
  readonly isKilled: boolean;
  readonly calls: number;
}

function killedAt(
  at: number,
  argv: readonly string[],
  { variables = {}, input = "" }: { readonly variables?: Variables; readonly input?: string } = {},
): End {
  const env = {
    ...variables,
    PATH: process.env["PATH"],
    HOME: process.env["HOME"],
    ACP_TEST_KILL_AT: String(at),
    ACP_TEST_CALLS: "1",
  };
  const { status, signal, stderr } = spawnSync(process.execPath, ["--import", KILL, BIN, ...argv], {
    env,
    encoding: "utf8",
    input,
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
    await expectWhole(own, point);
    await rm(own.dir, { recursive: true });
    return end;
  };
  await killAll(run);
});

/** The keys that these variables open are those in use, and nothing is wrong with the home. */
async function expectWhole(
  own: HomePaths,
  point: number,
  variables: Variables = {},
): Promise<void> {
  const now = await openHomeKeys(own, invocationWith(variables));
  expect([now.ring?.isStopped(), now.vaultMark !== undefined]).toEqual([false, true]);
  expect((await readPublicKeys(own))[0]?.publicKey).toBe(now.keys?.publicKey);
  expect((await verifyAuditLog(join(own.dir, "audit.jsonl"))).ok).toBe(true);
  const { stdout } = await say(["doctor", "--json", "--home", own.dir], { env: variables });
  const { ok, examinations } = JSON.parse(stdout);
  expect([point, ok, ok ? "" : examinations]).toEqual([point, true, ""]);
}

/** Every third, or so: before and after calls in turn. All of them hold, and take three minutes. */
async function killAll(run: (point: number) => Promise<End>, every: 3 | 5 = 3): Promise<void> {
  const { calls } = await run(0);
  let killed = 0;
  for (let point = 2; point <= 2 * calls + 1; point += every)
    killed += (await run(point)).isKilled ? 1 : 0;
  expect(killed).toBeGreaterThan(5);
}

/** A file that opens the key, and the variables that name it. */
async function opener(path: string, kind: Unlock["kind"]) {
  const text = kind === "key-file" ? makeKeyFile() : `what opens it is in ${path}`;
  await writeFile(path, text, { mode: 0o600 });
  return {
    unlock: kind === "key-file" ? { kind, text } : { kind, passphrase: text },
    variables: { [kind === "key-file" ? "ACP_KEY_FILE" : "ACP_PASSPHRASE_FILE"]: path },
    // The command makes a key file itself.
    words: kind === "key-file" ? ["--key-file", path] : [],
    input: kind === "key-file" ? "" : `${text}\n`,
  };
}

it.each([
  ["key-file", "passphrase"],
  ["passphrase", "key-file"],
] as const)(
  "acp keys passphrase from a %s to a %s leaves a key that one of the two opens, wherever it is killed",
  async (from, to) => {
    const { home } = await doctorWorld();
    const at = await folder();
    const before = await opener(join(at, "before"), from);
    const after = await opener(join(at, "after"), to);
    const made = join(home.keysDir, "unlock.key");
    const text = await readFile(made, "utf8");
    await changeUnlock(home, { from: { kind: "key-file", text }, to: before.unlock });
    await rm(made);
    const seen = new Set<boolean>();
    await killAll(async (point) => {
      const own = homePaths(join(at, String(point)));
      await cp(home.dir, own.dir, { recursive: true });
      if (to === "key-file") await rm(join(at, "after"), { force: true });
      const argv = ["keys", "passphrase", ...after.words, "--home", own.dir];
      const end = killedAt(point, argv, { ...before, input: after.input });
      const opens = await Promise.all(
        [before, after].map(({ variables }) =>
          openHomeKeys(own, invocationWith(variables)).then(
            ({ keys }) => keys !== undefined,
            () => false,
          ),
        ),
      );
      const isOld = opens[0] === true;
      expect([point, opens]).toEqual([point, [isOld, !isOld]]);
      if (!end.isKilled) expect(isOld).toBe(false);
      seen.add(isOld);
      killedAt(0, argv, { ...(isOld ? before : after), input: after.input });
      await expectWhole(own, point, after.variables);
      await rm(own.dir, { recursive: true });
      return end;
    }, 5);
    expect(seen.size).toBe(2);
  },
);
