import { access, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type Masker, systemClock } from "@acp/core";
import { createMasker, Secret } from "@acp/core/vault";
import { manualClock } from "@acp/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { OutputChunk } from "./output.js";
import { type CommandOutcome, runShell, type ShellRun } from "./run-shell.js";

const PATIENCE_MS = 120_000;
let folder = "";
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "exec-run-")));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function eventually(what: string, check: () => Promise<boolean> | boolean): Promise<void> {
  const endMs = performance.now() + PATIENCE_MS;
  while (!(await check())) {
    if (performance.now() > endMs) throw new Error(`not so after ${PATIENCE_MS} ms: ${what}`);
    await wait(5);
  }
}

function runOf(command: string, more: Partial<ShellRun> = {}): ShellRun {
  return {
    command,
    cwd: folder,
    variables: { PATH: "/usr/local/bin:/usr/bin:/bin" },
    signal: new AbortController().signal,
    timeoutMs: PATIENCE_MS,
    outputBytesMax: 1024 * 1024,
    clock: systemClock,
    take: () => undefined,
    masker: () => undefined,
    ...more,
  };
}

interface Ran {
  readonly outcome: CommandOutcome;
  readonly stdout: string;
  readonly stderr: string;
}

async function collect(command: string, more: Partial<ShellRun> = {}): Promise<Ran> {
  const chunks: OutputChunk[] = [];
  const outcome = await runShell(
    runOf(command, { take: (output) => void chunks.push(output), ...more }),
  );
  const text = (wanted: OutputChunk["stream"]): string =>
    Buffer.concat(
      chunks.filter(({ stream }) => stream === wanted).map(({ chunk }) => chunk),
    ).toString("utf8");
  return { outcome, stdout: text("stdout"), stderr: text("stderr") };
}

/** Whether a process is there and not merely waiting to be reaped. */
async function isAlive(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
  return stat !== "" && !stat.slice(stat.lastIndexOf(")") + 2).startsWith("Z");
}

/** Process ids that a command wrote to a file, one a line; waits until there are so many. */
async function pidsIn(file: string, count: number): Promise<readonly number[]> {
  const read = async (): Promise<readonly number[]> =>
    (await readFile(join(folder, file), "utf8").catch(() => ""))
      .split("\n")
      .filter((line) => line !== "")
      .map(Number);
  await eventually(`${count} process ids in ${file}`, async () => (await read()).length >= count);
  return read();
}

async function expectGone(pids: readonly number[]): Promise<void> {
  const alive = await Promise.all(pids.map(isAlive));
  expect(pids.filter((_pid, at) => alive[at])).toEqual([]);
}

