/**
 * The first process of an agent's namespace, attacked by the agent; and what becomes of a start
 * without it.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { getPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { hostNeed } from "@acp/testing";
import { afterAll, describe, expect, it } from "vitest";
import { createNamespaceSandbox } from "../src/namespace.js";
import { initHelper, nativeHelper } from "../src/native-helper.js";
import { namespaces, PATH, runAgent, runShell, startAgent, textOf } from "./namespace-kit.js";

const isRoot = process.getuid?.() === 0;
const user = isRoot ? { user: 61_014 } : {};
const helper = await initHelper();
const compiled = hostNeed("cc", () => (helper.isAvailable ? undefined : helper.reason));
const note = `${namespaces.reason}${compiled.reason}`;

const directory = mkdtempSync(join(tmpdir(), "acp-init-"));
chmodSync(directory, 0o755);
afterAll(() => rmSync(directory, { recursive: true }));

/**
 * Looks into process 1 in every way there is, and says which worked. Without a first process of
 * ours "mem" and "fd" do.
 */
const LOOK = `
import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
def attempt(name, act):
    try: print(name, "worked", act(), flush=True)
    except OSError: pass
def checked(value):
    if value < 0: raise OSError(ctypes.get_errno(), "refused")
    return value
attempt("mem", lambda: os.close(os.open("/proc/1/mem", os.O_RDWR)))
attempt("fd", lambda: len(os.listdir("/proc/1/fd")))
attempt("environ", lambda: open("/proc/1/environ").read())
attempt("cwd", lambda: os.readlink("/proc/1/cwd"))
attempt("root", lambda: os.listdir("/proc/1/root"))
attempt("attach", lambda: checked(libc.ptrace(16, 1, 0, 0)))
attempt("seize", lambda: checked(libc.ptrace(0x4206, 1, 0, 0)))
attempt("getfd", lambda: checked(libc.syscall(438, checked(libc.syscall(434, 1, 0)), 6, 0)))
attempt("limits", lambda: checked(libc.prlimit(1, 6, (ctypes.c_ulong * 2)(9000, 9000), None)))
for name in ("SIGKILL", "SIGSTOP", "SIGTERM", "SIGSEGV", "SIGCHLD", "SIGCONT", "SIGTSTP", "SIGHUP"):
    try: os.kill(1, getattr(signal, name))
    except OSError: pass
print("group", os.getpgid(0) == os.getpid(), "session", os.getsid(0), "parent", os.getppid())
print([line.split()[-2] for line in open("/proc/1/limits") if line.startswith("Max processes")])
`;

describe.skipIf(!namespaces.run || !compiled.run)(
  `the first process of a namespace ${note}`,
  () => {
    it("cannot be looked into, written, traced or ended, and is below the limits itself", async () => {
      const { output, exit } = await runAgent(["python3", "-c", LOOK], {
        ...user,
        caps: { processes: 77 },
      });
      expect(output).toBe("group True session 1 parent 1\n['77']\n");
      expect(exit).toEqual({ code: 0, signal: undefined });
    });

    it("ends with the agent, whoever holds its streams and whatever is left", async () => {
      const script =
        "trap '' HUP TERM; (setsid sh -c 'trap \"\" HUP TERM INT; sleep 1000; sleep 1000' &) ; sleep 1000 & echo up; exit 6";
      const { exit, output } = await runShell(script, user);
      expect({ exit, output }).toEqual({ exit: { code: 6, signal: undefined }, output: "up\n" });
    });

    it.each([
      [130, { code: 130, signal: undefined }],
      [143, { code: 143, signal: undefined }],
      [255, { code: 255, signal: undefined }],
    ])("tells an exit code of %i from a signal", async (code, exit) => {
      expect((await runShell(`exit ${code}`, user)).exit).toEqual(exit);
    });

    it("loads no library that the agent's environment names", async () => {
      const library = join(directory, "loaded.so");
      const source =
        '#include <stdio.h>\n#include <unistd.h>\n__attribute__((constructor)) static void loaded(void) { dprintf(1, "in %d\\n", getpid()); }\n';
      expect(
        spawnSync("cc", ["-shared", "-fPIC", "-x", "c", "-o", library, "-"], { input: source })
          .status,
      ).toBe(0);
      const { output } = await runShell(
        "echo $$",
        { ...user, readable: [directory] },
        { env: () => ({ PATH, LD_PRELOAD: library }) },
      );
      const pids = [...output.matchAll(/^in (\d+)$/gmu)].map(([, pid]) => Number(pid));
      expect(pids.length).toBeGreaterThan(0);
      expect(pids).not.toContain(1);
    });

    it("adopts what the agent leaves behind, and buries it", async () => {
      const script =
        "for n in 1 2 3 4 5; do (sh -c 'sleep 0.01 & exit' &); done; sleep 0.3; grep -sh '^State:.Z' /proc/[0-9]*/status; echo end";
      expect((await runShell(script, user)).output).toBe("end\n");
    });
  },
);

