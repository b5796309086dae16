/**
 * Agents of landlock, preload and env: how they start and end, whoever their manager is. What they
 * reach: test/landlock.test.ts and the escape kit.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isDeep } from "../../../tools/deep.js";
import { createEnvSandbox } from "../src/env.js";
import { firstStageCommand } from "../src/first-stage.js";
import { createLandlockSandbox } from "../src/landlock.js";
import type { NativeHelper } from "../src/native-helper.js";
import { createPreloadSandbox } from "../src/preload.js";
import { processesNaming } from "../src/process-tree.js";
import { sessionsDirectory } from "../src/session.js";
import {
  IS_ROOT,
  NEEDS,
  nodeScript,
  PLAIN_UID,
  runShell,
  startAgent,
  startManager,
} from "./supervised-kit.js";

const noHelper = (): Promise<NativeHelper> =>
  Promise.resolve({ isAvailable: false, reason: "there is no C compiler", fix: "Install one" });
const sandboxes = [
  {
    name: "landlock",
    create: () => createLandlockSandbox(),
    level: "partial",
    need: NEEDS.landlock,
    hasHelper: true,
  },
  {
    name: "preload",
    create: () => createPreloadSandbox(),
    level: "advisory",
    need: NEEDS.preload,
    hasHelper: true,
  },
  {
    name: "preload without the helper",
    create: () => createPreloadSandbox({}, { findHelper: noHelper }),
    level: "advisory",
    need: NEEDS.preload,
    hasHelper: false,
  },
  {
    name: "env",
    create: () => createEnvSandbox(),
    level: "none",
    need: NEEDS.env,
    hasHelper: true,
  },
  {
    name: "env without the helper",
    create: () => createEnvSandbox({}, noHelper),
    level: "none",
    need: NEEDS.env,
    hasHelper: false,
  },
] as const;

let scratch: string;
let mark: string;
let count = 0;
beforeEach(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), "acp-supervised-")));
  chmodSync(scratch, 0o755);
  mark = `7${process.pid}${(count += 1)}`;
});
afterEach(() => {
  // a test that failed leaves none either
  for (const pid of processesNaming(mark)) process.kill(pid, "SIGKILL");
  rmSync(scratch, { recursive: true, force: true });
});

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(10);
}

// Without the helper nothing is held that is held with it: the quick lane looks at what holds.
const looked = sandboxes.filter(({ hasHelper }) => hasHelper || isDeep);

describe.each(looked)("$name", ({ create, level, need, hasHelper }) => {
  it("probes by starting", async ({ skip }) => {
    if (!need.run) skip(need.reason);
    const report = await create().probe();
    expect(report).toMatchObject({ isAvailable: true, level });
    expect(report.items.length).toBe(15);
    expect(new Set(report.items.map(({ aspect }) => aspect)).size).toBe(15);
    if (level !== "partial")
      expect(report.items.filter(({ enforcement }) => enforcement !== "none")).toEqual([]);
    if (level === "none") expect(report.dns).toBe("open");
  });

  it("ends as the agent ends, and leaves nothing", async ({ skip }) => {
    if (!need.run) skip(need.reason);
    expect((await runShell(create(), "exit 5")).exit).toEqual({ code: 5, signal: undefined });
    expect((await runShell(create(), "kill -SEGV $$")).exit).toEqual({
      code: undefined,
      signal: "SIGSEGV",
    });
    expect((await runShell(create(), "exec /nowhere/at/all")).exit.code).toBe(127);
    expect(
      readdirSync(sessionsDirectory()).filter((id) => id.includes(`-${process.pid}-`)),
    ).toEqual([]);
  });

  it("gives the agent its own environment, streams and connection, and nothing else", async ({
    skip,
  }) => {
    if (!need.run) skip(need.reason);
    const look = nodeScript(`
      const about = { env: process.env, uid: process.getuid(), groups: process.getgroups(), cwd: process.cwd() };
      const status = require("fs").readFileSync("/proc/self/status", "utf8").match(/^(Cap(Prm|Eff)|NoNewPrivs):.*/gm);
      require("net").connect(process.env.PORT, "127.0.0.1").on("data", (data) => console.log(JSON.stringify({ ...about, status, said: String(data) })));`);
    const own = { PATH: "/usr/bin:/bin", QUOTED: `it's; $(exit 3) "x"\n\`y\`` };
    const { output } = await runShell(create(), look, {
      env: ({ port, home }) => ({ ...own, PORT: String(port), HOME: home }),
    });
    const { env, uid, groups, cwd, status, said } = JSON.parse(output) as Record<
      string,
      unknown
    > & {
      readonly env: Record<string, string>;
    };
    expect(said).toBe("hello");
    expect(env).toMatchObject(own);
    const known = [
      "HOME",
      "PATH",
      "PORT",
      "QUOTED",
      "TMPDIR",
      "LD_PRELOAD",
      "PROXYCHAINS_CONF_FILE",
      "PROXYCHAINS_QUIET_MODE",
    ];
    const ofShells = ["PWD", "OLDPWD", "SHLVL", "_"];
    expect(Object.keys(env).filter((name) => ![...known, ...ofShells].includes(name))).toEqual([]);
    expect([uid, groups]).toEqual(
      IS_ROOT ? [65_534, [65_534]] : [process.getuid?.(), process.getgroups?.()],
    );
    expect(status).toEqual([
      "CapPrm:\t0000000000000000",
      "CapEff:\t0000000000000000",
      "NoNewPrivs:\t1",
    ]);
    expect(cwd).toBe(env["HOME"]);
  });

  it("passes no descriptor of the manager on", async ({ skip }) => {
    if (!need.run) skip(need.reason);
    // proxychains opens pipes of its own; sockets and files of the manager would be something else.
    const { output } = await runShell(
      create(),
      "for fd in 3 4 5 6 7 8 9 10 11 12 13 14; do readlink /proc/$$/fd/$fd; done",
    );
    expect(output.split("\n").filter((line) => line !== "" && !line.startsWith("pipe:"))).toEqual(
      [],
    );
  });

  it("signals the agent alone, and closes with all that it started", async ({ skip }) => {
    if (!need.run) skip(need.reason);
    const script = `trap 'echo got it' USR1; sleep ${mark} & echo ready; wait; wait; exit 9`;
    const agent = await startAgent(create(), ["/bin/sh", "-c", script]);
    let output = "";
    agent.stdout?.on("data", (chunk) => (output += String(chunk)));
    await until(() => output.includes("ready"));
    agent.kill("SIGUSR1");
    await until(() => output.includes("got it"));
    expect(() => agent.kill("SIGNOTHING")).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
    await agent.close();
    expect((await agent.exited).signal).toBe("SIGKILL");
    expect(processesNaming(mark)).toEqual([]);
    agent.kill("SIGUSR1"); // nobody there any more: nothing happens
  });

  it("ends on abort, also before it started", async ({ skip }) => {
    if (!need.run) skip(need.reason);
    const over = new AbortController();
    const agent = await startAgent(create(), ["/bin/sh", "-c", `sleep ${mark}`], {
      signal: over.signal,
    });
    await until(() => processesNaming(mark).length > 0);
    over.abort();
    expect((await agent.exited).signal).toBe("SIGKILL");
    expect(processesNaming(mark)).toEqual([]);
    await expect(
      startAgent(create(), ["/bin/true"], { signal: over.signal }),
    ).rejects.toMatchObject({ code: "aborted" });
  });

  it("refuses what it cannot do", async ({ skip }) => {
    if (!need.run) skip(need.reason);
    await expect(startAgent(create(), [])).rejects.toMatchObject({ code: "options_invalid" });
    await expect(
      startAgent(create(), ["/bin/true"], { requiredLevel: "full" }),
    ).rejects.toMatchObject({ code: "sandbox_unavailable" });
    await expect(
      startAgent(create(), ["/bin/true"], { env: () => ({ "a b": "c" }) }),
    ).rejects.toMatchObject({ code: "options_invalid" });
    await expect(startAgent(create(), ["/bin/true"], { cwd: "/nowhere" })).rejects.toMatchObject({
      code: "sandbox_failed",
    });
    expect(
      readdirSync(sessionsDirectory()).filter((id) => id.includes(`-${process.pid}-`)),
    ).toEqual([]);
  });

  it("ends what the agent left behind", async ({ skip }) => {
    if (!need.run) skip(need.reason);
    if (!hasHelper) skip("only the helper does that");
    const { exit } = await runShell(
      create(),
      `(setsid sh -c 'trap "" TERM HUP; sleep ${mark}; sleep ${mark}' >/dev/null 2>&1 &); exit 4`,
    );
    expect(exit.code).toBe(4);
    expect(processesNaming(mark)).toEqual([]);
  });

  it("takes no connection of another user", async ({ skip }) => {
    if (!need.run) skip(need.reason);
    if (!IS_ROOT) skip("only root can be another user");
    let [port, accepted] = [0, 0];
    const agent = await startAgent(create(), ["/bin/cat"], {
      onConnection: (socket) => {
        accepted += 1;
        socket.end("hello");
      },
      env: (inside) => {
        port = inside.port;
        return { PATH: "/usr/bin:/bin" };
      },
    });
    const socket = connect(port, "127.0.0.1").on("error", () => undefined);
    let text = "";
    socket.on("data", (chunk) => (text += String(chunk)));
    await once(socket, "close");
    expect([text, accepted]).toEqual(["", 0]);
    const same = spawn(
      process.execPath,
      ["-e", `require("net").connect(${port}, "127.0.0.1").pipe(process.stdout)`],
      {
        uid: 65_534,
        gid: 65_534,
        env: {},
        cwd: "/",
      },
    );
    for await (const chunk of same.stdout) text += String(chunk);
    expect([text, accepted]).toEqual(["hello", 1]);
    await agent.close();
  });
});

