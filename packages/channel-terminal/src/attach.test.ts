import { type Server, type Socket, createServer } from "node:net";
import { makeResponse } from "@acp/core";
import { askDouble, manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../test/temporary-home.js";
import type { QuestionChange } from "./approver-client.js";
import { attachApprover } from "./attach.js";
import { createBoard } from "./board.js";
import { serveApprovers } from "./serve.js";
import { listenPrivately } from "./socket-path.js";

const never = new AbortController().signal;
const yes = (request: { readonly id: string; readonly nonce: string }) =>
  makeResponse(request, { decision: "approved", nowMs: Date.now(), channel: "terminal" });

async function setUp() {
  const home = await temporaryHome();
  const board = createBoard();
  const server = serveApprovers({
    board,
    channel: "terminal",
    socketPath: home.socketPath,
    endPaused: async () => ({ ended: 0, left: 0 }),
  });
  await server.ready;
  const dispose = async (): Promise<void> => {
    await server.close();
    await home[Symbol.asyncDispose]();
  };
  return { board, server, socketPath: home.socketPath, [Symbol.asyncDispose]: dispose };
}

/** A gate that says what a test tells it to. */
async function fakeGate(onClient: (socket: Socket) => void) {
  const home = await temporaryHome();
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.resume();
    onClient(socket);
  });
  await listenPrivately(server, home.socketPath);
  return {
    socketPath: home.socketPath,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      await home[Symbol.asyncDispose]();
    },
  };
}

