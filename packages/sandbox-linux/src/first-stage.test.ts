import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { SandboxItem, SandboxReport } from "@acp/core";
import {
  confirmFindings,
  confirmPrivileges,
  firstStageCommand,
  runFirstStage,
  STAGE_TIME_MAX_MS,
} from "./first-stage.js";
import type { FirstStageFindings, Session } from "./parts.js";
import { openSession } from "./session.js";

let base: string;
let session: Session;
const started: ChildProcess[] = [];
const listeners: Server[] = [];

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "acp-stage-"));
  session = await openSession({ sandbox: "env", base: join(base, "sessions") });
});
afterEach(async () => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
  for (const server of listeners.splice(0)) server.close();
  await rm(base, { recursive: true, force: true });
});

/** An agent behind a first stage in no boundary at all, so that everything is reachable. */
function start(
  argv: readonly string[],
  stage = join(session.inside, "first-stage.cjs"),
): ChildProcess {
  const [program = "", ...rest] = firstStageCommand({ node: process.execPath, stage }, argv);
  const child = spawn(program, rest, {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
    env: { PATH: process.env["PATH"], AGENT: "yes" },
  });
  started.push(child);
  return child;
}

async function freePort(): Promise<number> {
  const { createServer } = await import("node:net");
  const server = createServer().listen({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

async function outputOf(child: ChildProcess): Promise<string> {
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  await once(child, "close");
  return text;
}

const never = new AbortController().signal;

describe("runFirstStage()", () => {
  it("hands the listener out and finds every canary open where there is no boundary", async () => {
    const port = await freePort();
    const child = start(["/bin/sh", "-c", "true"]);
    const stage = await runFirstStage(child, { mode: "listen", port, session, signal: never });
    listeners.push(stage.listener);
    expect(stage.findings).toMatchObject({
      proxy: "reached",
      privileges: { uid: process.getuid?.() },
    });
    expect(stage.findings).toMatchObject({
      tcp: undefined,
      udp: undefined,
      pathSocket: undefined,
      abstractSocket: undefined,
    });
    stage.go({ onConnection: (socket: Socket) => socket.end("hello") });
    const [code] = await once(child, "exit");
    expect(code).toBe(0);
    const socket = connect({ host: "127.0.0.1", port });
    const [chunk] = await once(socket, "data");
    expect(String(chunk)).toBe("hello");
  });

  it("does not wait for ever where the stage is silent", async () => {
    const silent = join(base, "silent.cjs");
    await writeFile(silent, "setInterval(() => {}, 1000); process.on('message', () => {});");
    const port = await freePort();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const stage = runFirstStage(start(["/bin/true"], silent), {
        mode: "listen",
        port,
        session,
        signal: never,
      });
      const failure = { code: "sandbox_failed", message: expect.stringContaining("silent") };
      await Promise.all([
        expect(stage).rejects.toMatchObject(failure),
        vi.advanceTimersByTimeAsync(STAGE_TIME_MAX_MS),
      ]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("connects to the manager's listener where there is one", async () => {
    const { createServer } = await import("node:net");
    const listener = createServer().listen({ host: "127.0.0.1", port: 0 });
    listeners.push(listener);
    await once(listener, "listening");
    const address = listener.address();
    const port = address === null || typeof address === "string" ? 0 : address.port;
    const child = start(["/bin/true"]);
    const stage = await runFirstStage(child, {
      mode: "connect",
      port,
      listener,
      session,
      signal: never,
    });
    expect(stage.findings.proxy).toBe("reached");
    expect(stage.listener).toBe(listener);
  });

  it("writes the port down for the MCP bridge, readable by everybody", async () => {
    const port = await freePort();
    const mask = process.umask(0o077);
    const stage = await runFirstStage(start(["/bin/true"]), {
      mode: "listen",
      port,
      session,
      signal: never,
    }).finally(() => process.umask(mask));
    listeners.push(stage.listener);
    const path = join(session.inside, "proxy-port");
    expect([readFileSync(path, "utf8"), statSync(path).mode & 0o777]).toEqual([`${port}\n`, 0o644]);
  });

  it("lets nobody but the self-check through before the word to go", async () => {
    const port = await freePort();
    const child = start(["/bin/true"]);
    const stage = await runFirstStage(child, { mode: "listen", port, session, signal: never });
    listeners.push(stage.listener);
    const early = connect({ host: "127.0.0.1", port });
    early.write("GET / HTTP/1.1\r\n\r\n");
    let got = "";
    early.setEncoding("utf8").on("data", (chunk: string) => (got += chunk));
    early.on("error", () => {});
    await once(early, "close");
    expect(got).toBe("");
  });

  it("gives the agent its own environment, no descriptor above 2 and the exit code", async () => {
    const child = start([
      process.execPath,
      "-e",
      "console.log(JSON.stringify([process.env, require('fs').readdirSync('/proc/self/fd').map(Number).filter((fd) => { try { return fd > 2 && require('fs').readlinkSync('/proc/self/fd/' + fd).startsWith('socket:') } catch { return false } })])); process.exit(42)",
    ]);
    const output = outputOf(child);
    const stage = await runFirstStage(child, {
      mode: "listen",
      port: await freePort(),
      session,
      signal: never,
    });
    listeners.push(stage.listener);
    stage.go({ onConnection: (socket) => socket.destroy() });
    const [env, sockets] = JSON.parse(await output) as [Record<string, string>, number[]];
    expect(
      Object.keys(env).filter(
        (name) => !["PATH", "AGENT", "PWD", "OLDPWD", "SHLVL", "_"].includes(name),
      ),
    ).toEqual([]);
    expect(sockets).toEqual([]);
    expect(child.exitCode).toBe(42);
  });

  it("does not start the agent when the manager goes away instead of giving the word", async () => {
    const child = start(["/bin/sh", "-c", "exit 0"]);
    const exit = once(child, "exit");
    const stage = await runFirstStage(child, {
      mode: "listen",
      port: await freePort(),
      session,
      signal: never,
    });
    listeners.push(stage.listener);
    child.disconnect();
    expect(await exit).toEqual([125, null]);
  });

  it("throws sandbox_failed when the stage does not come up, or cannot open the port", async () => {
    const signal = never;
    const port = await freePort();
    const gone = runFirstStage(start(["/bin/true"], "/nonexistent.cjs"), {
      mode: "listen",
      port,
      session,
      signal,
    });
    await expect(gone).rejects.toMatchObject({ code: "sandbox_failed" });
    const { createServer } = await import("node:net");
    listeners.push(createServer().listen({ host: "127.0.0.1", port }));
    const busy = runFirstStage(start(["/bin/true"]), { mode: "listen", port, session, signal });
    await expect(busy).rejects.toMatchObject({ code: "sandbox_failed" });
    await expect(busy).rejects.toThrow("EADDRINUSE");
  });

  it("rejects with the signal's reason when aborted", async () => {
    const controller = new AbortController();
    const running = runFirstStage(start(["/bin/true"]), {
      mode: "listen",
      port: await freePort(),
      session,
      signal: controller.signal,
    });
    controller.abort(new Error("enough"));
    await expect(running).rejects.toThrow("enough");
  });
});

describe("runFirstStage() with a stage that lies", () => {
  it("believes the canaries", async () => {
    const text = await readFile(join(session.inside, "first-stage.cjs"), "utf8");
    const claim =
      'process.send?.({ kind: "report", ids: [], findings: { ...findings, tcp: "E", udp: "E", pathSocket: "E", abstractSocket: "E" } });';
    const lying = text.replace(
      'process.send?.({ kind: "report", findings, ids: places.map(idOf) });',
      claim,
    );
    expect(lying).not.toBe(text);
    const stage = join(base, "lying.cjs");
    await writeFile(stage, lying);
    const child = start(["/bin/true"], stage);
    const { findings, listener } = await runFirstStage(child, {
      mode: "listen",
      port: await freePort(),
      session,
      signal: never,
    });
    listeners.push(listener);
    expect(findings).toMatchObject({
      tcp: undefined,
      udp: undefined,
      pathSocket: undefined,
      abstractSocket: undefined,
    });
  });
});

describe("confirmFindings()", () => {
  const sealed: FirstStageFindings = {
    privileges: {
      uid: 1,
      hasNoCapabilities: true,
      hasNoNewPrivileges: true,
      hasSeccompFilter: true,
    },
    proxy: "reached",
    tcp: "ECONNREFUSED",
    udp: "ECONNREFUSED",
    pathSocket: "ENOENT",
    abstractSocket: "ECONNREFUSED",
  };
  const claims = (...aspects: SandboxItem["aspect"][]): SandboxReport => ({
    sandbox: "namespace",
    isAvailable: true,
    level: "full",
    reason: "",
    dns: "closed",
    items: aspects.map((aspect) => ({ aspect, enforcement: "enforced", reason: "" })),
  });

  it("passes when nothing that is claimed was reached", () => {
    expect(() =>
      confirmFindings(claims("tcp", "udp", "path_sockets", "abstract_sockets"), sealed),
    ).not.toThrow();
    expect(() =>
      confirmFindings(claims("tcp"), { ...sealed, pathSocket: undefined }),
    ).not.toThrow();
  });

  it.each([
    ["tcp", "tcp"],
    ["udp", "udp"],
    ["path_sockets", "pathSocket"],
    ["abstract_sockets", "abstractSocket"],
  ] as const)("throws sandbox_failed when %s is claimed and was reached", (aspect, canary) => {
    const run = (): void => confirmFindings(claims(aspect), { ...sealed, [canary]: undefined });
    expect(run).toThrow(expect.objectContaining({ code: "sandbox_failed" }));
  });

  it("throws sandbox_failed when the proxy was not reached", () => {
    expect(() => confirmFindings(claims(), { ...sealed, proxy: "ECONNREFUSED" })).toThrow(
      expect.objectContaining({ code: "sandbox_failed" }),
    );
  });
});

describe("confirmPrivileges()", () => {
  const lost = {
    uid: 1000,
    hasNoCapabilities: true,
    hasNoNewPrivileges: true,
    hasSeccompFilter: true,
  };
  const findings: FirstStageFindings = {
    privileges: lost,
    proxy: "reached",
    tcp: undefined,
    udp: undefined,
    pathSocket: undefined,
    abstractSocket: undefined,
  };

  it("passes when all are lost", () => {
    expect(() => confirmPrivileges("namespace", 1000, findings)).not.toThrow();
  });

  it.each([
    { uid: 0 },
    { hasNoCapabilities: false },
    { hasNoNewPrivileges: false },
    { hasSeccompFilter: false },
  ])("throws sandbox_failed for %o", (kept) => {
    const run = (): void =>
      confirmPrivileges("namespace", 1000, { ...findings, privileges: { ...lost, ...kept } });
    expect(run).toThrow(expect.objectContaining({ code: "sandbox_failed" }));
  });
});
