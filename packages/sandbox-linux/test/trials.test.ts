/** Trials in the real thing: what a command in one sees, reaches, writes and leaves. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { manualClock } from "@acp/testing";
import { describe, expect, it, vi } from "vitest";
import type { TrialOrder } from "@acp/core";
import type { FrozenTrial, Trials } from "../src/trial-parts.js";
import { createTrials, type TrialsOptions } from "../src/trials.js";
import { bundled } from "../../../tools/bundled.js";
import type { TrialJob } from "./fixtures/trial-manager.js";
import { namespaces, PATH } from "./namespace-kit.js";
import { AGENT_UID, type OverlayWorld, overlayWorld } from "./overlay-kit.js";

const FILES = {
  "a.txt": "one\n",
  "sub/b.txt": "two\n",
  ".env": "TOKEN=s3cr3t\n",
  "keys/deep/id.pem": "PEM\n",
  "run.sh": "#!/bin/sh\n",
};
const MANAGER = await bundled(new URL("fixtures/trial-manager.ts", import.meta.url));
const isRoot = process.getuid?.() === 0;

function trialsOf(world: OverlayWorld, more: Partial<TrialsOptions> = {}): Trials {
  return createTrials({
    directory: join(world.home, "trials"),
    hidden: [world.home],
    ...(isRoot && { user: AGENT_UID }),
    ...more,
  });
}

function orderOf(world: OverlayWorld, script: string, more: Partial<TrialOrder> = {}): TrialOrder {
  return {
    agent: "ada",
    workspace: world.work,
    cwd: world.work,
    argv: ["/bin/bash", "--noprofile", "--norc", "-c", "--", script],
    variables: { PATH },
    isCovered: (path) => /\/(?:\.env|keys)$/u.test(path),
    signal: new AbortController().signal,
    ...more,
  };
}

interface Tried {
  readonly output: string;
  readonly code: number | undefined;
  readonly excess: string | undefined;
  readonly frozen: FrozenTrial;
}

async function tried(trials: Trials, order: TrialOrder): Promise<Tried> {
  const running = await (await trials.hold(order)).go();
  let output = "";
  for (const stream of [running.stdout, running.stderr])
    stream.on("data", (chunk) => (output += String(chunk)));
  const { code } = await running.exited;
  return { output, code, excess: running.excess(), frozen: await running.freeze() };
}

describe.skipIf(!namespaces.run)(`trials ${namespaces.reason}`, () => {
  it("run a command whose writes are in no workspace, list them, and take them once", async () => {
    await using world = overlayWorld(FILES);
    await using trials = trialsOf(world);
    const before = world.look();
    const { output, code, frozen } = await tried(
      trials,
      orderOf(world, "cat a.txt; echo more >> a.txt; rm sub/b.txt; echo n > new; exit 3"),
    );
    expect([output, code]).toEqual(["one\n", 3]);
    expect(world.look()).toEqual(before);
    expect(frozen.changes.map(({ path }) => path)).toEqual(["a.txt", "new", "sub/b.txt"]);
    expect(frozen.canKeep).toBe(true);
    expect(trials.find("ada", frozen.digest)?.digest).toBe(frozen.digest);
    expect(trials.find("eve", frozen.digest)).toBe(undefined);
    await expect(trials.keep("eve", frozen.digest)).rejects.toMatchObject({
      code: "options_invalid",
    });
    await expect(trials.keep("ada", "0".repeat(64))).rejects.toMatchObject({
      code: "options_invalid",
    });
    expect(world.look()).toEqual(before);
    expect(await trials.keep("ada", frozen.digest)).toMatchObject({
      taken: ["sub/b.txt", "a.txt", "new"],
      conflicts: [],
      failed: [],
    });
    expect(readFileSync(join(world.work, "a.txt"), "utf8")).toBe("one\nmore\n");
    expect(existsSync(join(world.work, "sub/b.txt"))).toBe(false);
    await expect(trials.keep("ada", frozen.digest)).rejects.toMatchObject({
      code: "options_invalid",
    });
    expect(readdirSync(join(world.home, "trials"))).toEqual([]);
  });

  it("have no network, not even a listener of ours, and a report that says so", async () => {
    await using world = overlayWorld(FILES);
    await using trials = trialsOf(world);
    const server = createServer((socket) => socket.end("reached"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const script = `for port in ${port} 18443; do (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null && echo reached $port; done
      (exec 3<>/dev/tcp/192.0.2.1/80) 2>/dev/null && echo reached; echo done`;
    expect(await tried(trials, orderOf(world, script))).toMatchObject({
      output: "done\n",
      code: 0,
    });
    server.close();
  });

  it("see no home, no file of ACP, no environment and nothing that is covered", async () => {
    await using world = overlayWorld(FILES);
    symlinkSync("keys/deep/id.pem", join(world.work, "by-link"));
    linkSync(join(world.work, ".env"), join(world.work, "other-name"));
    writeFileSync(join(world.home, "secret"), "s3cr3t");
    process.env["ACP_TRIAL_TEST"] = "s3cr3t";
    await using trials = trialsOf(world);
    const script = `cat .env keys/deep/id.pem by-link other-name ${world.home}/secret /etc/shadow 2>/dev/null
      find keys; ls -A "$HOME"; env | sort; ls -d ${world.home} ~root/.ssh 2>/dev/null
      mv keys elsewhere 2>/dev/null && cat elsewhere/deep/id.pem; rm -f .env 2>/dev/null; cat .env; echo x > .env; umount .env 2>/dev/null
      ln .env copy 2>/dev/null && cat copy; ls /usr/local/etc >/dev/null 2>&1 && echo PEM; echo done`;
    const { output, frozen } = await tried(trials, orderOf(world, script));
    delete process.env["ACP_TRIAL_TEST"];
    expect(output).not.toMatch(/s3cr3t|PEM/u);
    expect(
      output
        .split("\n")
        .filter((line) => /^[A-Z_]+=/u.test(line) && !/^(?:PWD|OLDPWD|SHLVL|_)=/u.test(line)),
    ).toEqual(["HOME=/home/agent", `PATH=${PATH}`]);
    expect(output).toContain("done\n");
    expect(frozen.changes).toEqual([]);
  });

  it("cover what a link of a covered name leads to", async () => {
    await using world = overlayWorld({ "plain/real.txt": "s3cr3t\n" });
    symlinkSync("plain/real.txt", join(world.work, ".env"));
    await using trials = trialsOf(world);
    expect((await tried(trials, orderOf(world, "cat .env plain/real.txt; echo done"))).output).toBe(
      "done\n",
    );
  });

  it.each([
    ["its directory is covered", (path: string) => path.endsWith("/sub"), "its directory lies in"],
    ["the workspace is covered", () => true, "its whole workspace would have to be covered"],
  ])("are none where %s", async (_what, isCovered, why) => {
    await using world = overlayWorld(FILES);
    await using trials = trialsOf(world);
    const order = orderOf(world, "true", { isCovered, cwd: join(world.work, "sub") });
    await expect(trials.hold(order)).rejects.toMatchObject({
      code: "sandbox_unavailable",
      message: expect.stringContaining(why),
    });
    expect(readdirSync(join(world.home, "trials"))).toEqual([]);
  });

  it.skipIf(isRoot)(
    `are none where a folder of the workspace cannot be looked at${isRoot ? " skipped: root looks into every folder" : ""}`,
    async () => {
      await using world = overlayWorld(FILES);
      mkdirSync(join(world.work, "closed"));
      chmodSync(join(world.work, "closed"), 0);
      await using trials = trialsOf(world);
      await expect(trials.hold(orderOf(world, "true"))).rejects.toMatchObject({
        code: "sandbox_unavailable",
      });
      chmodSync(join(world.work, "closed"), 0o755);
    },
  );

  it("are none where their directory is in the workspace", async () => {
    await using world = overlayWorld(FILES);
    const place = { directory: join(world.work, "trials"), ...(isRoot && { user: AGENT_UID }) };
    await using trials = createTrials(place);
    await expect(trials.hold(orderOf(world, "true"))).rejects.toMatchObject({
      code: "options_invalid",
    });
  });

  it("keep out what somebody changed meanwhile, and what runs by itself", async () => {
    await using world = overlayWorld(FILES);
    await using trials = trialsOf(world);
    const { frozen } = await tried(
      trials,
      orderOf(
        world,
        "echo x > a.txt; echo y > new; echo 'evil' > .envrc; mkdir .vscode; echo 1 > .vscode/tasks.json",
      ),
    );
    world.write("a.txt", "mine\n");
    expect(await trials.keep("ada", frozen.digest)).toMatchObject({
      conflicts: ["a.txt"],
      taken: ["new"],
      apart: expect.arrayContaining([".envrc"]),
    });
    expect(readFileSync(join(world.work, "a.txt"), "utf8")).toBe("mine\n");
    expect([
      existsSync(join(world.work, ".envrc")),
      existsSync(join(world.work, ".vscode/tasks.json")),
    ]).toEqual([false, false]);
  });

  it.each([
    [
      "bytes in many files",
      "for n in {1..40}; do head -c 1000000 /dev/zero > big$n; sleep 0.05; done; sleep 600",
      "bytes",
    ],
    ["files", "mkdir d; for n in {1..3000}; do : > d/$n; done; sleep 600", "files and folders"],
  ])("end where they write too many %s", async (_what, script, why) => {
    await using world = overlayWorld(FILES);
    await using trials = trialsOf(world, {
      limits: { writtenBytes: 8_000_000, writtenEntries: 1_000 },
    });
    const { excess, code } = await tried(trials, orderOf(world, script));
    expect(code).toBe(undefined);
    expect(excess).toContain(why);
  });

  it("write no file beyond the limit, whatever the watch sees", async () => {
    await using world = overlayWorld(FILES);
    await using trials = trialsOf(world, { limits: { writtenBytes: 1_024_000 } });
    const { frozen } = await tried(
      trials,
      orderOf(world, "trap '' XFSZ; head -c 3000000 /dev/zero > big; stat -c %s big"),
    );
    expect(
      frozen.changes.flatMap(({ after }) => (after?.kind === "file" ? [after.size] : [])),
    ).toEqual([1_024_000]);
  });

  it("end where they use too much memory", async () => {
    await using world = overlayWorld(FILES);
    await using trials = trialsOf(world, { caps: { memoryBytes: 64 * 2 ** 20 } });
    // Until all hold their memory, when the watch has a minute to see it, or until one has died.
    const hold =
      "x=$(head -c 40000000 /dev/zero | tr '\\0' a); echo held; echo >> held; sleep 1000";
    const hog = `touch held; for n in 1 2 3 4; do ( ( ${hold} ) || { echo dead; echo >> dead; } ) & done
      until [ -s dead ] || [ "$(wc -l < held)" -eq 4 ]; do sleep 0.1; done; [ -s dead ] || sleep 60`;
    const { excess, output } = await tried(trials, orderOf(world, hog));
    // By the kernel, where it may count for us; else by the watch.
    expect(excess?.includes("memory") === true || output.includes("dead")).toBe(true);
  });

  it("end with their signal, and leave nothing", async () => {
    await using world = overlayWorld(FILES);
    await using trials = trialsOf(world);
    const stop = new AbortController();
    const running = await (
      await trials.hold(
        orderOf(world, "echo on; sleep 1000.3141 & sleep 1000.3141", { signal: stop.signal }),
      )
    ).go();
    await new Promise((resolve) => running.stdout.once("data", resolve));
    stop.abort(new Error("enough"));
    expect((await running.exited).signal).toBe("SIGKILL");
    await running.close();
    expect(execFileSync("ps", ["-eo", "args"], { encoding: "utf8" })).not.toContain(
      "sleep 1000.3141",
    );
    expect(readdirSync(join(world.home, "trials"))).toEqual([]);
  });

  it("leave nothing that runs when their manager is killed, and nothing at all once the next one starts", async () => {
    await using world = overlayWorld(FILES);
    const before = world.look();
    const directory = join(world.home, "trials");
    const scripts = [
      "echo x > new",
      "echo y > newer; echo on; sleep 1000.2718 & sleep 1000.2718",
    ] as const;
    const options = { directory, hidden: [world.home], ...(isRoot && { user: AGENT_UID }) };
    const job: TrialJob = { options, workspace: world.work, scripts };
    const manager = spawn(process.execPath, [MANAGER, JSON.stringify(job)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const line = await new Promise<string>((resolve) =>
      manager.stdout.once("data", (chunk) => resolve(String(chunk))),
    );
    expect([line, readdirSync(directory).length]).toEqual(['{"canKeep":true}\n', 2]);
    manager.kill("SIGKILL");
    await once(manager, "exit");
    const running = (): string => execFileSync("ps", ["-eo", "args"], { encoding: "utf8" });
    await vi.waitFor(() => expect(running()).not.toContain("sleep 1000.2718"), { timeout: 60_000 });
    expect(world.look()).toEqual(before);
    await using trials = trialsOf(world);
    await tried(trials, orderOf(world, "true"));
    expect(readdirSync(directory)).toEqual([]);
  });

  it("are gone when their time is over, and make room for newer ones", async () => {
    await using world = overlayWorld(FILES);
    const clock = manualClock();
    await using trials = trialsOf(world, {
      clock,
      limits: { keptMs: 1_000, keptPerAgent: 2, kept: 3 },
    });
    const kept: { readonly agent: string; readonly digest: string }[] = [];
    const keep = async (agent: string, text: string): Promise<void> => {
      const { frozen } = await tried(trials, orderOf(world, `echo ${text} > n`, { agent }));
      kept.push({ agent, digest: frozen.digest });
    };
    const there = (): readonly boolean[] =>
      kept.map(({ agent, digest }) => trials.find(agent, digest) !== undefined);
    for (const text of ["1", "2", "3"]) await keep("ada", text);
    expect(there()).toEqual([false, true, true]);
    for (const agent of ["bob", "cid"]) await keep(agent, "4");
    expect(there()).toEqual([false, false, true, true, true]);
    await clock.advance(1_001);
    await vi.waitFor(() => expect(readdirSync(join(world.home, "trials"))).toEqual([]), {
      timeout: 60_000,
    });
    expect(there()).toEqual([false, false, false, false, false]);
  });
});