describe("attachApprover()", () => {
  it("knows everything that is open once it resolves", async () => {
    await using kit = await setUp();
    const asks = [askDouble(), askDouble(undefined, { redelivery: true }), askDouble()];
    for (const ask of asks) kit.board.put(ask.request, ask.session);
    await using client = await attachApprover({ socketPath: kit.socketPath, signal: never });
    expect(client.pending()).toEqual(kit.board.pending());
  });

  it("hands on changes and answers", async () => {
    await using kit = await setUp();
    await using client = await attachApprover({ socketPath: kit.socketPath, signal: never });
    const changes = client.changes[Symbol.asyncIterator]();
    const ask = askDouble();
    kit.board.put(ask.request, ask.session);
    expect((await changes.next()).value).toEqual({
      type: "open",
      question: { request: ask.request, redelivery: false },
    });
    const receipts = await Promise.all([
      client.answer({ ...yes(ask.request), nonce: "n_other" }),
      client.answer(yes(ask.request)),
    ]);
    expect(receipts).toMatchObject([
      { status: "refused", code: "nonce_mismatch" },
      { status: "final", outcome: "approved" },
    ]);
    expect((await changes.next()).value).toMatchObject({
      type: "ended",
      id: ask.request.id,
      ending: { status: "approved" },
    });
    expect(client.pending()).toEqual([]);
    expect(await client.answer(yes(ask.request))).toMatchObject({
      status: "refused",
      code: "request_ended",
    });
  });

  it("lists as a viewer without being somebody to ask", async () => {
    await using kit = await setUp();
    const ask = askDouble();
    kit.board.put(ask.request, ask.session);
    await using client = await attachApprover({
      socketPath: kit.socketPath,
      signal: never,
      role: "viewer",
    });
    expect(client.pending()).toHaveLength(1);
    expect(kit.server.attached()).toBe(0);
    await expect(client.answer(yes(ask.request))).rejects.toMatchObject({
      code: "channel_failed",
      message: expect.stringContaining("viewer") as string,
    });
    expect(ask.ending()).toBeUndefined();
  });

  it("ends its changes and rejects waiting answers where the gate goes", async () => {
    await using kit = await setUp();
    const ask = askDouble();
    kit.board.put(ask.request, { ...ask.session, submit: () => new Promise(() => undefined) });
    await using client = await attachApprover({ socketPath: kit.socketPath, signal: never });
    const seen: QuestionChange[] = [];
    const reading = (async () => {
      for await (const change of client.changes) seen.push(change);
    })();
    await Promise.all([
      expect(client.answer(yes(ask.request))).rejects.toMatchObject({
        code: "channel_failed",
        message: expect.stringContaining("the gate is closing") as string,
      }),
      kit.server.close(),
    ]);
    await reading;
    expect(seen).toEqual([]);
    await expect(client.answer(yes(ask.request))).rejects.toMatchObject({
      code: "channel_unavailable",
    });
  });

  it("has sixteen answers on their way and keeps the others, so that a loss leaves no doubt about those", async () => {
    await using kit = await setUp();
    const asks = Array.from({ length: 100 }, () => askDouble());
    let taken = 0;
    const submit = () => ((taken += 1), new Promise<never>(() => undefined));
    for (const ask of asks) kit.board.put(ask.request, { ...ask.session, submit });
    await using client = await attachApprover({ socketPath: kit.socketPath, signal: never });
    const answered = Promise.allSettled(asks.map(({ request }) => client.answer(yes(request))));
    await expect.poll(() => taken).toBe(16);
    await kit.server.close();
    const codes = (await answered).map((each) =>
      each.status === "rejected" ? (each.reason as { code?: string }).code : "receipt",
    );
    expect(codes).toEqual([
      ...Array(16).fill("channel_failed"),
      ...Array(84).fill("channel_unavailable"),
    ]);
  });

  it("gets a receipt for each of five hundred answers at once", async () => {
    await using kit = await setUp();
    const asks = Array.from({ length: 500 }, () => askDouble());
    for (const ask of asks) kit.board.put(ask.request, ask.session);
    await using client = await attachApprover({ socketPath: kit.socketPath, signal: never });
    const receipts = await Promise.all(asks.map(({ request }) => client.answer(yes(request))));
    expect(
      receipts.every((receipt) => receipt.status === "final" && receipt.outcome === "approved"),
    ).toBe(true);
  });

  it("ends with its signal", async () => {
    await using kit = await setUp();
    const stop = new AbortController();
    const client = await attachApprover({ socketPath: kit.socketPath, signal: stop.signal });
    stop.abort();
    for await (const change of client.changes) expect(change).toBeUndefined();
    await expect.poll(kit.server.attached).toBe(0);
    await expect(
      attachApprover({ socketPath: kit.socketPath, signal: stop.signal }),
    ).rejects.toMatchObject({ code: "aborted" });
  });

  it("says that nobody is there", async () => {
    await using home = await temporaryHome();
    await expect(
      attachApprover({ socketPath: home.socketPath, signal: never }),
    ).rejects.toMatchObject({
      code: "channel_failed",
      message: expect.stringContaining("ENOENT") as string,
    });
  });

  it.each<[string, string]>([
    [
      "another version",
      '{"type":"hello","protocol":"acp-approve","version":2,"channel":"terminal","pid":1,"open":0}\n',
    ],
    ["what is no message", "HTTP/1.1 200 OK\r\n\r\n"],
    [
      "an unknown field",
      '{"type":"hello","protocol":"acp-approve","version":1,"channel":"terminal","pid":1,"open":0,"x":1}\n',
    ],
    ["a refusal", '{"type":"error","code":"version_unsupported","message":"Cannot talk"}\n'],
  ])("refuses a gate that says %s", async (_what, line) => {
    await using gate = await fakeGate((socket) => socket.end(line));
    await expect(
      attachApprover({ socketPath: gate.socketPath, signal: never }),
    ).rejects.toMatchObject({ code: "channel_failed" });
  });

  it("gives up a gate that says nothing", async () => {
    await using gate = await fakeGate(() => undefined);
    const clock = manualClock();
    const attaching = attachApprover({ socketPath: gate.socketPath, signal: never, clock });
    await Promise.all([
      expect(attaching).rejects.toMatchObject({
        code: "channel_failed",
        message: expect.stringContaining("no hello in time") as string,
      }),
      clock.advance(5_000),
    ]);
  });

  it("gives up a gate whose line has no end", async () => {
    await using gate = await fakeGate((socket) => socket.write("x".repeat(10 * 1024 * 1024 + 1)));
    await expect(
      attachApprover({ socketPath: gate.socketPath, signal: never }),
    ).rejects.toMatchObject({ code: "channel_failed" });
  });
});