describe("runShell()", () => {
  it("runShell() gives exit code and both streams", async () => {
    const { outcome, stdout, stderr } = await collect("echo out; echo err >&2; exit 3");
    expect(outcome).toEqual({ end: "exited", exitCode: 3, outputBytes: 8 });
    expect([stdout, stderr]).toEqual(["out\n", "err\n"]);
  });

  it("runShell() says which signal ended a command that we did not end", async () => {
    expect((await collect("kill -USR1 $$")).outcome).toEqual({
      end: "signalled",
      signal: "SIGUSR1",
      outputBytes: 0,
    });
  });

  it("runShell() takes a text that starts with a dash as a command, not as bash's options", async () => {
    expect((await collect("-x; echo here")).stdout).toBe("here\n");
  });

  it("runShell() gives no input: a reader meets its end at once", async () => {
    expect((await collect("cat; read -r line || echo none")).stdout).toBe("none\n");
  });

  it("runShell() runs in the directory, with the variables and no others", async () => {
    const { stdout } = await collect(
      'pwd; echo "$A"; /usr/bin/env | /usr/bin/sort | /usr/bin/cut -d= -f1',
      {
        variables: { A: "1", PATH: "/usr/bin" },
      },
    );
    expect(stdout.split("\n").filter((line) => !["PWD", "SHLVL", "_"].includes(line))).toEqual([
      folder,
      "1",
      "A",
      "PATH",
      "",
    ]);
  });

  it("runShell() starts bash with these very arguments, and the text byte for byte", async () => {
    const command =
      "while IFS= read -r -d '' word; do printf '%s\\n' \"$word\"; done < /proc/$$/cmdline # é😀\t\r\u200b\u0001\\";
    const { stdout } = await collect(command);
    expect(stdout.split("\n")).toEqual([
      "/bin/bash",
      "--noprofile",
      "--norc",
      "-c",
      "--",
      command,
      "",
    ]);
  });

  it("runShell() reads no start-up file", async () => {
    await writeFile(join(folder, ".bashrc"), "echo EVIL\n");
    await writeFile(join(folder, ".bash_profile"), "echo EVIL\n");
    await writeFile(join(folder, ".profile"), "echo EVIL\n");
    expect(
      (await collect("echo fine", { variables: { PATH: "/usr/bin:/bin", HOME: folder } })).stdout,
    ).toBe("fine\n");
  });

  it("runShell() hands output on while the command runs", async () => {
    const go = join(folder, "go");
    const seen: string[] = [];
    const { outcome } = await collect(
      `echo first; until [ -e go ]; do sleep 0.01; done; echo second`,
      {
        take: async ({ chunk }) => {
          seen.push(Buffer.from(chunk).toString("utf8"));
          if (seen.length === 1) await writeFile(go, "");
        },
      },
    );
    expect(outcome.end).toBe("exited");
    expect(seen).toEqual(["first\n", "second\n"]);
  });

  it("runShell() waits for its taker: the command cannot write ahead of it", async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let taken = 0;
    const running = runShell(
      runOf("head -c 8000000 /dev/zero; echo done > done", {
        outputBytesMax: 16_000_000,
        take: async ({ chunk }) => {
          taken += chunk.length;
          await held;
        },
      }),
    );
    await eventually("the first piece is taken", () => taken > 0);
    const isDone = (): Promise<boolean> =>
      access(join(folder, "done")).then(
        () => true,
        () => false,
      );
    // Pipes and buffers hold far less than what is left: the writer stands still.
    for (let look = 0; look < 20; look++) {
      expect(await isDone()).toBe(false);
      await wait(5);
    }
    expect(taken).toBeLessThan(1_000_000);
    release();
    expect(await running).toEqual({ end: "exited", exitCode: 0, outputBytes: 8_000_000 });
    expect(await isDone()).toBe(true);
  });

  it("runShell() ends a command that writes more than it may, and hands on no more", async () => {
    const { outcome, stdout } = await collect("echo $$ > pid; yes", { outputBytesMax: 100_000 });
    expect(outcome).toEqual({ end: "output_limit", outputBytes: 100_000 });
    expect(stdout.length).toBe(100_000);
    await expectGone(await pidsIn("pid", 1));
  });

  it("runShell() counts what is taken after the command's end", async () => {
    const { outcome, stdout } = await collect("printf %s 0123456789; printf %s x >&2", {
      outputBytesMax: 5,
    });
    expect(outcome.end).toBe("output_limit");
    expect(outcome.outputBytes).toBe(5);
    expect(stdout.length).toBeLessThanOrEqual(5);
  });

  it("runShell() ends a command whose time is over, with everything that it started", async () => {
    const clock = manualClock();
    const running = collect(
      "echo $$ >> pid; sleep 1000 & echo $! >> pid; (sleep 1000 & echo $! >> pid; wait) & echo $! >> pid; wait",
      {
        clock,
        timeoutMs: 1_000,
      },
    );
    const pids = await pidsIn("pid", 4);
    await clock.advance(1_000);
    expect((await running).outcome.end).toBe("timed_out");
    await expectGone(pids);
  });

  it("runShell() ends what made a process group of its own", async () => {
    const stop = new AbortController();
    const running = collect(
      "timeout 1000 bash -c 'echo $$ >> pid; sleep 1000' & set -m; sleep 1000 & echo $! >> pid; wait",
      {
        signal: stop.signal,
      },
    );
    const pids = await pidsIn("pid", 2);
    stop.abort();
    expect((await running).outcome.end).toBe("aborted");
    await expectGone(pids);
  });

  it("runShell() kills what does not end when asked", async () => {
    const stop = new AbortController();
    const running = collect("trap '' TERM INT HUP; echo $$ >> pid; while :; do sleep 0.05; done", {
      signal: stop.signal,
    });
    const pids = await pidsIn("pid", 1);
    stop.abort();
    expect((await running).outcome.end).toBe("aborted");
    await expectGone(pids);
  });

  it("runShell() leaves nothing behind when a command ends by itself", async () => {
    const { outcome, stdout } = await collect(
      "sleep 1000 > /dev/null & echo $! >> pid; sleep 1000 & echo $! >> pid; echo done",
    );
    expect(outcome).toEqual({ end: "exited", exitCode: 0, outputBytes: 5 });
    expect(stdout).toBe("done\n");
    await expectGone(await pidsIn("pid", 2));
  });

  it("runShell() comes to its end though a process got away with its output", async () => {
    const { outcome } = await collect("setsid sleep 1000 & echo $! >> pid; echo done");
    expect(outcome.end).toBe("exited");
    // What makes a session of its own is out of reach, as documented; the test tidies up.
    const [pid = 0] = await pidsIn("pid", 1);
    if (await isAlive(pid)) process.kill(pid, "SIGKILL");
  });

  it.each([
    ["stays", "", true],
    ["gets away", "setsid ", false],
  ])(
    "runShell() comes to its end though a process that %s never stops writing",
    async (_what, how, isEnded) => {
      const { outcome } = await collect(
        `${how}bash -c 'echo $$ >> pid; while :; do echo x; sleep 0.05; done' & echo done`,
      );
      expect(outcome).toMatchObject({ end: "exited", exitCode: 0 });
      const pids = await pidsIn("pid", 1);
      if (isEnded) await expectGone(pids);
      for (const pid of pids) if (await isAlive(pid)) process.kill(pid, "SIGKILL");
    },
  );

  it("runShell() waits no longer than the command's time for what it left behind", async () => {
    const running = runShell(
      runOf("bash -c 'echo $$ >> pid; while :; do echo x; sleep 0.05; done' & exit 0", {
        timeoutMs: 200,
        // Never done with what came first: only the time ends this.
        take: async () => {
          await pidsIn("pid", 1);
          await eventually(
            "the process was ended",
            async () => !(await isAlive((await pidsIn("pid", 1))[0] ?? 0)),
          );
        },
      }),
    );
    expect((await running).end).toBe("exited");
    await expectGone(await pidsIn("pid", 1));
  });

  it("runShell() starts nothing for a caller that has gone", async () => {
    const stop = new AbortController();
    stop.abort();
    expect((await collect("echo x > here", { signal: stop.signal })).outcome).toEqual({
      end: "aborted",
      outputBytes: 0,
    });
    await expect(access(join(folder, "here"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("runShell() does not wait for the taker of a caller that has gone", async () => {
    const stop = new AbortController();
    const running = runShell(
      runOf("echo $$ >> pid; echo x; sleep 1000", {
        signal: stop.signal,
        take: () => new Promise<void>(() => stop.abort()),
      }),
    );
    expect((await running).end).toBe("aborted");
    await expectGone(await pidsIn("pid", 1));
  });

  it("runShell() ends the command whose taker throws, and throws the same", async () => {
    const failed = new Error("the screen is full");
    const running = runShell(
      runOf("echo $$ >> pid; echo x; sleep 1000", {
        take: () => {
          throw failed;
        },
      }),
    );
    await expect(running).rejects.toBe(failed);
    await expectGone(await pidsIn("pid", 1));
  });

  it("runShell() says what the system says where it starts nothing", async () => {
    expect((await collect("true", { cwd: join(folder, "gone") })).outcome).toEqual({
      end: "not_started",
      reason: "ENOENT",
      outputBytes: 0,
    });
    expect((await collect(`: ${"x".repeat(300_000)}`)).outcome).toEqual({
      end: "not_started",
      reason: "E2BIG",
      outputBytes: 0,
    });
  });

  it("runShell() masks each stream, also where a value comes in two pieces", async () => {
    const secrets = Object.freeze([
      new Secret({ name: "TOKEN", value: "s3cr3t-value-123", servers: ["*"] }),
    ]);
    const masker = (): Masker => createMasker(secrets);
    const { stdout, stderr } = await collect(
      "printf 'a s3cr3t-'; sleep 0.05; printf 'value-123 b'; printf 's3cr3t-value-123' >&2",
      {
        masker,
      },
    );
    expect([stdout, stderr]).toEqual(["a [secret TOKEN] b", "[secret TOKEN]"]);
  });
});
