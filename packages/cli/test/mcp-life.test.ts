import { access, mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openAuditLog, verifyAuditLog } from "@acp/audit";
import { EXIT_CODES } from "../src/exit-codes.js";
import { RESIDENT, acp, scratch, startAcp } from "./harness.js";
import type { Running, Scratch } from "./harness.js";
import { fileServer, startGated } from "./mcp-client.js";
import { residentOf } from "./resident-world.js";

const ALLOW = 'version: "1"\ndefault_action: allow\n';
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "raw", version: "1" },
  },
};

interface World extends Scratch {
  readonly home: string;
  readonly folder: string;
}

async function world(config?: string): Promise<World> {
  const at = await scratch();
  const [home, folder] = [join(at.path, "h"), join(at.path, "files")];
  await mkdir(folder);
  await writeFile(join(folder, "a.txt"), "hello");
  await mkdir(home, { mode: 0o700 });
  await writeFile(join(home, "policy.yml"), ALLOW, { mode: 0o600 });
  if (config !== undefined) await writeFile(join(home, "config.yml"), config, { mode: 0o600 });
  return { ...at, home, folder };
}

const serverYaml = (name: string, folder: string): string =>
  `    - name: ${name}\n      command: ${JSON.stringify(fileServer(folder).join(" "))}\n`;

/** `acp mcp` spoken to by hand, after its first answer. */
async function startRaw(at: World, env: Readonly<Record<string, string>> = {}): Promise<Running> {
  const running = startAcp(["mcp", "--", ...fileServer(at.folder)], { home: at.home, env });
  running.child.stdin?.write(`${JSON.stringify(INITIALIZE)}\n`);
  await running.seen("stdout", '"serverInfo"');
  return running;
}

const sockets = async (home: string): Promise<readonly string[]> =>
  readdir(join(home, "run")).catch(() => []);
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** Both forms of `acp mcp`: what people run, and a gate of its own. */
const FORMS = [
  { form: "served by the resident", isResident: true },
  { form: "alone", isResident: false },
] as const;

/** Ends the resident of the home with the test. */
function withoutResident({ home }: World): AsyncDisposable {
  const end = async (): Promise<void> => void (await acp(["resident", "stop"], { home }));
  return { [Symbol.asyncDispose]: end };
}

/** The process id of the file server that `acp mcp` started. */
async function serverOf(pid: number): Promise<number> {
  return Number((await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).trim().split(" ")[0]);
}

