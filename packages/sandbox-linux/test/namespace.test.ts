/** The namespace sandbox, seen from inside by agents that look. */
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { createServer as createHttpServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { namespaces, PATH, runAgent, runShell, startAgent } from "./namespace-kit.js";

const node = process.execPath;
const isRoot = process.getuid?.() === 0;
const AGENT_UID = 61_003;

let scratch: string;
beforeAll(async () => {
  scratch = await realpath(await mkdtemp(join(tmpdir(), "acp-namespace-")));
  await chmod(scratch, 0o755);
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

/** A directory that the agent's user owns. */
async function directory(name: string): Promise<string> {
  const path = join(scratch, name);
  await mkdir(path);
  if (isRoot) await chown(path, AGENT_UID, AGENT_UID);
  return path;
}

/** The agent of most tests; a manager that is not root has only itself. */
const user = isRoot ? { user: AGENT_UID } : {};

describe.skipIf(!namespaces.run)(`the namespace sandbox ${namespaces.reason}`, () => {
  it("reports every aspect as enforced, the level full and DNS closed", async () => {
    const { report } = await runShell("exit 0", user);
    const weak = report.items.filter(
      ({ aspect, enforcement }) => enforcement !== "enforced" && aspect !== "resource_caps",
    );
    expect(weak).toEqual([]);
    expect(new Set(report.items.map(({ aspect }) => aspect)).size).toBe(15);
    expect(report).toMatchObject({
      sandbox: "namespace",
      isAvailable: true,
      level: "full",
      dns: "closed",
    });
  });

  it.each([
    ["exit 0", { code: 0, signal: undefined }],
    ["exit 1", { code: 1, signal: undefined }],
    ["exit 125", { code: 125, signal: undefined }],
    ["kill -TERM $$", { code: undefined, signal: "SIGTERM" }],
    ["kill -ABRT $$", { code: undefined, signal: "SIGABRT" }],
    ["kill -KILL $$", { code: undefined, signal: "SIGKILL" }],
    ["exec /nonexistent", { code: 127, signal: undefined }],
  ])("gives the exit of %s", async (script, exit) => {
    expect((await runShell(script, user)).exit).toEqual(exit);
  });

  it("gives the agent exactly the environment and nothing of the manager's", async () => {
    const env = { PATH, A: "1", B: "two words\nand a line", NODE_OPTIONS: "--no-warnings" };
    const { output } = await runAgent([node, "-p", "JSON.stringify(process.env)"], user, {
      env: () => env,
    });
    const { PWD, SHLVL: _, ...others } = JSON.parse(output) as Record<string, string>;
    expect(others).toEqual(env);
    expect(PWD).toBe("/home/agent");
  });

  it("is root to nobody: an unprivileged user without capabilities, privileges to gain, groups or namespaces to make", async () => {
    const script =
      "id -u; id -G; grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status; unshare -U true && echo made; unshare -n true && echo made";
    const { output } = await runShell(script, user);
    const uid = isRoot ? AGENT_UID : process.getuid?.();
    expect(output.split("\n").slice(0, 2).join(" ")).toMatch(new RegExp(`^${uid} \\d+$`, "u"));
    expect(output.match(/^Cap\w+:\t0+$/gmu)).toHaveLength(5);
    expect(output).toMatch(/^NoNewPrivs:\t1$/mu);
    expect(output).toMatch(/^Seccomp:\t2$/mu);
    expect(output).not.toContain("made");
  });

  it("shows no process, file, key or name of the host", async () => {
    const script =
      "ls -A / /run /home /var /etc/ssl; ls /proc | grep -c '^[0-9]'; hostname; cat /etc/shadow /etc/hostname /proc/1/environ; ls /root /sys /work";
    const { output } = await runShell(`(${script}) 2>/dev/null; echo end`, user);
    expect(output).toContain("end");
    expect(output).not.toMatch(/^(root|work|sys|boot|mnt|opt|srv|private|user|systemd|dbus)$/mu);
    expect(output).not.toContain("root:");
    expect(output).toMatch(/^acp$/mu);
    expect(Number(/^\d+$/mu.exec(output)?.[0])).toBeLessThan(8);
  });

  it("lets it write nowhere but in its own places, and no more than was said", async () => {
    const mib = 2 ** 20;
    const script = [
      ...["/", "/etc", "/usr", "/dev", "/run", "/run/acp", "/var", "/proc/sys/kernel"].map(
        (path) => `touch ${path}/x 2>/dev/null && echo "wrote ${path}"`,
      ),
      ...["/tmp", "/home/agent", "/dev/shm", "/var/tmp"].map(
        (path) => `touch ${path}/x && echo "own ${path}"`,
      ),
      ...["/tmp", "/home/agent", "/dev/shm"].map(
        (path) =>
          `head -c ${8 * mib} /dev/zero > ${path}/big 2>/dev/null; stat -c 'size %s' ${path}/big`,
      ),
      "exit 0",
    ].join("\n");
    const { output } = await runShell(script, { ...user, caps: { scratchBytes: 4 * mib } });
    expect(output).not.toContain("wrote");
    expect(output.match(/^own .*$/gmu)).toHaveLength(4);
    const sizes = [...output.matchAll(/^size (\d+)$/gmu)].map(([, size]) => Number(size));
    expect(sizes).toHaveLength(3);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(4 * mib);
  });

  it("keeps the agent's processes and open files below the caps", async () => {
    const program = [
      "import os, resource as r, time",
      "print([r.getrlimit(each)[1] for each in (r.RLIMIT_NPROC, r.RLIMIT_NOFILE, r.RLIMIT_CORE)])",
      "count = 0",
      "try:",
      "  while count < 200:",
      "    if os.fork() == 0: time.sleep(600)",
      "    count += 1",
      "except OSError as error: print(count)",
    ].join("\n");
    const { output } = await runAgent(["python3", "-c", program], {
      ...user,
      caps: { processes: 40, openFiles: 123 },
    });
    const [limits, count] = output.split("\n");
    expect(limits).toBe("[40, 123, 0]");
    expect(Number(count)).toBeGreaterThan(30);
    expect(Number(count)).toBeLessThan(40);
  });

  it("keeps the memory of all of them below the cap, where the report says so", async () => {
    const hog =
      "const kept = []; for (let i = 0; i < 64; i++) kept.push(Buffer.alloc(2 ** 22, 1)); console.log('all of it'); process.kill(process.pid, 'SIGTERM')";
    const options = { ...user, caps: { memoryBytes: 128 * 2 ** 20 } };
    const { report, output, exit } = await runAgent([node, "-e", hog], options);
    const caps = report.items.find(({ aspect }) => aspect === "resource_caps");
    const isHeld = caps?.enforcement === "enforced";
    expect(caps?.reason).toContain(
      isHeld ? `${128 * 2 ** 20} bytes of memory` : "memory is not limited",
    );
    expect(output).toBe(isHeld ? "" : "all of it\n");
    expect(exit.signal).toBe(isHeld ? "SIGKILL" : "SIGTERM");
  });

  it("hands the agent's connections to the proxy, one socket for one agent", async () => {
    const http = createHttpServer((_, response) => response.end("from outside"));
    const script = "for i in 1 2 3; do curl -s http://127.0.0.1:$PORT/; echo; done";
    const { output } = await runShell(script, user, {
      onConnection: (socket) => void http.emit("connection", socket),
      env: ({ port }) => ({ PATH, PORT: String(port) }),
    });
    http.close();
    expect(output).toBe("from outside\n".repeat(3));
  });

  it("reaches neither a listener of the host nor one of its sockets", async () => {
    const heard: string[] = [];
    const open = async (where: object): Promise<number> => {
      const server = createServer((socket) => void heard.push(String(socket.remoteAddress)));
      server.listen(where);
      await once(server, "listening");
      server.unref();
      const address = server.address();
      return typeof address === "object" && address !== null ? address.port : 0;
    };
    const path = join(scratch, "host.sock");
    const port = await open({ port: 0, host: "0.0.0.0" });
    await open({ path });
    await open({ path: "\0acp-namespace-test-host" });
    await chmod(path, 0o666);
    const program = `
      const tries = [{ port: ${port}, host: "127.0.0.1" }, { port: ${port}, host: "::1" }, { path: ${JSON.stringify(path)} }, { path: "\\0acp-namespace-test-host" }];
      for (const each of tries) require("net").connect(each).on("connect", () => console.log("reached")).on("error", (error) => console.log(error.code));`;
    for (const unixSockets of ["none", "private"] as const) {
      const { output } = await runAgent([node, "-e", program], { ...user, unixSockets });
      expect(output.trim().split("\n")).toHaveLength(4);
      expect(output).not.toContain("reached");
    }
    expect(heard).toEqual([]);
  });

  it("closes the descriptors of its channel, filter and arguments", async () => {
    const { output } = await runShell("for fd in /proc/self/fd/*; do echo ${fd##*/}; done", user);
    expect(
      output
        .trim()
        .split("\n")
        .filter((fd) => Number(fd) > 2).length,
    ).toBeLessThanOrEqual(1); // the shell's own, while it lists
  });

  it("leaves no value of the environment on a command line", async () => {
    const agent = await startAgent(["sleep", "600"], user, {
      env: () => ({ PATH, TOKEN: "not-for-ps-4711" }),
    });
    const lines = readdirSync("/proc")
      .filter((name) => /^\d+$/u.test(name))
      .map((name) => {
        try {
          return readFileSync(`/proc/${name}/cmdline`, "utf8");
        } catch {
          return "";
        }
      });
    await agent.close();
    expect(lines.some((line) => line.includes("not-for-ps-4711"))).toBe(false);
  });
});

describe.skipIf(!namespaces.run)(`places of the namespace sandbox ${namespaces.reason}`, () => {
  it("shows a workspace for writing or for reading, and what is readable, at the paths of the host", async () => {
    const [workspace, readable] = [await directory("workspace"), await directory("readable")];
    await writeFile(join(readable, "note"), "hello");
    const script = `pwd; cat ${readable}/note; echo; touch made 2>/dev/null && echo wrote; touch ${readable}/x 2>/dev/null && echo "wrote readable"; ls ${scratch}`;
    const written = await runShell(script, {
      ...user,
      workspace: { path: workspace, access: "read-write" },
      readable: [readable],
    });
    expect(written.output).toBe(`${workspace}\nhello\nwrote\nreadable\nworkspace\n`);
    expect(existsSync(join(workspace, "made"))).toBe(true);
    const read = await runShell(script, {
      ...user,
      workspace: { path: workspace, access: "read-only" },
      readable: [readable],
    });
    expect(read.output).toBe(`${workspace}\nhello\nreadable\nworkspace\n`);
  });

  it("covers a hidden directory in what everybody sees", async () => {
    const script =
      "ls /usr/share/doc /lib/../share/doc; touch /usr/share/doc/x; ls /usr/share | grep -c doc; true";
    const { output } = await runShell(`(${script}) 2>/dev/null`, {
      ...user,
      hidden: ["/usr/share/doc"],
    });
    expect(output.split("\n").filter((line) => line !== "")).toEqual([
      expect.stringMatching(/^[1-9]/u),
    ]);
  });

  it("runs as the workspace's owner where root names no user", async ({ skip }) => {
    if (!isRoot) skip("needs root");
    const workspace = await directory("owned");
    const { output } = await runShell("id -u; touch mine && stat -c %u mine", {
      workspace: { path: workspace, access: "read-write" },
    });
    expect(output).toBe(`${AGENT_UID}\n${AGENT_UID}\n`);
  });

  it("throws options_invalid for a workspace that the agent's user may not enter", async ({
    skip,
  }) => {
    if (!isRoot) skip("needs root");
    const workspace = join(scratch, "closed");
    await mkdir(workspace, { mode: 0o700 });
    const run = runShell("exit 0", {
      ...user,
      workspace: { path: workspace, access: "read-write" },
    });
    await expect(run).rejects.toMatchObject({ code: "options_invalid" });
  });

  it("throws options_invalid for root as the agent's user", async () => {
    await expect(runShell("exit 0", { user: 0 })).rejects.toMatchObject({
      code: "options_invalid",
    });
    await expect(runShell("exit 0", { user: "root" })).rejects.toMatchObject({
      code: "options_invalid",
    });
  });

  it("shows the given files, and none that takes the place of its own", async () => {
    const file = join(scratch, "tool.sh");
    await writeFile(file, "#!/bin/sh\necho tool\n", { mode: 0o755 });
    const { output } = await runShell(
      '"$FILES"/tool; cat "$FILES"/tool; echo x >> "$FILES"/tool',
      user,
      {
        files: { tool: file },
        env: ({ files }) => ({ PATH, FILES: files }),
      },
    );
    expect(output).toBe("tool\n#!/bin/sh\necho tool\n");
    expect(readFileSync(file, "utf8")).not.toContain("x >>");
    await expect(
      runShell("exit 0", user, { files: { "first-stage.cjs": file } }),
    ).rejects.toMatchObject({ code: "options_invalid" });
    await expect(runShell("exit 0", user, { files: { "../x": file } })).rejects.toMatchObject({
      code: "options_invalid",
    });
  });

  it("is partial, and refuses to be full, where a socket of the host lies in the workspace and sockets are allowed", async () => {
    const workspace = await directory("sockets");
    const server = createServer().listen({ path: join(workspace, "docker.sock") });
    await once(server, "listening");
    const options = {
      ...user,
      workspace: { path: workspace, access: "read-write" },
      unixSockets: "private",
    } as const;
    const { report } = await runShell("exit 0", options);
    expect(report).toMatchObject({
      level: "partial",
      reason: expect.stringContaining("docker.sock"),
    });
    const run = runShell("exit 0", options, { requiredLevel: "full" });
    await expect(run).rejects.toMatchObject({ code: "sandbox_unavailable" });
    const sealed = await runShell(
      `${node} -e 'require("net").connect("docker.sock").on("error", (error) => console.log(error.code))'`,
      {
        ...options,
        unixSockets: "none",
      },
    );
    expect(sealed.report.level).toBe("full");
    expect(sealed.output).toMatch(/^E\w+\n$/u);
    server.close();
  });
});

describe.skipIf(!namespaces.run)(`programs in the namespace sandbox ${namespaces.reason}`, () => {
  const gcc = "printf 'int main(void){return 7;}' > a.c && gcc a.c -o a && ./a; echo $?";
  const git =
    "git init -q r && cd r && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git log --oneline | wc -l";
  const python =
    "import subprocess, threading, multiprocessing.pool as p; print(p.ThreadPool(4).map(abs, [-1, -2])); print(subprocess.run(['echo', 'sub'], capture_output=True).stdout)";
  const worker =
    'new (require("worker_threads").Worker)("require(\'worker_threads\').parentPort.postMessage(1)", { eval: true }).on("message", console.log)';
  const fork =
    'require("fs").writeFileSync("/tmp/child.js", "process.send(1)"); require("child_process").fork("/tmp/child.js").on("message", (m) => console.log(m))';
  const server =
    'const s = require("http").createServer((q, r) => r.end("ok")).listen(0, "localhost", () => fetch(`http://localhost:${s.address().port}`).then((r) => r.text()).then((t) => { console.log(t); s.close(); }))';
  it.each([
    [
      "node exec",
      `${node} -p 'require("child_process").execSync("echo run").toString().trim()'`,
      "run\n",
    ],
    ["node worker", `${node} -e '${worker.replaceAll("'", String.raw`'\''`)}'`, "1\n"],
    ["node fork", `${node} -e '${fork}'`, "1\n"],
    ["node http", `${node} -e '${server}'`, "ok\n"],
    ["bash process substitution", "bash -c 'cat <(echo a) <(echo b)'", "a\nb\n"],
    ["git", git, "1\n"],
    ["gcc", gcc, "7\n"],
    ["python", `python3 -c "${python}"`, "[1, 2]\nb'sub\\n'\n"],
    ["the user's name", "id -un; getent passwd agent | cut -d: -f6", "agent\n/home/agent\n"],
    ["localhost", "getent hosts localhost | wc -l", "1\n"],
  ])("run: %s", async (_, script, output) => {
    expect((await runShell(script, user)).output).toBe(output);
  });

  it("run: a Unix socket of their own, where allowed", async () => {
    const script =
      'const s = require("net").createServer((c) => c.end("hi")).listen("/tmp/s", () => require("net").connect("/tmp/s").on("data", (d) => { console.log(String(d)); s.close(); })); s.on("error", (e) => console.log(e.code))';
    const allowed = await runAgent([node, "-e", script], { ...user, unixSockets: "private" });
    expect(allowed.output).toBe("hi\n");
    const refused = await runAgent([node, "-e", script], user);
    expect(refused.output).toMatch(/^E\w+\n$/u);
  });
});
