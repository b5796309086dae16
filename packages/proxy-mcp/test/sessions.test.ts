/**
 * MCP sessions over real sockets, as a sandbox hands them over: paused, and whoever ended its side
 * still reads.
 */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { memoryAuditSink } from "@acp/audit";
import { createConsentGate, type Facts, type Layer } from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import { manualClock, type ManualClock } from "@acp/testing";
import { afterEach, describe, expect, it } from "vitest";
import {
  createMcpSessions,
  type RemoteAuthorization,
  type McpSessions,
  type McpSessionsOptions,
  type SessionCaller,
} from "../src/index.js";
import { type LineClient, lineClient } from "./support/line-client.js";
import { echoServer, json, webServer } from "./support/web-server.js";
import { ALLOW_ALL, type HeldChannel, heldChannel, scripted } from "./support/proxied.js";

const AGENT: SessionCaller = { agent: { id: "sandboxed" } };
/** Says its process id, then waits. */
const ANNOUNCING = [
  process.execPath,
  "-e",
  'process.stderr.write(process.pid + "\\n"); process.stdin.resume()',
];

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

interface Served {
  readonly sessions: McpSessions;
  readonly channel: HeldChannel;
  readonly clock: ManualClock;
  readonly audit: ReturnType<typeof memoryAuditSink>;
  readonly logs: readonly string[];
  /** What each judgement knew. */
  readonly facts: readonly Facts[];
  /** Opens a connection and hands its other end over. */
  open(
    caller?: SessionCaller,
  ): Promise<{ readonly client: LineClient; readonly socket: Socket; readonly accepted: Socket }>;
}

async function served(
  more: Partial<McpSessionsOptions> = {},
  policy: object = ALLOW_ALL,
): Promise<Served> {
  const clock = manualClock();
  const channel = heldChannel(() => clock.now());
  const audit = memoryAuditSink();
  const logs: string[] = [];
  const facts: Facts[] = [];
  const watching: Layer = { name: "watching", judge: (_, given) => void facts.push(given) };
  const gate = createConsentGate({
    policy: parsePolicy(policy),
    layers: [watching],
    channel,
    audit,
    clock,
  });
  const upstreams = [{ name: "fs", command: scripted() }];
  const sessions = createMcpSessions({
    gate,
    upstreams,
    log: (line) => logs.push(line),
    clock,
    ...more,
  });
  closers.push(() => sessions.close());
  const waiting: ((socket: Socket) => void)[] = [];
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) =>
    waiting.shift()?.(socket),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => server.close());
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("unreachable");
  const open: Served["open"] = async (caller = AGENT) => {
    const arrived = new Promise<Socket>((resolve) => waiting.push(resolve));
    const socket = connect({ port: address.port, host: "127.0.0.1", allowHalfOpen: true });
    socket.on("error", () => {});
    closers.push(() => socket.destroy());
    const accepted = await arrived;
    sessions.serve(accepted, caller);
    return { client: lineClient(socket, socket), socket, accepted };
  };
  return { sessions, channel, clock, audit, logs, facts, open };
}