describe.skipIf(!namespaces.run || !compiled.run)(
  `an agent whose first process does not say how it ended ${note}`,
  () => {
    /** The first process of its namespace is the agent's parent. */
    const parentOf = (pid: number): number =>
      Number(/\) . (\d+)/u.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1]);

    it("has failed where somebody else killed that process", async () => {
      const agent = await startAgent(["sleep", "1000"], user);
      process.kill(parentOf(agent.pid), "SIGKILL");
      const { code } = await agent.exited;
      expect(code).not.toBe(0);
      expect(agent.failure?.()).toMatchObject({
        code: "sandbox_failed",
        message: expect.stringContaining("was killed or failed"),
      });
    });

    it("has not where we ended it, and where it ended by itself", async () => {
      const closed = await startAgent(["sleep", "1000"], user);
      await closed.close();
      const over = new AbortController();
      const aborted = await startAgent(["sleep", "1000"], user, { signal: over.signal });
      over.abort();
      await aborted.exited;
      const killed = await startAgent(["sleep", "1000"], user);
      killed.kill("SIGKILL");
      expect(await killed.exited).toEqual({ code: undefined, signal: "SIGKILL" });
      for (const agent of [closed, aborted, killed]) expect(agent.failure?.()).toBeUndefined();
    });

    it("gets its turn before the agent where root started it", async ({ skip }) => {
      if (!isRoot) skip("needs root");
      const agent = await startAgent(["sleep", "1000"], user);
      const first = parentOf(agent.pid);
      expect([getPriority(first), getPriority(agent.pid)]).toEqual([-20, 0]);
      await agent.close();
    });
  },
);

describe.skipIf(!namespaces.run)(
  `files without content in a private file system ${namespaces.reason}`,
  () => {
    it("count as memory, where that is limited; where not, the report says so", async () => {
      const fill =
        "import os\nfor n in range(150000): os.close(os.open(f'/tmp/{n}', os.O_CREAT | os.O_WRONLY))\nprint('all of them')";
      const { report, output } = await runAgent(["python3", "-c", fill], {
        ...user,
        caps: { memoryBytes: 64 * 2 ** 20 },
      });
      const caps = report.items.find(({ aspect }) => aspect === "resource_caps");
      const isHeld = caps?.enforcement === "enforced";
      expect(output).toBe(isHeld ? "" : "all of them\n");
      expect(caps?.reason.includes("number of files is not limited")).toBe(!isHeld);
    });
  },
);

describe.skipIf(!namespaces.run)(
  `the namespace sandbox without a C compiler ${namespaces.reason}`,
  () => {
    it("runs, is partial, and says what is missing and how to mend it", async () => {
      const missing = (): ReturnType<typeof initHelper> =>
        initHelper({ directory: join(directory, "cache"), compiler: join(directory, "no-cc") });
      const sandbox = createNamespaceSandbox(user, missing);
      const report = await sandbox.probe();
      const expected = {
        level: "partial",
        reason: expect.stringContaining("there is no C compiler"),
        fix: expect.stringContaining("Install a C compiler"),
      };
      expect(report).toMatchObject({ isAvailable: true, ...expected });
      const options = {
        onConnection: () => undefined,
        env: () => ({ PATH }),
        stdio: "pipe",
      } as const;
      await expect(
        sandbox.spawn(["true"], { ...options, requiredLevel: "full" }),
      ).rejects.toMatchObject({ code: "sandbox_unavailable" });
      const agent = await sandbox.spawn(["sh", "-c", "kill -TERM 0; echo survived"], options);
      await textOf(agent);
      expect(await agent.exited).toEqual({ code: undefined, signal: "SIGTERM" });
      expect(agent.report).toMatchObject(expected);
    });
  },
);

describe.runIf(compiled.run)("initHelper()", () => {
  it("gives a program of its own beside nativeHelper()'s", async () => {
    const [init, confine] = [await initHelper(), await nativeHelper()];
    expect(init).toMatchObject({ isAvailable: true, path: expect.stringMatching(/\/init-/u) });
    expect(confine).toMatchObject({
      isAvailable: true,
      path: expect.stringMatching(/\/confine-/u),
    });
  });
});