async function killInCalls(at: World, { child, seen, ended }: Running): Promise<void> {
  for (let id = 2; id < 52; id++) {
    const params = { name: "read_text_file", arguments: { path: join(at.folder, "a.txt") } };
    child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params })}\n`);
  }
  await seen("stdout", '"id":20');
  child.kill("SIGKILL");
  expect(await ended).toMatchObject({ signal: "SIGKILL" });
}

describe("the end of acp mcp", () => {
  it("is clean when the client closes: exit 0, socket gone, log whole, server ended", async () => {
    await using at = await world();
    await using running = await startRaw(at);
    const server = await serverOf(running.child.pid ?? 0);
    expect(await sockets(at.home)).toEqual([`${running.child.pid}.sock`]);
    running.child.stdin?.end();
    expect(await running.ended).toMatchObject({ code: 0 });
    expect(await sockets(at.home)).toEqual([]);
    expect(isAlive(server)).toBe(false);
    expect(await verifyAuditLog(join(at.home, "audit.jsonl"))).toMatchObject({ ok: true });
  });

  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("is clean on %s", async (name) => {
    await using at = await world();
    await using running = await startRaw(at);
    running.child.kill(name);
    expect(await running.ended).toMatchObject({ code: 0, signal: null });
    expect(await sockets(at.home)).toEqual([]);
    // the writer's lock is free
    const again = await openAuditLog({ path: join(at.home, "audit.jsonl") });
    await again.close();
  });

  it("after kill -9 in the middle of calls leaves a log that verifies and that the next gate goes on with", async () => {
    await using at = await world();
    await using running = await startRaw(at);
    await killInCalls(at, running);
    const left = await verifyAuditLog(join(at.home, "audit.jsonl"));
    expect(left.ok || left.firstBad?.code === "torn_line").toBe(true);
    // intercepted, judged and forwarded, before the answer
    expect(left.events).toBeGreaterThan(18 * 3);
    await using next = await startGated(at);
    await next.call("read_text_file", { path: "a.txt" });
    const after = await verifyAuditLog(join(at.home, "audit.jsonl"));
    expect(after.ok).toBe(true);
    expect(after.events).toBeGreaterThan(left.events);
    expect(JSON.parse((await acp(["pending", "--json"], { home: at.home })).stdout).gates).toBe(1);
  });

  it("by kill -9 in the middle of calls ends its server at the resident, and the next client goes on in its log", async () => {
    await using at = await world();
    await using _resident = withoutResident(at);
    await using running = await startRaw(at, RESIDENT);
    const resident = residentOf(at.home);
    const server = await serverOf(resident);
    await killInCalls(at, running);
    await expect.poll(() => isAlive(server), { timeout: 60_000 }).toBe(false);
    await using next = await startGated({ ...at, isResident: true });
    expect(await next.call("read_text_file", { path: "a.txt" })).toMatchObject({ isError: false });
    expect(residentOf(at.home)).toBe(resident);
    const { stdout } = await acp(["audit", "verify", "--json"], { home: at.home });
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, logs: [expect.anything()] });
  });

  it("is a failure when its only server ends, and says so", async () => {
    await using at = await world();
    const running = startAcp(["mcp", "--", process.execPath, "-e", "process.exit(3)"], {
      home: at.home,
    });
    running.child.stdin?.write(`${JSON.stringify(INITIALIZE)}\n`);
    const { code, stderr } = await running.ended;
    expect([code, stderr]).toEqual([EXIT_CODES.failed.code, expect.stringContaining("default")]);
    expect(await sockets(at.home)).toEqual([]);
  });
});

describe.each(FORMS)("acp mcp, $form", ({ isResident }) => {
  const env = isResident ? RESIDENT : {};

  it("says clearly that its server's program does not exist", async () => {
    await using at = await world();
    await using _resident = withoutResident(at);
    const running = startAcp(["mcp", "--", "no-such-program-here"], { home: at.home, env });
    running.child.stdin?.write(`${JSON.stringify(INITIALIZE)}\n`);
    const { code, stdout, stderr } = await running.ended;
    expect([code, stderr]).toEqual([
      EXIT_CODES.failed.code,
      expect.stringContaining("no-such-program-here"),
    ]);
    expect(stdout).toContain('"id":1');
  });

  it("writes notices as JSON lines with --json, and keeps stdout for MCP", async () => {
    await using at = await world();
    await using _resident = withoutResident(at);
    await using running = startAcp(["mcp", "--json", "--", ...fileServer(at.folder)], {
      home: at.home,
      env,
    });
    running.child.stdin?.write(`${JSON.stringify(INITIALIZE)}\n`);
    await running.seen("stdout", '"serverInfo"');
    running.child.stdin?.end();
    const { stdout, stderr } = await running.ended;
    for (const line of stdout.trimEnd().split("\n"))
      expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
    for (const line of stderr.trimEnd().split("\n"))
      expect(JSON.parse(line)).toEqual({ notice: expect.any(String) });
  });
});

describe("several gates of one home", () => {
  it("write a log each, and are all listed, paused and verified together", async () => {
    await using at = await world();
    await using one = await startGated(at);
    await using two = await startGated(at);
    for (const gated of [one, two])
      expect(await gated.call("read_text_file", { path: "a.txt" })).toMatchObject({
        isError: false,
      });
    expect((await readdir(at.home)).filter((name) => name.endsWith(".jsonl")).sort()).toEqual([
      "audit.2.jsonl",
      "audit.jsonl",
    ]);
    expect(JSON.parse((await acp(["pending", "--json"], { home: at.home })).stdout).gates).toBe(2);
    const { logs, ok } = JSON.parse(
      (await acp(["audit", "verify", "--json"], { home: at.home })).stdout,
    );
    expect([ok, logs.length]).toEqual([true, 2]);
  });

  it("do not step around a log that is broken", async () => {
    await using at = await world();
    await writeFile(join(at.home, "audit.jsonl"), '{"not":"an event"}\n', { mode: 0o600 });
    expect(await acp(["mcp", "--", ...fileServer(at.folder)], { home: at.home })).toMatchObject({
      code: EXIT_CODES.audit.code,
      stderr: expect.stringContaining("[audit_failed]"),
    });
    await expect(access(join(at.home, "audit.2.jsonl"))).rejects.toThrow("ENOENT");
  });
});

describe.each(FORMS)("acp mcp and its configuration, $form", ({ isResident }) => {
  it("starts the servers of config.yml and names their tools by them", async () => {
    await using at = await scratch();
    const [home, one, two] = [join(at.path, "h"), join(at.path, "one"), join(at.path, "two")];
    for (const folder of [one, two]) await mkdir(folder);
    await writeFile(join(one, "a.txt"), "of one");
    await mkdir(home, { mode: 0o700 });
    await writeFile(
      join(home, "policy.yml"),
      'version: "1"\ndefault_action: deny\nrules: [{ match: { server: one, tool: "read_*" }, action: allow }]\n',
      { mode: 0o600 },
    );
    await writeFile(
      join(home, "config.yml"),
      `version: "1"\nproxy:\n  upstream_servers:\n${serverYaml("one", one)}${serverYaml("two", two)}`,
      { mode: 0o600 },
    );
    await using gated = await startGated({ home, folder: one, server: [], isResident });
    expect((await gated.client.listTools()).tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["one__read_text_file", "two__read_text_file"]),
    );
    expect(await gated.call("one__read_text_file", { path: join(one, "a.txt") })).toMatchObject({
      text: "of one",
    });
    expect(await gated.call("two__read_text_file", { path: join(two, "a.txt") })).toMatchObject({
      code: "policy_denied",
    });
  });

  it("takes time-out, policy path and environment from it", async () => {
    await using at = await world();
    const other = join(at.path, "other.yml");
    await writeFile(other, 'version: "1"\ndefault_action: deny\n', { mode: 0o600 });
    const config = join(at.path, "acp.yml");
    await writeFile(
      config,
      `version: "1"\nproxy:\n  upstream_servers:\n${serverYaml("files", at.folder)}      env: { EXTRA: "1" }\ndefaults: { policy: other.yml, timeout_seconds: 1 }\n`,
      { mode: 0o600 },
    );
    await using gated = await startGated({
      ...at,
      args: ["--config", config],
      server: [],
      isResident,
    });
    expect(await gated.call("read_text_file", { path: "a.txt" })).toMatchObject({
      code: "policy_denied",
    });
    const environ = await readFile(
      `/proc/${await serverOf(isResident ? residentOf(at.home) : gated.pid)}/environ`,
      "utf8",
    );
    expect(environ.split("\0")).toEqual(
      expect.arrayContaining(["EXTRA=1", expect.stringMatching(/^PATH=/)]),
    );
  });

  it.each([
    [
      "no server",
      'version: "1"\n',
      [],
      "config_invalid",
      "there is no MCP server; write acp mcp -- COMMAND",
    ],
    [
      "a channel whose secret does not open",
      'version: "1"\nchannel: webhook\nwebhook: { url: "https://example.com/", secret: "encrypted:x" }\n',
      ["--", "x"],
      "key_locked",
      'Cannot open the encrypted field "webhook.secret": this home has no keys',
    ],
    [
      "a policy that is named and missing",
      'version: "1"\ndefaults: { policy: nowhere.yml }\n',
      ["--", "x"],
      "home_invalid",
      "nowhere.yml",
    ],
    [
      "an unknown key",
      'version: "1"\nproxxy: {}\n',
      ["--", "x"],
      "config_invalid",
      "config.yml:2:1: ",
    ],
    [
      "a url that others could read",
      'version: "1"\nproxy: { upstream_servers: [{ name: a, url: "http://example.com/" }] }\n',
      [],
      "options_invalid",
      "its address must begin with https://",
    ],
  ])("refuses %s", async (_name, config, args, errorCode, message) => {
    await using at = await world(config);
    await using _resident = withoutResident(at);
    const env = isResident ? RESIDENT : {};
    const { code, stdout, stderr } = await acp(["mcp", ...args], { home: at.home, env });
    expect([code, stdout, stderr]).toEqual([
      expect.any(Number),
      "",
      expect.stringContaining(message),
    ]);
    expect(stderr).toContain(`[${errorCode}]`);
    expect(code).toBe(
      errorCode === "options_invalid" ? EXIT_CODES.usage.code : EXIT_CODES.invalid.code,
    );
  });

  it("refuses --server where the configuration names the servers", async () => {
    await using at = await world();
    expect(await acp(["mcp", "--server", "x"], { home: at.home })).toMatchObject({
      code: EXIT_CODES.usage.code,
    });
  });
});
