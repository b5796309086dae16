import { chmod, mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { type Socket, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { createDoorRelay } from "./door-relay.js";
import { DOOR_LIMITS, createDoors } from "./doors.js";
import type { DoorLimits, SessionDoors } from "./doors.js";
import type { LinkHandlers } from "./link.js";
import { placesOf } from "./places.js";
import { reachResident } from "./reach.js";
import { createFrameReader, frameOf, greetingFrame, readDoors } from "./wire.js";

const uid = process.getuid?.() ?? -1;
const OK = "HTTP/1.1 200 OK\r\n\r\n";
const RELEASE = { version: "1.0.0", build: "b", isCurrent: true };

/** A session as its resident has it. */
interface Opened {
  readonly handlers: LinkHandlers;
  readonly doors: SessionDoors;
  /** What the client says, besides `opened`. */
  readonly said: string[];
  end(how: Parameters<LinkHandlers["onEnd"]>[0]): void;
}

interface WorldOptions {
  readonly limits?: DoorLimits;
  /** Why there is no session, for the first, the second, … try. */
  readonly problems?: readonly (string | undefined)[];
}

/** A client that accepts connections, and the agents' socket of a resident. */
async function world({ limits = DOOR_LIMITS, problems = [] }: WorldOptions = {}) {
  const home = await realpath(await mkdtemp(join(tmpdir(), "acp-")));
  await mkdir(join(home, "run"), { mode: 0o700 });
  const places = placesOf(home, { env: {}, uid });
  const all = createDoors(limits);
  const connections = new Set<Socket>();
  const server = createServer((socket) => {
    connections.add(socket.on("error", () => undefined));
    const push = (chunk: Buffer): void => reader.push(chunk);
    const reader = createFrameReader(
      ({ body }) => {
        socket.pause().off("data", push);
        reader.stop();
        const refused = all.join(socket, body);
        if (refused !== undefined) socket.end(frameOf("refused", JSON.stringify(refused)));
      },
      () => socket.destroy(),
    );
    socket.on("data", push).write(greetingFrame(RELEASE));
  });
  await new Promise<void>((resolve) => server.listen(places.agents, resolve));
  await chmod(places.agents, 0o600);
  const sessions: Opened[] = [];
  const exits: number[] = [];
  const told: string[] = [];
  const printed: string[] = [];
  const reached = { isThere: true };
  let tries = 0;
  let nowMs = 0;
  const relay = createDoorRelay({
    nowMs: () => nowMs,
    output: (bytes) => void printed.push(String(bytes)),
    notice: (bytes) => void told.push(String(bytes)),
    say: (line) => void told.push(line),
    exit: (code) => void exits.push(code),
    reach: () =>
      reached.isThere
        ? reachResident(home, places, { uid, greetingMsMax: 60_000 })
        : Promise.resolve("none"),
    open(handlers) {
      const problem = problems[tries++];
      if (problem !== undefined) return Promise.resolve(problem);
      const said: string[] = [];
      const ends: (() => void)[] = [];
      const client = {
        destroyed: false,
        once: (_: string, listener: () => void) => void ends.push(listener),
        write(frame: Buffer): void {
          const wanted = readDoors(frame.subarray(5));
          if (wanted !== undefined) handlers.onDoors?.(wanted);
        },
      };
      const doors = all.of(client as never, "client");
      sessions.push({
        handlers,
        doors,
        said,
        end(how) {
          doors.close();
          client.destroyed = true;
          for (const each of ends) each();
          handlers.onEnd(how);
        },
      });
      const nothing = (): void => undefined;
      return Promise.resolve({
        room: () => 0,
        send: nothing,
        call: nothing,
        ask: nothing,
        end: nothing,
        pause: nothing,
        resume: nothing,
        held: () => void said.push("held"),
        signal: (name: string) => void said.push(name),
        opened: (how: object) => void doors.opened(Buffer.from(JSON.stringify(how))),
      });
    },
  });
  onTestFinished(async () => {
    relay.signal("SIGTERM");
    for (const socket of connections) socket.destroy();
    server.close();
    await rm(home, { recursive: true, force: true });
  });
  const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));
  return {
    all,
    relay,
    sessions,
    exits,
    told,
    printed,
    connections,
    reached,
    turn,
    pass: (ms: number) => (nowMs += ms),
    /** Waits until something is so. */
    async until(isSo: () => boolean): Promise<void> {
      while (!isSo()) await turn();
    },
  };
}

