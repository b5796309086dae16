/**
 * A gate of its own whose index is being made: the client is served at once, what a rule denies is
 * denied, everything else is answered with `index_rebuilding`, and once the index is whole the same
 * client goes on with the gate.
 */
import { readFile, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { ConsentError } from "@acp/core";
import { expect, it, onTestFinished, vi } from "vitest";
import { serveMcpAlone, serveProxyAlone } from "../src/alone/serve-alone.js";
import type { Invocation } from "../src/command.js";
import type { IndexRebuild } from "../src/logs/index-rebuild.js";
import { createPrinter } from "../src/printer.js";
import { acpHere } from "./acp-here.js";
import { scratch } from "./harness.js";

const SERVER = `
process.stdin.setEncoding("utf8").on("data", (chunk) => {
  for (const line of chunk.split("\\n").filter(Boolean)) {
    const { id, method, params } = JSON.parse(line);
    const tools = ["act", "drop"].map((name) => ({ name, inputSchema: { type: "object" } }));
    const result = method === "initialize"
      ? { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } }
      : method === "tools/list" ? { tools } : { content: [{ type: "text", text: "did " + params?.name }] };
    if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
  }
});`;
const POLICY = `
version: "1"
default: ask
rules:
  - { id: acts, match: { tool: act }, action: allow }
  - { id: drops, match: { tool: drop }, action: deny }
  - { id: host, match: { kind: http, host: denied.example }, action: deny }
`;

/** An index that is whole when the test says so. */
function heldRebuild(): IndexRebuild & { readonly finish: () => void } {
  let finish = (): void => undefined;
  let isWhole = false;
  const whole = new Promise<void>((resolve) => {
    finish = () => {
      isWhole = true;
      resolve();
    };
  });
  return {
    finish: () => finish(),
    whole,
    percent: () => (isWhole ? undefined : 40),
    check: () =>
      isWhole
        ? Promise.resolve()
        : Promise.reject(new ConsentError("index_rebuilding", "40 % are done")),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

const NO_TERMINAL = { isTTY: false };

async function world(values: Invocation["values"] = {}) {
  const at = await scratch();
  onTestFinished(() => at[Symbol.asyncDispose]());
  const home = join(at.path, "h");
  expect(await acpHere(["init", "--home", home])).toMatchObject({ code: 0 });
  await writeFile(join(home, "policy.yml"), POLICY, { mode: 0o600 });
  await writeFile(join(at.path, "server.mjs"), SERVER);
  const stop = new AbortController();
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  let [said, noticed] = ["", ""];
  stdout.on("data", (chunk) => (said += String(chunk)));
  stderr.on("data", (chunk) => (noticed += String(chunk)));
  const io: Invocation["io"] = {
    stdin: Object.assign(stdin, NO_TERMINAL),
    stdout: Object.assign(stdout, NO_TERMINAL),
    stderr: Object.assign(stderr, NO_TERMINAL),
    env: { PATH: process.env["PATH"], HOME: at.path },
    cwd: at.path,
    userHome: at.path,
    pid: process.pid,
    ppid: process.ppid,
    onStop: () => stop.signal,
    onSignals: () => undefined,
  };
  const invocation: Invocation = {
    values: { home, ...values },
    flags: new Set(["alone"]),
    operands: [],
    rest: [process.execPath, join(at.path, "server.mjs")],
    io,
    print: createPrinter({ stdout, stderr, env: {}, json: false }),
  };
  const answers = (): readonly { readonly id?: number; readonly method?: string }[] =>
    said
      .trimEnd()
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  return {
    home,
    invocation,
    stop,
    noticed: () => noticed,
    answers,
    send: (message: object) =>
      void stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`),
    end: () => stdin.end(),
    answer: (id: number) =>
      vi.waitFor(
        () => {
          const found = answers().find((each) => each.id === id);
          if (found === undefined) throw new Error(`no answer to ${id}: ${said}`);
          return found;
        },
        { timeout: 60_000, interval: 10 },
      ),
  };
}

const call = (id: number, name: string): object => ({
  id,
  method: "tools/call",
  params: { name, arguments: {} },
});
const INITIALIZE = {
  id: 0,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "t", version: "1" },
  },
};
const REBUILDING = { error: { data: { code: "index_rebuilding", retryable: true } } };

it("serveMcpAlone() serves while the index is made, and goes on with the gate when it is whole", async () => {
  const at = await world();
  const rebuild = heldRebuild();
  const served = serveMcpAlone(at.invocation, rebuild);
  at.send(INITIALIZE);
  expect(JSON.stringify(await at.answer(0))).toContain("is being rebuilt");
  at.send({ method: "notifications/initialized" });
  at.send(call(1, "act"));
  expect(await at.answer(1)).toMatchObject(REBUILDING);
  at.send(call(2, "drop"));
  expect(JSON.stringify(await at.answer(2))).toContain("policy_denied");
  rebuild.finish();
  // At once: part of it may come to the session that ends.
  for (const id of [3, 4, 5, 6]) at.send(call(id, id === 6 ? "drop" : "act"));
  const later = await Promise.all([3, 4, 5, 6].map(at.answer));
  for (const each of later) expect(JSON.stringify(each)).toMatch(/did act|index_rebuilding|denied/);
  await vi.waitFor(
    () => expect(at.answers().some(({ method }) => method?.endsWith("list_changed"))).toBe(true),
    { timeout: 60_000 },
  );
  at.send(call(7, "act"));
  expect(JSON.stringify(await at.answer(7))).toContain("did act");
  at.end();
  expect(await served).toBe("ok");
  const ids = at.answers().flatMap(({ id }) => id ?? []);
  expect(ids.toSorted((one, other) => one - other)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect(at.noticed()).toContain("calls are judged from now on");
  const log = await readFile(join(at.home, "audit.jsonl"), "utf8");
  expect(log).toMatch(/denied_while_rebuilding.*calls were denied from .*mcp-client\\" [2-6]/);
});

it.each([
  ["whose client goes", (at: Awaited<ReturnType<typeof world>>) => at.end()],
  ["that is told to end", (at: Awaited<ReturnType<typeof world>>) => at.stop.abort()],
])(
  "serveMcpAlone() ends for a process %s while the index is made, without a gate",
  async (_, end) => {
    const at = await world();
    const served = serveMcpAlone(at.invocation, heldRebuild());
    at.send(INITIALIZE);
    await at.answer(0);
    end(at);
    expect(await served).toBe("ok");
    expect(await readFile(join(at.home, "audit.jsonl"), "utf8")).not.toContain("log_opened");
  },
);

it("serveMcpAlone() is the gate alone where no index is missing", async () => {
  const at = await world();
  const served = serveMcpAlone(at.invocation);
  at.send(INITIALIZE);
  expect(JSON.stringify(await at.answer(0))).not.toContain("is being rebuilt");
  at.end();
  expect(await served).toBe("ok");
});

/** What a program hears that asks for a host through the proxy. */
function request(port: number, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () =>
      socket.write(`GET http://${host}/ HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
    );
    let got = "";
    socket.on("data", (chunk) => (got += String(chunk)));
    socket.on("end", () => resolve(got));
    socket.on("error", reject);
  });
}

it("serveProxyAlone() keeps its port from before the index is whole", async () => {
  const at = await world({ port: "0" });
  const rebuild = heldRebuild();
  const served = serveProxyAlone(at.invocation, rebuild);
  const port = await vi.waitFor(
    () => {
      const found = /127\.0\.0\.1:(\d+)/.exec(at.noticed())?.[1];
      if (found === undefined) throw new Error("it does not listen");
      return Number(found);
    },
    { timeout: 60_000 },
  );
  expect(await request(port, "open.example")).toContain("index_rebuilding");
  expect(await request(port, "denied.example")).toContain("policy_denied");
  rebuild.finish();
  await vi.waitFor(
    async () => expect(await request(port, "open.example")).not.toContain("index_rebuilding"),
    { timeout: 60_000, interval: 20 },
  );
  expect(await request(port, "denied.example")).toContain("policy_denied");
  at.stop.abort();
  expect(await served).toBe("ok");
});
