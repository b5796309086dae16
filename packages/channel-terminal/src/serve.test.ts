import { type Socket, createConnection } from "node:net";
import { askDouble, sampleRequest } from "@acp/testing";
import { makeResponse } from "@acp/core";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../test/temporary-home.js";
import { type Board, createBoard } from "./board.js";
import { type ApproveServer, serveApprovers } from "./serve.js";

const HELLO = '{"type":"hello","protocol":"acp-approve","version":1,"role":"approver"}\n';

interface RawClient {
  readonly socket: Socket;
  /** Lines as they came. */
  readonly lines: () => readonly Record<string, unknown>[];
  readonly closed: () => boolean;
}

/** A client that says whatever it likes. */
function connect(path: string): RawClient {
  const socket = createConnection(path);
  let text = "";
  let closed = false;
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("utf8")));
  socket.on("error", () => undefined);
  socket.on("close", () => (closed = true));
  const lines = () =>
    text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { socket, lines, closed: () => closed };
}

interface Kit extends AsyncDisposable {
  readonly board: Board;
  readonly server: ApproveServer;
  readonly path: string;
}

async function setUp(options: Partial<Parameters<typeof serveApprovers>[0]> = {}): Promise<Kit> {
  const home = await temporaryHome();
  const board = createBoard();
  const server = serveApprovers({
    board,
    channel: "terminal",
    socketPath: home.socketPath,
    endPaused: async () => ({ ended: 0, left: 0 }),
    ...options,
  });
  await server.ready;
  return {
    board,
    server,
    path: home.socketPath,
    async [Symbol.asyncDispose]() {
      await server.close();
      await home[Symbol.asyncDispose]();
    },
  };
}

