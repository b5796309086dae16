/** The life of an agent in the namespace sandbox: signals, ends, aborts, and what is left. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { sessionsDirectory } from "../src/session.js";
import { namespaces, PATH, runAgent, startAgent, textOf } from "./namespace-kit.js";

/** The agent of most tests; a manager that is not root has only itself. */
const user = process.getuid?.() === 0 ? { user: 61_008 } : {};

describe.skipIf(!namespaces.run)(`the life of an agent ${namespaces.reason}`, () => {
  const sessions = (): readonly string[] =>
    existsSync(sessionsDirectory()) ? readdirSync(sessionsDirectory()) : [];
  const ours = (): readonly string[] => sessions().filter((id) => id.includes(`-${process.pid}-`));

  it("kill() reaches the agent, and only the agent", async () => {
    const agent = await startAgent(
      [
        "bash",
        "-c",
        "trap 'echo term; exit 3' TERM; (trap 'echo child' TERM; echo ready; sleep 600 & wait) & wait",
      ],
      user,
    );
    let output = "";
    agent.stdout?.on("data", (chunk) => {
      output += String(chunk);
      if (output === "ready\n") agent.kill("SIGTERM");
    });
    expect(await agent.exited).toEqual({ code: 3, signal: undefined });
    expect(output).toBe("ready\nterm\n");
    expect(() => agent.kill("SIGNOTHING")).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
    agent.kill("SIGTERM"); // nobody to get it any more
  });

  it("exited waits for everything that the agent started, and leaves nothing behind", async () => {
    const agent = await startAgent(
      [
        "bash",
        "-c",
        "setsid sleep 601 & setsid bash -c 'trap \"\" TERM HUP; sleep 602' & disown -a; exit 5",
      ],
      user,
    );
    expect(await agent.exited).toEqual({ code: 5, signal: undefined });
    expect(commands().filter((line) => /^sleep\x00(601|602)\x00/u.test(line))).toEqual([]);
    expect(ours()).toEqual([]);
    expect(cgroups()).toEqual([]);
  });

  it("exited waits for hundreds of processes that take their time", async () => {
    const many =
      "for (let i = 0; i < 300; i++) require('child_process').spawn('sleep', ['605'], { detached: true, stdio: 'ignore' }); process.exit(0)";
    const agent = await startAgent([process.execPath, "-e", many], user);
    expect(await agent.exited).toEqual({ code: 0, signal: undefined });
    expect(commands().filter((line) => line.startsWith("sleep\x00605"))).toEqual([]);
  });

  it("close() ends it and removes what was set up", async () => {
    const agent = await startAgent(["sleep", "603"], user);
    expect(ours()).toHaveLength(1);
    await agent.close();
    expect(await agent.exited).toEqual({ code: undefined, signal: "SIGKILL" });
    await agent.close();
    expect(commands().filter((line) => line.startsWith("sleep\x00603"))).toEqual([]);
    expect(ours()).toEqual([]);
    expect(cgroups()).toEqual([]);
  });

  it("an abort ends it: before, while it starts, and after", async () => {
    const before = AbortSignal.abort();
    await expect(startAgent(["sleep", "604"], user, { signal: before })).rejects.toMatchObject({
      code: "aborted",
    });
    const during = new AbortController();
    const starting = startAgent(["sleep", "604"], user, {
      signal: during.signal,
      env: () => (during.abort(), { PATH }),
    });
    await expect(starting).rejects.toMatchObject({ code: "aborted" });
    const inside = new AbortController();
    // The child is started in the same turn in which its environment is asked for.
    const checking = startAgent(["sleep", "604"], user, {
      signal: inside.signal,
      env: () => (setImmediate(() => inside.abort()), { PATH }),
    });
    await expect(checking).rejects.toMatchObject({ code: "aborted" });
    expect(commands().filter((line) => line.includes(`-${process.pid}-`))).toEqual([]);
    const after = new AbortController();
    const agent = await startAgent(["sleep", "604"], user, { signal: after.signal });
    after.abort();
    expect(await agent.exited).toEqual({ code: undefined, signal: "SIGKILL" });
    expect(commands().filter((line) => line.startsWith("sleep\x00604"))).toEqual([]);
    expect(ours()).toEqual([]);
  });

  it("a start that fails leaves nothing behind", async () => {
    await expect(startAgent(["true"], user, { cwd: "/nonexistent" })).rejects.toMatchObject({
      code: "sandbox_failed",
    });
    const thrown = startAgent(["true"], user, {
      env: () => {
        throw new Error("no environment");
      },
    });
    await expect(thrown).rejects.toMatchObject({ code: "sandbox_failed" });
    await expect(startAgent([], user)).rejects.toMatchObject({ code: "options_invalid" });
    await expect(startAgent(["true"], user, { env: () => ({ "A=B": "c" }) })).rejects.toMatchObject(
      { code: "options_invalid" },
    );
    await expect(
      startAgent(["true"], user, { env: () => ({ A: "\0--bind\0/\0/" }) }),
    ).rejects.toMatchObject({ code: "options_invalid" });
    expect(ours()).toEqual([]);
    expect(cgroups()).toEqual([]);
  });

  it("two agents are apart, and each has its own way to the proxy", async () => {
    const seen: string[] = [];
    const run = (name: string) =>
      runAgent(
        ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/$PORT; read answer <&3; echo $answer"],
        user,
        {
          onConnection: (socket: Socket) => {
            seen.push(name);
            socket.end(`${name}\n`);
          },
          env: ({ port }) => ({ PATH, PORT: String(port) }),
        },
      );
    const ran = await Promise.all([run("one"), run("two")]);
    expect(ran.map(({ output }) => output)).toEqual(["one\n", "two\n"]);
    expect(seen.sort()).toEqual(["one", "two"]);
  });

  it("pipes the agent's standard input", async () => {
    const agent = await startAgent(["cat"], user);
    agent.stdin?.end("through");
    expect(await textOf(agent)).toBe("through");
    expect(await agent.exited).toEqual({ code: 0, signal: undefined });
  });
});

/** Command lines of everything that runs on the host. */
function commands(): readonly string[] {
  return readdirSync("/proc").flatMap((name) => {
    try {
      return /^\d+$/u.test(name) ? [readFileSync(`/proc/${name}/cmdline`, "utf8")] : [];
    } catch {
      return [];
    }
  });
}

/** Control groups of agents of this process. */
function cgroups(): readonly string[] {
  const parents = readdirSync("/sys/fs/cgroup").flatMap((name) => [`/sys/fs/cgroup/${name}`]);
  const mark = `-${process.pid}-`;
  return [...parents, "/sys/fs/cgroup"].flatMap((parent) => {
    try {
      return readdirSync(parent).filter((name) => name.startsWith("acp-") && name.includes(mark));
    } catch {
      return [];
    }
  });
}
