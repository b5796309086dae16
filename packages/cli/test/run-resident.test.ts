/**
 * `acp run` by the resident of its home: the agent is held here, its gate is there. What holds for
 * both forms is in the other files of `acp run`, which have a gate of their own.
 */
import { chown, mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { RESIDENT, acp } from "./harness.js";
import type { Ended, Running } from "./harness.js";
import { fileServer, SERVER_PACKAGES } from "./mcp-client.js";
import { AGENT_UID, isolationsOf, needSandbox, runWorld } from "./run-world.js";
import type { RunOptions, RunWorld } from "./run-world.js";

const NAMESPACE = needSandbox("namespace");
const PASSPHRASE = "correct horse battery staple 9917";

/** A client of the bridge: reads a file that the agent wrote, and says what it got. */
const BRIDGE = `import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { writeFileSync } from "node:fs";
writeFileSync("new.txt", "from the agent");
const bridge = spawn("acp-mcp-bridge", { stdio: ["pipe", "pipe", "inherit"] });
const lines = createInterface({ input: bridge.stdout })[Symbol.asyncIterator]();
const ask = async (id, method, params) => {
  bridge.stdin.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\\n");
  for (;;) {
    const { value, done } = await lines.next();
    if (done) process.exit(9);
    const message = JSON.parse(value);
    if (message.id === id && message.method === undefined) return message;
  }
};
await ask(1, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "plain", version: "1" } });
bridge.stdin.write(JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }) + "\\n");
const { result, error } = await ask(2, "tools/call", { name: "read_text_file", arguments: { path: process.cwd() + "/new.txt" } });
console.log("server read:", result?.content?.[0]?.text ?? error?.message);
bridge.stdin.end();
`;

/** Asks for a page, again where a connection was lost, whenever a line comes in. */
const ASKING = `import { createInterface } from "node:readline";
const [origin] = process.argv.slice(2);
for await (const line of createInterface({ input: process.stdin })) {
  if (line === "end") process.exit(7);
  for (;;) {
    const answer = await fetch(origin + line).catch(() => undefined);
    if (answer?.status === 200) { console.log(await answer.text()); break; }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
`;

interface Resident extends RunWorld {
  /** Runs a command in the resident's form. */
  by(command: readonly string[], more?: RunOptions): Promise<Ended>;
  startBy(command: readonly string[], more?: RunOptions): Running;
  /** The last process that served the home. */
  pid(): Promise<number>;
}

async function residentWorld(options: Parameters<typeof runWorld>[0] = {}): Promise<Resident> {
  const world = await runWorld(options);
  const by = (more: RunOptions): RunOptions => ({ ...more, env: { ...RESIDENT, ...more.env } });
  return {
    ...world,
    by: (command, more = {}) => world.run(command, by(more)),
    startBy: (command, more = {}) => world.start(command, by(more)),
    async pid() {
      const log = await readFile(join(world.home, "run/resident.log"), "utf8");
      return Number([...log.matchAll(/as process (\d+)/g)].at(-1)?.[1]);
    },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

const notices = async (world: RunWorld, notice: string): Promise<readonly unknown[]> =>
  (await world.events())
    .filter(({ metadata }) => metadata["notice"] === notice)
    .map(({ metadata }) => metadata["text"]);

const logsOf = async (world: RunWorld): Promise<readonly string[]> =>
  (await readdir(world.home)).filter((name) => /^audit(?:\.\d+)?\.jsonl$/u.test(name)).sort();

describe.skipIf(!NAMESPACE.run)(`acp run by the resident ${NAMESPACE.reason}`, () => {
  it("passes each connection on: one gate judges, one log has it, and the code is the command's", async () => {
    await using world = await residentWorld();
    const curl = (path: string, ...more: readonly string[]): string =>
      `curl -sS -o /dev/null -w '%{http_code} ' ${more.join(" ")} ${world.origin}${path}`;
    const [first, second] = await Promise.all([
      world.by(["sh", "-c", `${curl("/one")}; ${curl("/two", "-X", "DELETE")}; exit 3`]),
      world.by(["sh", "-c", curl("/three")], { args: ["--agent", "other"] }),
    ]);
    expect(first).toMatchObject({ code: 3, stdout: "200 403 " });
    expect(second).toMatchObject({ code: 0, stdout: "200 " });
    expect(first.stderr).toContain('The agent runs in sandbox "namespace", level full');
    expect(first.stderr).toContain("Questions are answered by acp approve");
    expect([...world.reached].sort()).toEqual(["GET /one", "GET /three"]);
    expect(await logsOf(world)).toEqual(["audit.jsonl"]);
    const events = await world.events();
    const judged = events.filter(({ decision }) => decision !== "");
    expect(new Set(judged.map(({ agent }) => agent))).toEqual(new Set(["agent", "other"]));
    expect(isolationsOf(judged)).toEqual(["full:namespace"]);
  });

  it("--alone has a gate and a log of its own beside it", async () => {
    await using world = await residentWorld();
    await using running = world.startBy(["sh", "-c", "echo begun; read line"]);
    await running.seen("stdout", "begun");
    const pid = await world.pid();
    expect((await world.by(["true"], { args: ["--alone"] })).code).toBe(0);
    expect((await world.by(["true"], { env: { ACP_ALONE: "1" } })).code).toBe(0);
    expect(await logsOf(world)).toHaveLength(2);
    expect(await world.pid()).toBe(pid);
    running.child.stdin?.end();
    expect((await running.ended).code).toBe(1);
  });

  it("shows a server the overlay that the client holds, and tells the log what is left for a review", async () => {
    await using world = await residentWorld({
      policy: `version: "1"\ndefault_action: deny\nrules:\n  - { id: reads, match: { tool: "read_*" }, action: allow }\n`,
    });
    const [command = "", ...args] = fileServer(world.work);
    const server = { name: "files", command, args, read: [SERVER_PACKAGES], workspace: "read" };
    await writeFile(
      join(world.home, "config.yml"),
      `version: "1"\nproxy:\n  upstream_servers:\n    - ${JSON.stringify(server)}\n`,
      { mode: 0o600 },
    );
    await world.write("bridge.mjs", BRIDGE);
    const ended = await world.by(["node", "bridge.mjs"], { args: ["--review"] });
    expect(ended).toMatchObject({ code: 0, stdout: "server read: from the agent\n" });
    expect(await readdir(world.work)).toEqual(["bridge.mjs"]);
    expect(await notices(world, "review")).toEqual([
      expect.stringContaining("The command wrote into an overlay of its workspace"),
    ]);
    const taken = await acp(["review", "show", "--home", world.home]);
    expect(taken.stdout).toContain("new.txt");
  });

  it("serves a command that speaks MCP on its standard streams, and ends it where a server is lost", async () => {
    await using world = await residentWorld();
    const folder = join(world.path, "files");
    await mkdir(folder);
    if (process.getuid?.() === 0) await chown(folder, AGENT_UID, AGENT_UID);
    const configure = ([command = "", ...args]: readonly string[]): Promise<void> =>
      writeFile(
        join(world.home, "config.yml"),
        `version: "1"\nproxy:\n  upstream_servers:\n    - ${JSON.stringify({ name: "files", command, args, read: [SERVER_PACKAGES], write: [folder] })}\n`,
        { mode: 0o600 },
      );
    const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"p","version":"1"}}}`;
    const noting = `umask > ${folder}/umask && exec "$@"`;
    await configure(["/bin/sh", "-c", noting, "sh", ...fileServer(folder)]);
    const script = `echo '${hello}'; read answer; echo "$answer" >&2; exit 4`;
    const served = await world.by(["sh", "-c", script], { args: ["--mcp", "stdio"] });
    expect(served).toMatchObject({ code: 4, stdout: "" });
    expect(served.stderr).toContain('"serverInfo":{"name":"secure-filesystem-server"');
    // What it writes is as readable as if this process had started it, and not as the resident's.
    const mask = process.umask().toString(8).padStart(4, "0");
    expect(await readFile(join(folder, "umask"), "utf8")).toBe(`${mask}\n`);
    await configure([process.execPath, "-e", "process.exit(1)"]);
    const lost = await world.by(["sh", "-c", `echo '${hello}'; exec sleep 600`], {
      args: ["--mcp", "stdio"],
    });
    expect(lost.code).toBe(143);
  });

  it("writes what the run itself has to say into the one log", async () => {
    await using world = await residentWorld();
    const { code, stderr } = await world.by(["sh", "-c", "echo x > .npmrc"], {
      args: ["--host-port", "5432"],
    });
    expect(code).toBe(0);
    expect(stderr).toContain(".npmrc");
    expect(await notices(world, "left_behind")).toEqual([expect.stringContaining(".npmrc")]);
    expect(await notices(world, "host_ports")).toEqual([expect.stringContaining("5432")]);
    expect(await logsOf(world)).toEqual(["audit.jsonl"]);
  });

  it("ends with a signal's number, before the command begins and while it runs", async () => {
    await using world = await residentWorld({
      policy: `version: "1"\ndefault_action: deny\nrules:\n  - { id: asks, match: { kind: http }, action: ask }\n`,
    });
    await using running = world.startBy(["sh", "-c", "echo begun; exec sleep 600"]);
    await running.seen("stdout", "begun");
    running.child.kill("SIGTERM");
    expect((await running.ended).code).toBe(143);
    await using asking = world.startBy(["sh", "-c", "echo begun"], {
      args: ["--model-host", "model.example"],
    });
    await asking.seen("stderr", "Asking once for model.example");
    asking.child.kill("SIGINT");
    expect(await asking.ended).toMatchObject({ code: 130, stdout: "" });
  });

  it("goes on over the death of a resident, and hands the next one what it has to say", async () => {
    await using world = await residentWorld();
    await world.write("asking.mjs", ASKING);
    await using running = world.startBy(["node", "asking.mjs", world.origin]);
    running.child.stdin?.write("/one\n");
    await running.seen("stdout", "reached: GET /one");
    const pid = await world.pid();
    process.kill(pid, "SIGKILL");
    running.child.stdin?.write("/two\n");
    await running.seen("stdout", "reached: GET /two");
    await vi.waitFor(async () => expect(await world.pid()).not.toBe(pid), { timeout: 60_000 });
    await writeFile(join(world.work, "go"), "");
    process.kill(await world.pid(), "SIGKILL");
    running.child.stdin?.write("end\n");
    const { code, stderr } = await running.ended;
    expect(code).toBe(7);
    // Said once: by the first of them.
    expect(stderr.split("Questions are answered by")).toHaveLength(2);
    expect([...world.reached].sort()).toEqual(["GET /one", "GET /two"]);
  });

  it("starts nothing while the key is locked, and says what unlocks it", async () => {
    await using world = await residentWorld();
    const file = join(world.path, "passphrase");
    await writeFile(file, PASSPHRASE, { mode: 0o600 });
    const made = await acp(["init"], { home: world.home, env: { ACP_PASSPHRASE_FILE: file } });
    expect(made).toMatchObject({ code: 0 });
    const locked = await world.by(["sh", "-c", "echo begun"]);
    expect(locked).toMatchObject({ code: 125, stdout: "" });
    expect(locked.stderr).toMatch(/acp unlock --home .*\[key_locked\]/u);
    const unlock = { home: world.home, input: `${PASSPHRASE}\n`, env: RESIDENT };
    expect(await acp(["unlock"], unlock)).toMatchObject({ code: 0 });
    expect(await world.by(["sh", "-c", "echo begun"])).toMatchObject({
      code: 0,
      stdout: "begun\n",
    });
  });

  it("names --alone where it may not start a resident", async () => {
    await using world = await residentWorld();
    const { code, stdout, stderr } = await world.by(["sh", "-c", "echo begun"], {
      env: { ACP_SANDBOX: "namespace" },
    });
    expect([code, stdout]).toEqual([125, ""]);
    expect(stderr).toContain("acp run --alone needs no resident gate");
  });
});