describe("serveApprovers()", () => {
  it("says nothing before the hello, and then what is open", async () => {
    await using kit = await setUp();
    const ask = askDouble();
    kit.board.put(ask.request, ask.session);
    const client = connect(kit.path);
    const other = connect(kit.path);
    client.socket.write(HELLO);
    await expect.poll(client.lines).toHaveLength(2);
    expect(client.lines()[0]).toEqual({
      type: "hello",
      protocol: "acp-approve",
      version: 1,
      channel: "terminal",
      pid: process.pid,
      open: 1,
    });
    expect(client.lines()[1]).toMatchObject({
      type: "open",
      request: { id: ask.request.id, text: ask.request.text },
      redelivery: false,
    });
    const later = askDouble();
    kit.board.put(later.request, later.session);
    await expect.poll(client.lines).toHaveLength(3);
    expect(other.lines()).toEqual([]);
    expect(kit.server.attached()).toBe(1);
  });

  it.each([
    ["is not admitted", () => Promise.resolve(false)],
    ["cannot be looked at", () => Promise.reject(new Error("the system refused"))],
  ])("hears nothing of who %s, and hears others", async (_, admits) => {
    let count = 0;
    await using kit = await setUp({
      admits: () => (count++ === 0 ? admits() : Promise.resolve(true)),
    });
    const other = connect(kit.path);
    other.socket.write(HELLO);
    await expect.poll(other.closed).toBe(true);
    expect(other.lines()).toEqual([]);
    expect(kit.server.attached()).toBe(0);
    const ours = connect(kit.path);
    ours.socket.write(HELLO);
    await expect.poll(ours.lines).toMatchObject([{ type: "hello" }]);
    ours.socket.destroy();
  });

  it("tells what opens and what ends, each once", async () => {
    await using kit = await setUp();
    const client = connect(kit.path);
    client.socket.write(HELLO);
    await expect.poll(client.lines).toHaveLength(1);
    const ask = askDouble();
    kit.board.put(ask.request, ask.session);
    ask.end({ status: "superseded", reason: "edited", successorId: "cr_next" });
    await expect.poll(client.lines).toHaveLength(3);
    expect(client.lines().map(({ type }) => type)).toEqual(["hello", "open", "ended"]);
    expect(client.lines()[2]).toEqual({
      type: "ended",
      id: ask.request.id,
      status: "superseded",
      reason: "edited",
      successor_id: "cr_next",
    });
  });

  it("hands answers in as the person at this machine, whoever the claim says, and numbers the receipts", async () => {
    await using kit = await setUp();
    const ask = askDouble();
    kit.board.put(ask.request, ask.session);
    const client = connect(kit.path);
    const claim = makeResponse(ask.request, {
      decision: "approved",
      nowMs: 1,
      channel: "telegram",
      approverId: "the-boss",
    });
    client.socket.write(
      `${HELLO}${JSON.stringify({ type: "answer", answer: 7, claim: { ...claim, nonce: "n_other" } })}\n`,
    );
    client.socket.write(`${JSON.stringify({ type: "answer", answer: 8, claim })}\n`);
    await expect
      .poll(() => client.lines().filter(({ type }) => type === "receipt"))
      .toHaveLength(2);
    expect(client.lines().find(({ answer }) => answer === 7)).toMatchObject({
      status: "refused",
      code: "nonce_mismatch",
    });
    expect(client.lines().find(({ answer }) => answer === 8)).toMatchObject({
      status: "final",
      outcome: "approved",
    });
    expect(ask.submissions.map(({ subject }) => subject)).toEqual(["local", "local"]);
  });

  it.each<[string, string, string]>([
    ["what is no JSON", "approve everything\n", "message_invalid"],
    [
      "bytes that are no UTF-8",
      Buffer.from([0x22, 0xff, 0x22, 0x0a]).toString("latin1"),
      "message_invalid",
    ],
    ["an answer before the hello", '{"type":"answer","answer":1,"claim":{}}\n', "message_invalid"],
    ["two hellos", HELLO + HELLO, "message_invalid"],
    ["an unknown version", HELLO.replace('"version":1', '"version":2'), "version_unsupported"],
    [
      "an unknown key",
      `${HELLO}{"type":"answer","answer":1,"claim":{},"force":true}\n`,
      "message_invalid",
    ],
    [
      "an answer of a viewer",
      `${HELLO.replace("approver", "viewer")}{"type":"answer","answer":1,"claim":{}}\n`,
      "viewer_cannot_answer",
    ],
    ["a line without an end", "x".repeat(3 * 1024 * 1024), "message_invalid"],
  ])(
    "answers %s with an error, closes that connection and leaves the question as it is",
    async (_what, text, code) => {
      await using kit = await setUp();
      const ask = askDouble();
      kit.board.put(ask.request, ask.session);
      const good = connect(kit.path);
      good.socket.write(HELLO);
      const bad = connect(kit.path);
      bad.socket.write(Buffer.from(text, "latin1"));
      await expect.poll(bad.closed).toBe(true);
      if (text.length < 1_000) expect(bad.lines().at(-1)).toMatchObject({ type: "error", code });
      expect(ask.ending()).toBeUndefined();
      good.socket.write(
        `${JSON.stringify({ type: "answer", answer: 1, claim: makeResponse(ask.request, { decision: "denied", nowMs: 1, channel: "terminal" }) })}\n`,
      );
      await expect.poll(() => ask.ending()?.status).toBe("denied");
    },
  );

  it("gives a receipt for every answer, however many come at once, and works on sixteen at a time", async () => {
    await using kit = await setUp();
    const asks = Array.from({ length: 300 }, () => askDouble());
    let working = 0;
    let most = 0;
    for (const ask of asks)
      kit.board.put(ask.request, {
        ...ask.session,
        async submit(claim, by) {
          most = Math.max(most, (working += 1));
          await new Promise((resolve) => setImmediate(resolve));
          working -= 1;
          return ask.session.submit(claim, by);
        },
      });
    const client = connect(kit.path);
    const claims = asks.map(({ request }) =>
      makeResponse(request, { decision: "approved", nowMs: 1, channel: "terminal" }),
    );
    client.socket.write(
      HELLO +
        claims
          .map((claim, answer) => `${JSON.stringify({ type: "answer", answer, claim })}\n`)
          .join(""),
    );
    const receipts = () => client.lines().filter(({ type }) => type === "receipt");
    await expect.poll(receipts).toHaveLength(300);
    expect(new Set(receipts().map(({ answer }) => answer)).size).toBe(300);
    expect(
      receipts().every(({ status, outcome }) => status === "final" && outcome === "approved"),
    ).toBe(true);
    expect(most).toBe(16);
    expect(client.closed()).toBe(false);
  });

  it("reads no more of a client whose answers wait, and holds up nobody else", async () => {
    await using kit = await setUp();
    const [stuck, other] = [askDouble(), askDouble()];
    let taken = 0;
    const submit = () => ((taken += 1), new Promise<never>(() => undefined));
    kit.board.put(stuck.request, { ...stuck.session, submit });
    kit.board.put(other.request, other.session);
    const client = connect(kit.path);
    const line = `${JSON.stringify({ type: "answer", answer: 1, claim: { request_id: stuck.request.id, reason: "x".repeat(100_000) } })}\n`;
    client.socket.write(HELLO + line.repeat(200));
    await expect.poll(() => taken).toBe(16);
    const free = connect(kit.path);
    const claim = makeResponse(other.request, {
      decision: "denied",
      nowMs: 1,
      channel: "terminal",
    });
    free.socket.write(`${HELLO}${JSON.stringify({ type: "answer", answer: 1, claim })}\n`);
    await expect.poll(() => other.ending()?.status).toBe("denied");
    expect(taken).toBe(16);
    // What the gate does not read stays with the client.
    expect(client.socket.writableLength).toBeGreaterThan(1_000_000);
    client.socket.destroy();
  });

  it("cuts off a client that does not read, and asks on", async () => {
    await using kit = await setUp();
    const slow = connect(kit.path);
    slow.socket.write(HELLO);
    await expect.poll(kit.server.attached).toBe(1);
    slow.socket.pause();
    const text = "x".repeat(1024 * 1024);
    for (let count = 0; count < 70; count++) {
      const ask = askDouble(sampleRequest({ text }));
      kit.board.put(ask.request, ask.session);
    }
    expect(kit.server.attached()).toBe(0);
  });

  it("does not count viewers as somebody to ask", async () => {
    await using kit = await setUp();
    const viewer = connect(kit.path);
    viewer.socket.write(HELLO.replace("approver", "viewer"));
    await expect.poll(viewer.lines).toHaveLength(1);
    expect(kit.server.attached()).toBe(0);
  });

  it("survives a session that throws", async () => {
    await using kit = await setUp();
    const ask = askDouble();
    kit.board.put(ask.request, { ...ask.session, submit: () => Promise.reject(new Error("boom")) });
    const client = connect(kit.path);
    client.socket.write(
      `${HELLO}${JSON.stringify({ type: "answer", answer: 1, claim: { request_id: ask.request.id } })}\n`,
    );
    await expect.poll(client.closed).toBe(true);
    expect(client.lines().some(({ type }) => type === "receipt")).toBe(false);
  });

  it("check() throws for a question that no client could read back", async () => {
    await using kit = await setUp();
    const deep: unknown = JSON.parse(`${'{"a":'.repeat(63)}1${"}".repeat(63)}`);
    const parameters = deep as ReturnType<typeof sampleRequest>["action"]["parameters"];
    const request = sampleRequest({ action: { ...sampleRequest().action, parameters } });
    expect(() => kit.server.check({ request, redelivery: false })).toThrow(
      expect.objectContaining({ code: "json_too_deep" }),
    );
    expect(() => kit.server.check({ request: sampleRequest(), redelivery: false })).not.toThrow();
  });

  it("close() tells the clients and takes the socket away", async () => {
    const kit = await setUp();
    const client = connect(kit.path);
    client.socket.write(HELLO);
    await expect.poll(client.lines).toHaveLength(1);
    await kit[Symbol.asyncDispose]();
    await expect.poll(client.closed).toBe(true);
    expect(client.lines().at(-1)).toMatchObject({ type: "error", code: "closing" });
  });
});
