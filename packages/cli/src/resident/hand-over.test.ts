import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createLobby, finishRequests, partAll } from "./hand-over.js";
import { attendControl } from "./control.js";
import type { ControlParts } from "./control.js";
import { createFrameReader, frameOf, greetingFrame, recordIn } from "./wire.js";
import type { Frame, Kind } from "./wire.js";

const greeting = (): Buffer => greetingFrame({ version: "1.0.0", build: "a", isCurrent: true });

/** A connection to whoever attends. */
async function connected(attend: (socket: Socket) => void): Promise<{
  readonly socket: Socket;
  readonly frames: readonly Frame[];
  readonly closed: Promise<unknown>;
}> {
  const folder = await mkdtemp(join(tmpdir(), "acp-"));
  const server = createServer(attend);
  server.listen(join(folder, "s"));
  await once(server, "listening");
  const socket = connect(join(folder, "s"));
  onTestFinished(async () => {
    socket.destroy();
    server.close();
    await rm(folder, { recursive: true });
  });
  const frames: Frame[] = [];
  const reader = createFrameReader(
    (frame) => void frames.push(frame),
    () => undefined,
  );
  socket.on("data", (chunk: Buffer) => reader.push(chunk));
  const closed = new Promise((resolve) => socket.on("close", resolve));
  return { socket, frames, closed };
}

const kinds = (frames: readonly Frame[]): readonly Kind[] => frames.map(({ kind }) => kind);

it("finishRequests() waits for what is under way after every client holds back", async () => {
  let [isHeld, looks] = [false, 0];
  const session = {
    hold: () => Promise.resolve().then(() => void (isHeld = true)),
    underWay() {
      expect(isHeld).toBe(true);
      return ++looks < 4;
    },
  };
  await finishRequests(new Set([session]));
  // Quiet is what lasts: it is looked at twice.
  expect(looks).toBe(5);
});

it("finishRequests() gives up on a client that does not hold back, and on what does not end", async () => {
  const never = { hold: () => new Promise<void>(() => undefined), underWay: () => true };
  await finishRequests(new Set([never]), 1);
  await finishRequests(new Set([{ ...never, hold: () => Promise.resolve() }]), 30);
});

it("createLobby() greets who comes, opens no session, and sends everybody on", async () => {
  const lobby = createLobby(greeting);
  const { socket, frames, closed } = await connected((each) => lobby.enter(each));
  socket.write(frameOf("hello", "{}"));
  await expect.poll(() => kinds(frames)).toEqual(["greeting"]);
  await partAll(new Set(), lobby);
  await closed;
  expect(kinds(frames)).toEqual(["greeting", "again"]);
});

it("createLobby() takes a hello and nothing else", async () => {
  const lobby = createLobby(greeting);
  const { socket, frames, closed } = await connected((each) => lobby.enter(each));
  socket.write(frameOf("input", "x"));
  await closed;
  expect(kinds(frames)).toEqual(["greeting"]);
});

it("partAll() tells every session, and waits for none that does not read", async () => {
  let told = 0;
  const part = (): Promise<void> => Promise.resolve().then(() => void told++);
  await partAll(
    new Set([{ part }, { part: () => (told++, Promise.resolve()) }]),
    createLobby(greeting),
  );
  expect(told).toBe(2);
});

it.each([
  ["hands over to whom it gives way to", { ask: "handover", version: "2.0.0", build: "b" }, true],
  ["refuses another", { ask: "handover", version: "0.0.1", build: "b" }, false],
  ["understands nothing without a version", { ask: "handover", build: "b" }, undefined],
] as const)("the control socket %s", async (_, ask, want) => {
  const asked: unknown[] = [];
  const no = (): never => {
    throw new Error("nobody asked for that");
  };
  const parts: ControlParts = {
    greeting,
    peers: { admits: () => Promise.resolve(true) },
    status: no,
    stop: no,
    unlock: no,
    lock: no,
    restartServers: no,
    giveWay(to) {
      asked.push(to);
      return to !== "whoever follows" && to.version === "2.0.0";
    },
  };
  const { socket, frames, closed } = await connected((each) => attendControl(each, parts));
  socket.write(frameOf("ask", JSON.stringify(ask)));
  await closed;
  const told = frames[1] === undefined ? undefined : recordIn(frames[1].body)?.["handing_over"];
  expect(told).toBe(want);
  expect(asked).toHaveLength(want === undefined ? 0 : 1);
});