describe.each(["landlock", "preload", "env"] as const)(
  "%s, from a manager without rights",
  (sandbox) => {
    it("starts an agent as the same user", async ({ skip }) => {
      if (!NEEDS[sandbox].run) skip(NEEDS[sandbox].reason);
      chmodSync(scratch, 0o1777);
      const { said, output, child } = startManager(
        { sandbox, argv: ["sh", "-c", "id -u; exit 3"] },
        scratch,
      );
      const closed = once(child, "close");
      expect(await said("exit")).toEqual({ exit: { code: 3 } });
      await closed;
      expect(output()).toBe(`${IS_ROOT ? PLAIN_UID : process.getuid?.()}\n`);
    });

    it("leaves nothing when that is killed with -9, and the next start cleans up", async ({
      skip,
    }) => {
      if (!NEEDS[sandbox].run) skip(NEEDS[sandbox].reason);
      chmodSync(scratch, 0o1777);
      const script = `trap '' TERM HUP INT; setsid sh -c 'sleep ${mark}; sleep ${mark}' & setsid sleep ${mark} & wait`;
      const { said, child } = startManager({ sandbox, argv: ["sh", "-c", script] }, scratch);
      await said("pid");
      await until(() => processesNaming(mark).length >= 4);
      const sessions = join(scratch, "acp-sandbox");
      expect(readdirSync(sessions)).toHaveLength(1);
      child.kill("SIGKILL");
      await once(child, "close");
      await until(() => processesNaming(mark).length === 0); // the test's own time is the bound
      const next = startManager({ sandbox, argv: ["true"] }, scratch);
      expect(await next.said("exit")).toEqual({ exit: { code: 0 } });
      expect(readdirSync(sessions)).toEqual([]);
    });
  },
);