type World = Awaited<ReturnType<typeof world>>;

/** The last session's door, which answers what came with the same in capitals. */
async function openEcho({ sessions, until }: World, count = 1): Promise<number> {
  await until(() => sessions.length === count);
  const [port] =
    (await sessions.at(-1)?.doors.open([
      {
        name: "http",
        port: 0,
        take(socket) {
          socket.allowHalfOpen = true;
          let said = "";
          socket.on("data", (chunk) => (said += String(chunk)));
          socket.on("end", () => void socket.end(said.toUpperCase())).resume();
        },
      },
    ])) ?? [];
  if (port === undefined) throw new Error("no port");
  return port;
}

/** Says something at a port, ends its own way, and hears the rest. */
async function say(port: number, what: string): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.end(what);
  return text(socket);
}

const errorIn = (answer: string): { readonly code: string; readonly retryable: boolean } =>
  JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4)).error;

describe("createDoorRelay()", () => {
  it("passes each connection on, each way to its own end, however much it is", async () => {
    const at = await world();
    const port = await openEcho(at);
    const many = "abc".repeat(500_000);
    const words = [many, ...Array.from({ length: 40 }, (_, n) => `word ${n}`)];
    const heard = await Promise.all(words.map((each) => say(port, each)));
    expect(heard.map((each) => each.length)).toEqual(words.map((each) => each.length));
    expect(heard.slice(1)).toEqual(words.slice(1).map((each) => each.toUpperCase()));
  });

  it("keeps its port over sessions, and prints once", async () => {
    const at = await world();
    const port = await openEcho(at);
    at.sessions[0]?.handlers.onOutput(Buffer.from("listening\n"));
    at.sessions[0]?.end("lost");
    // This one waits for the session that follows.
    const early = say(port, "early");
    expect(await openEcho(at, 2)).toBe(port);
    at.sessions[1]?.handlers.onOutput(Buffer.from("listening\n"));
    expect([await early, await say(port, "late")]).toEqual(["EARLY", "LATE"]);
    expect(at.printed).toEqual(["listening\n"]);
    expect(at.told).toEqual(["Connected to the resident gate again"]);
  });

  it("passes nothing on once it is told to hold back, until another session is open", async () => {
    const at = await world();
    const port = await openEcho(at);
    at.sessions[0]?.handlers.onHold();
    expect(at.sessions[0]?.said).toEqual(["held"]);
    const held = say(port, "held");
    await at.turn();
    expect(at.connections.size).toBe(0);
    at.sessions[0]?.end("again");
    await openEcho(at, 2);
    expect(await held).toBe("HELD");
  });

  it("looks for no resident after one was told to end, until somebody connects", async () => {
    const at = await world();
    const port = await openEcho(at);
    at.sessions[0]?.end("left");
    await at.turn();
    expect(at.sessions).toHaveLength(1);
    const said = say(port, "x");
    await openEcho(at, 2);
    expect(await said).toBe("X");
  });

  it("says why there is no session, tries again later, and then serves", async () => {
    const at = await world({ problems: [undefined, "no resident", undefined] });
    const port = await openEcho(at);
    at.sessions[0]?.end("lost");
    await at.until(() => at.told.length > 0);
    for (const answer of [await say(port, "a"), await say(port, "b")])
      expect(errorIn(answer)).toMatchObject({ code: "resident_unavailable", retryable: true });
    expect(at.told).toEqual(["no resident [resident_unavailable]"]);
    expect(at.exits).toEqual([]);
    at.pass(1_000);
    const late = say(port, "late");
    await openEcho(at, 2);
    expect(await late).toBe("LATE");
  });

  it("after three losses within a minute waits for half a minute", async () => {
    const at = await world();
    const port = await openEcho(at);
    for (const count of [1, 2]) {
      at.sessions[count - 1]?.end("lost");
      await openEcho(at, count + 1);
    }
    at.sessions[2]?.end("lost");
    expect(errorIn(await say(port, "a"))).toMatchObject({ code: "resident_unavailable" });
    at.pass(29_999);
    expect(errorIn(await say(port, "b"))).toMatchObject({ code: "resident_unavailable" });
    at.pass(1);
    const late = say(port, "late");
    await openEcho(at, 4);
    expect(await late).toBe("LATE");
  });

  it("tells who said something and heard nothing that the outcome is unknown, and others nothing", async () => {
    const at = await world();
    await at.until(() => at.sessions.length === 1);
    const inner: Socket[] = [];
    let got = 0;
    const take = (socket: Socket): void => {
      inner.push(socket.resume());
      socket.on("data", (said) => {
        got++;
        if (String(said) === "answer") socket.write(OK);
      });
    };
    const [port = 0] = (await at.sessions[0]?.doors.open([{ name: "http", port: 0, take }])) ?? [];
    const [asking, answered, silent] = [0, 1, 2].map(() => connect({ port, host: "127.0.0.1" }));
    if (asking === undefined || answered === undefined || silent === undefined) return;
    asking.write("ask");
    answered.write("answer");
    const heard = Promise.all([asking, answered, silent].map((each) => text(each)));
    await at.until(() => got === 2 && inner.length === 3 && answered.bytesRead > 0);
    for (const socket of inner) socket.destroy();
    const [lost = "", whole, nothing] = await heard;
    expect([whole, nothing]).toEqual([OK, ""]);
    expect(lost).toMatch(/^HTTP\/1\.1 502 /);
    expect(errorIn(lost)).toMatchObject({ code: "outcome_unknown", retryable: false });
  });

  it("refuses more connections than one client may have, and takes others when some end", async () => {
    const at = await world({ limits: { ofOne: 2, ofAll: 100 } });
    await at.until(() => at.sessions.length === 1);
    const inner: Socket[] = [];
    const [port = 0] =
      (await at.sessions[0]?.doors.open([
        { name: "http", port: 0, take: (socket) => void inner.push(socket.resume()) },
      ])) ?? [];
    const open = [0, 1].map(() => connect({ port, host: "127.0.0.1" }));
    await at.until(() => inner.length === 2);
    expect(errorIn(await say(port, "x"))).toMatchObject({ code: "overloaded", retryable: true });
    open[0]?.destroy();
    inner[0]?.destroy();
    await at.turn();
    connect({ port, host: "127.0.0.1" }).on("error", () => undefined);
    await at.until(() => inner.length === 3);
  });

  it("ends with the first session where that does not open, and where its port is taken", async () => {
    const none = await world({ problems: ["no resident"] });
    await none.until(() => none.exits.length > 0);
    expect([none.exits, none.told]).toEqual([[1], ["no resident [resident_unavailable]"]]);
    const at = await world();
    const port = await openEcho(at);
    const other = await world();
    await other.until(() => other.sessions.length === 1);
    const taken = other.sessions[0]?.doors.open([{ name: "http", port, take: () => undefined }]);
    await expect(taken).rejects.toMatchObject({
      code: "options_invalid",
      message: expect.stringContaining("EADDRINUSE"),
    });
    other.sessions[0]?.end({ code: 2 });
    expect(other.exits).toEqual([2]);
  });

  it("told to end it listens no more, and passes the signal on", async () => {
    const at = await world();
    const port = await openEcho(at);
    at.relay.signal("SIGINT");
    expect(at.sessions[0]?.said).toEqual(["SIGINT"]);
    expect(at.told).toEqual(["ending: no new requests; those under way have 10 s"]);
    await expect(say(port, "x")).rejects.toThrow("ECONNREFUSED");
    at.sessions[0]?.end({ code: 0 });
    expect(at.exits).toEqual([0]);
  });
});
