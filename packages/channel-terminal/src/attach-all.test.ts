import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ConsentError, makeResponse } from "@acp/core";
import { askDouble, manualClock } from "@acp/testing";
import { createServer } from "node:net";
import type { Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryHome } from "../test/temporary-home.js";
import { attachApprovers } from "./attach-all.js";
import { type Board, createBoard } from "./board.js";
import { type ApproveServer, serveApprovers } from "./serve.js";
import { listenPrivately } from "./socket-path.js";
import { writeGateMessage } from "./wire.js";

const never = new AbortController().signal;

async function startGate(
  directory: string,
  name: string,
): Promise<{ readonly board: Board; readonly server: ApproveServer }> {
  const board = createBoard();
  const server = serveApprovers({
    board,
    channel: "terminal",
    socketPath: join(directory, `${name}.sock`),
    endPaused: async () => ({ ended: 0, left: 0 }),
  });
  await server.ready;
  return { board, server };
}

describe("attachApprovers()", () => {
  it("joins the gates that are there and those that come, and routes answers to theirs", async () => {
    await using home = await temporaryHome();
    const clock = manualClock();
    const one = await startGate(home.run, "1");
    await using clients = await attachApprovers({ directory: home.run, signal: never, clock });
    expect(clients.gates()).toBe(1);
    const two = await startGate(home.run, "2");
    await expect.poll(async () => (await clock.advance(5_000), clients.gates())).toBe(2);
    const [first, second] = [askDouble(), askDouble()];
    one.board.put(first.request, first.session);
    two.board.put(second.request, second.session);
    await expect.poll(() => clients.pending().length).toBe(2);
    const claim = makeResponse(second.request, {
      decision: "denied",
      nowMs: 1,
      channel: "terminal",
    });
    expect(await clients.answer(claim)).toEqual({ status: "final", outcome: "denied" });
    expect(first.submissions).toEqual([]);
    await expect.poll(() => clients.pending().length).toBe(1);
    expect(await clients.answer(claim)).toMatchObject({
      status: "refused",
      code: "request_unknown",
    });
    await one.server.close();
    await two.server.close();
  });

  it("tells that a gate is lost, and never what became of its questions", async () => {
    await using home = await temporaryHome();
    const gate = await startGate(home.run, "1");
    const ask = askDouble();
    gate.board.put(ask.request, ask.session);
    await using clients = await attachApprovers({ directory: home.run, signal: never });
    const changes = clients.changes[Symbol.asyncIterator]();
    expect(clients.pending()).toHaveLength(1);
    await gate.server.close();
    expect((await changes.next()).value).toEqual({ type: "lost", id: ask.request.id });
    expect(clients.pending()).toEqual([]);
  });

  it("waits where there is no directory yet", async () => {
    await using home = await temporaryHome();
    const clock = manualClock();
    await using clients = await attachApprovers({ directory: home.run, signal: never, clock });
    expect(clients.gates()).toBe(0);
    const gate = await startGate(home.run, "1");
    await expect.poll(async () => (await clock.advance(1_000), clients.gates())).toBe(1);
    await gate.server.close();
  });

  it.each(["is there", "is not there yet"])(
    "joins a gate that comes without waiting for its next look, where the directory %s",
    async (which) => {
      await using home = await temporaryHome();
      if (which === "is there") await mkdir(home.run, { mode: 0o700 });
      // Its time stands still: only what the directory tells counts.
      const clock = manualClock();
      await using clients = await attachApprovers({ directory: home.run, signal: never, clock });
      for (const name of ["1", "2"]) {
        const gate = await startGate(home.run, name);
        await expect.poll(clients.gates).toBe(1);
        await gate.server.close();
        await expect.poll(clients.gates).toBe(0);
      }
    },
  );

  it("joins gates of a directory that was made again", async () => {
    await using home = await temporaryHome();
    const clock = manualClock();
    await mkdir(home.run, { mode: 0o700 });
    await using clients = await attachApprovers({ directory: home.run, signal: never, clock });
    await rm(home.run, { recursive: true });
    await clock.advance(5_000);
    const one = await startGate(home.run, "1");
    await expect.poll(clients.gates).toBe(1);
    await one.server.close();
  });

  it("joins a gate again that cut it off", async () => {
    await using home = await temporaryHome();
    const clock = manualClock();
    const sockets: Socket[] = [];
    const hello = { type: "hello", channel: "terminal", pid: 1, open: 0 } as const;
    const server = createServer((socket) => {
      sockets.push(socket.on("error", () => undefined).resume());
      socket.write(writeGateMessage(hello));
    });
    await listenPrivately(server, join(home.run, "1.sock"));
    const stop = new AbortController();
    const clients = await attachApprovers({ directory: home.run, signal: stop.signal, clock });
    await expect.poll(clients.gates).toBe(1);
    sockets[0]?.destroy();
    // Nobody can see when the loss is noticed. All of it stays below the look of every 5 s.
    let leftMs = 4_000;
    const advance = async (): Promise<number> => {
      if (leftMs > 0) await clock.advance(50);
      leftMs -= 50;
      return sockets.length;
    };
    await expect.poll(advance).toBe(2);
    await expect.poll(clients.gates).toBe(1);
    stop.abort();
    await clients.close();
    await new Promise((resolve) => server.close(resolve));
  });

  it("warns once about a socket that does not talk to it, and goes on", async () => {
    await using home = await temporaryHome();
    const clock = manualClock();
    const odd = createServer((socket) => socket.resume().end("HTTP/1.1 200 OK\r\n"));
    await listenPrivately(odd, join(home.run, "odd.sock"));
    const gate = await startGate(home.run, "1");
    const warnings: ConsentError[] = [];
    await using clients = await attachApprovers({
      directory: home.run,
      signal: never,
      clock,
      warn: (error) => warnings.push(error),
    });
    await clock.advance(5_000);
    expect(clients.gates()).toBe(1);
    expect(warnings).toHaveLength(1);
    await gate.server.close();
    await new Promise((resolve) => odd.close(resolve));
  });

  it("tries the sockets of many dead gates at once, and nothing warns of a leak", async () => {
    await using home = await temporaryHome();
    const emitted: string[] = [];
    const note = ({ name }: Error): void => void emitted.push(name);
    process.on("warning", note);
    onTestFinished(() => void process.off("warning", note));
    const gate = await startGate(home.run, "live");
    for (let n = 0; n < 12; n++) await writeFile(join(home.run, `${n}.sock`), "");
    const clock = manualClock();
    await using clients = await attachApprovers({ directory: home.run, signal: never, clock });
    for (let n = 0; n < 3; n++) await clock.advance(5_000);
    expect(clients.gates()).toBe(1);
    // A warning is told in a turn of its own.
    await new Promise((resolve) => setImmediate(resolve));
    expect(emitted).not.toContain("MaxListenersExceededWarning");
    await gate.server.close();
  });

  it("ends with its signal", async () => {
    await using home = await temporaryHome();
    const gate = await startGate(home.run, "1");
    const stop = new AbortController();
    const clients = await attachApprovers({ directory: home.run, signal: stop.signal });
    stop.abort();
    for await (const change of clients.changes) expect(change.type).toBe("lost");
    await expect.poll(gate.server.attached).toBe(0);
    await gate.server.close();
  });
});