describe("a helper that does not do its work", () => {
  it.each([
    ["confines nothing", 'while [ "$1" != -- ]; do shift; done; shift; "$@"'],
    ["starts nothing", "exit 0"],
  ])("starts no agent: one that %s", async (_, body) => {
    const path = join(scratch, "confine");
    const started = join(scratch, "started");
    writeFileSync(path, `#!/bin/sh\n${body}\n`);
    chmodSync(path, 0o755);
    const findHelper = (): Promise<NativeHelper> =>
      Promise.resolve({ isAvailable: true, path, landlockAbi: 7 });
    const start = startAgent(createLandlockSandbox({}, findHelper), ["/usr/bin/touch", started]);
    await expect(start).rejects.toMatchObject({ code: "sandbox_failed" });
    expect(statSync(started, { throwIfNoEntry: false })).toBeUndefined();
    const report = await createLandlockSandbox({}, findHelper).probe();
    expect(report).toMatchObject({ isAvailable: false, level: "none" });
  });
});

describe("firstStageCommand()", () => {
  it("runs no .bashrc of the agent's user before the self-check", async () => {
    writeFileSync(join(scratch, ".bashrc"), "echo ran >&2\n");
    const [program = "", ...args] = firstStageCommand(
      { node: "/bin/false", stage: "", closing: [12] },
      ["/bin/true"],
    );
    const child = spawn(program, args, { env: { HOME: scratch } });
    let text = "";
    for await (const chunk of child.stderr) text += String(chunk);
    expect(text).toBe("");
  });
});