/** Polls; the time-out of the test is the bound. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 2));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe("serve()", () => {
  it("speaks MCP on a paused socket, judges calls as the caller's, and has servers of its own for each connection", async () => {
    const { open, facts } = await served();
    const first = await open();
    const second = await open({ agent: { id: "other" }, session: "s-2" });
    await first.client.handshake();
    await second.client.handshake();
    expect((await first.client.call(1, "echo", { text: "hello" })).result).toMatchObject({
      content: [{ type: "text" }],
    });
    expect((await second.client.call(1, "echo", { text: "bonjour" })).result).toMatchObject({
      content: [{ type: "text" }],
    });
    const received = JSON.stringify((await first.client.call(2, "received", {})).result);
    expect([received.includes("hello"), received.includes("bonjour")]).toEqual([true, false]);
    const who = facts.map(({ agent, session = "no session" }) => `${agent.id}: ${session}`);
    expect(new Set(who)).toEqual(new Set(["sandboxed: no session", "other: s-2"]));
  });

  it("takes the places of each caller's requests in its own room", async () => {
    const { open } = await served();
    const rooms = ["full", "free"].map((name) => ({
      enter: () => (name === "full" ? { full: "it has none" } : { leave: () => {} }),
      isShared: () => false,
    }));
    const [full, free] = await Promise.all(
      rooms.map((room, at) => open({ agent: { id: `agent ${at}` }, room })),
    );
    await free?.client.handshake();
    const { result } = (await free?.client.call(1, "echo", { text: "hello" })) ?? {};
    expect(JSON.stringify(result)).toContain("hello");
    full?.client.send({ id: 1, method: "tools/call", params: { name: "echo", arguments: {} } });
    await until(() => full?.client.lines.some((line) => line.includes("it has none")) === true);
  });

  it("tells people as whom a server refuses a call for its rights", async () => {
    await using server = await webServer(
      echoServer(({ message }, response) => {
        if (message.method !== "tools/call") return false;
        json(response, 403, {}, { "www-authenticate": 'Bearer error="insufficient_scope"' });
        return true;
      }),
    );
    const asked: string[] = [];
    const authorization = (id: string): RemoteAuthorization => ({
      header: () => Promise.resolve("Bearer a"),
      refused() {
        asked.push(id);
        return Promise.resolve({ code: "authorization_scope", message: "it lacks rights" });
      },
      masker: () => undefined,
      as: ({ agent }) => authorization(agent.id),
    });
    const { open } = await served({
      upstreams: [{ name: "web", url: server.url, authorization: authorization("who started it") }],
    });
    for (const id of ["ada", "bob"]) {
      const { client } = await open({ agent: { id } });
      await client.handshake();
      expect((await client.call(1, "echo", {})).error?.message).toBe("it lacks rights");
    }
    expect(asked).toEqual(["ada", "bob"]);
  });

  it("answers what was asked before the client ended its side, then ends", async () => {
    const { open } = await served();
    const { client, accepted } = await open();
    await client.handshake();
    client.send({
      id: 1,
      method: "tools/call",
      params: { name: "echo", arguments: { text: "last" } },
    });
    client.end();
    await client.ended;
    expect(client.lines.some((line) => line.includes("last"))).toBe(true);
    await until(() => accepted.destroyed);
  });

  it("ends the open question when the connection is reset and no retry comes", async () => {
    const { open, channel, clock, audit } = await served({}, { version: "1", default: "ask" });
    const { client, socket } = await open();
    await client.handshake();
    client.send({ id: 1, method: "tools/call", params: { name: "echo", arguments: {} } });
    const { session } = await channel.question(0);
    socket.resetAndDestroy();
    await until(() => audit.events().some(({ eventType }) => eventType === "consent_deferred"));
    await clock.advance(60_000);
    expect(await session.ended).toMatchObject({ status: "cancelled" });
  });

  it("ends the servers with the connection", async () => {
    const { open, logs } = await served({ upstreams: [{ name: "fs", command: ANNOUNCING }] });
    const { socket } = await open();
    await until(() => logs.length > 0);
    const pid = Number(logs[0]?.replace("[fs] ", ""));
    expect(isRunning(pid)).toBe(true);
    socket.destroy();
    await until(() => !isRunning(pid));
  });

  it("ends the connection when the servers are gone, also where the client goes on", async () => {
    const { open, clock, facts } = await served({
      upstreams: [{ name: "fs", command: scripted({ exitAtStart: 2 }) }],
    });
    const { client, accepted } = await open();
    await client.request(1, "initialize", {});
    await client.ended;
    const [judged, bytes] = [facts.length, accepted.bytesRead];
    client.send({ id: 2, method: "tools/call", params: { name: "echo", arguments: {} } });
    await until(() => accepted.bytesRead > bytes);
    expect(accepted.destroyed).toBe(false);
    await clock.advance(5_000);
    await until(() => accepted.destroyed);
    expect(client.lines.at(-1)).toContain("server_unavailable");
    expect(facts).toHaveLength(judged);
  });

  it("has the caller's own gate where it has one", async () => {
    const policy = parsePolicy({ version: "1", default: "deny" });
    const gate = createConsentGate({
      policy,
      channel: heldChannel(() => 0),
      audit: memoryAuditSink(),
    });
    const { client } = await (await served()).open({ ...AGENT, gate });
    await client.handshake();
    expect((await client.call(1, "echo", {})).result).toMatchObject({ isError: true });
  });
});

describe("sessionsMax", () => {
  const FULL = "Cannot open a session: the agent has 2 sessions already";

  it("bounds the sessions of an agent and all its parts, says so in the first answer, and leaves others alone", async () => {
    const { open, logs } = await served({ sessionsMax: 2 });
    const first = await open();
    await first.client.handshake();
    await (
      await open({ agent: { id: "sandboxed/part", parents: ["sandboxed"] } })
    ).client.handshake();
    for (const id of ["sandboxed", "sandboxed/part-2"]) {
      const caller = { agent: { id, ...(id === "sandboxed" ? {} : { parents: ["sandboxed"] }) } };
      const { client, accepted } = await open(caller);
      expect((await client.handshake()).error).toEqual({
        code: -32603,
        message: FULL,
        data: { code: "session_refused" },
      });
      await client.ended;
      client.end();
      await until(() => accepted.destroyed);
    }
    expect(logs).toContain(
      'refused an MCP session of "sandboxed": the agent has 2 sessions already',
    );
    expect(
      (await (await open({ agent: { id: "other" } })).client.handshake()).result,
    ).toBeDefined();
    first.client.end();
    await first.client.ended;
    await until(() => first.accepted.destroyed);
    expect((await (await open()).client.handshake()).result).toBeDefined();
  });

  it("does not wait for a client that it turned away", async () => {
    const { open, clock } = await served({ sessionsMax: 0 });
    const { accepted } = await open();
    await clock.advance(5_000);
    await until(() => accepted.destroyed);
  });

  it.each([
    ["ended without a word", ""],
    ["sent no message", "\n\n"],
    ["sent half a line", '{"id":'],
  ])("answers one that %s, and ends", async (_, text) => {
    const { open } = await served({ sessionsMax: 0 });
    const { client, accepted } = await open();
    client.raw(text);
    client.end();
    await client.ended;
    expect(client.lines).toHaveLength(1);
    await until(() => accepted.destroyed);
  });
});

describe("createMcpSessions()", () => {
  it("refuses servers that no session could start", () => {
    const gate = createConsentGate({
      policy: parsePolicy(ALLOW_ALL),
      channel: heldChannel(() => 0),
      audit: memoryAuditSink(),
    });
    expect(() => createMcpSessions({ gate, upstreams: [], log: () => {} })).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
  });

  it.each(["close()", "the signal"])("ends all sessions at %s, and takes no more", async (how) => {
    const stop = new AbortController();
    const { open, sessions } = await served({ signal: stop.signal });
    const { client } = await open();
    await client.handshake();
    if (how === "close()") await sessions.close();
    else stop.abort();
    await client.ended;
    expect((await (await open()).client.handshake()).error?.message).toBe(
      "Cannot open a session: the proxy is closing",
    );
  });
});
