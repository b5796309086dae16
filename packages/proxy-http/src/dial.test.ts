import { EventEmitter, once } from "node:events";
import { type AddressInfo, createServer, type Server, Socket } from "node:net";
import { manualClock } from "@acp/testing";
import { afterEach, describe, expect, it } from "vitest";
import { readPrivateHosts, type Resolve } from "./addresses.js";
import { createDialer, type DialerOptions } from "./dial.js";
import type { Dial } from "./dial.js";

const { signal: never } = new AbortController();
const app = { host: "app.example", port: 80 };
const PUBLIC = ["93.184.215.14", "93.184.215.15", "93.184.215.16"] as const;

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function listen(onSocket: (socket: Socket) => void): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, onSocket);
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server on a TCP port has an address of this shape.
  return (server.address() as AddressInfo).port;
}

/** What a socket that is not connected anywhere does. */
type Fate = "connects" | "fails" | "hangs";

interface Kit {
  readonly dial: Dial;
  readonly dialled: string[];
  readonly resolved: string[];
  readonly sockets: Socket[];
}

function kit(fates: Readonly<Record<string, Fate>>, options: Partial<DialerOptions> = {}): Kit {
  const dialled: string[] = [];
  const resolved: string[] = [];
  const sockets: Socket[] = [];
  const resolve: Resolve = options.resolve ?? (() => Promise.resolve(Object.keys(fates)));
  const dial = createDialer({
    naming: readPrivateHosts([]),
    ownPorts: () => [],
    ownAddresses: () => new Set(),
    connect: (address, port) => {
      dialled.push(`${address} ${port}`);
      const socket = new Socket();
      sockets.push(socket);
      if (fates[address] === "connects") setImmediate(() => socket.emit("connect"));
      if (fates[address] === "fails")
        setImmediate(() =>
          socket.destroy(Object.assign(new Error("no"), { code: "ECONNREFUSED" })),
        );
      return socket;
    },
    ...options,
    resolve: (host) => {
      resolved.push(host);
      return resolve(host);
    },
  });
  return { dial, dialled, resolved, sockets };
}

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

const refusal = (code: string, reason: string): unknown =>
  expect.objectContaining({ refusal: expect.objectContaining({ code, reason }) as unknown });

describe("createDialer()", () => {
  it("resolves once and dials an address, not the name", async () => {
    const { dial, dialled, resolved, sockets } = kit({ [PUBLIC[0]]: "connects" });
    expect(await dial(app, never)).toBe(sockets[0]);
    expect([resolved, dialled]).toEqual([["app.example"], [`${PUBLIC[0]} 80`]]);
  });

  it("resolves nothing for an address, and checks it", async () => {
    const { dial, dialled, resolved } = kit({ "2606:4700::1": "connects" });
    await dial({ host: "[2606:4700::1]", port: 443 }, never);
    await expect(dial({ host: "[::1]", port: 443 }, never)).rejects.toMatchObject({
      refusal: { code: "address_refused" },
    });
    await expect(dial({ host: "127.0.0.1", port: 443 }, never)).rejects.toMatchObject({
      refusal: { code: "address_refused" },
    });
    expect([resolved, dialled]).toEqual([[], ["2606:4700::1 443"]]);
  });

  it("dials nothing where one of the addresses may not be reached", async () => {
    const { dial, dialled } = kit({ [PUBLIC[0]]: "connects", "10.0.0.1": "connects" });
    await expect(dial(app, never)).rejects.toMatchObject({
      name: "RefusedError",
      refusal: { code: "address_refused" },
    });
    expect(dialled).toEqual([]);
  });

  it("tries the next address where one fails", async () => {
    const { dial, dialled, resolved } = kit({
      [PUBLIC[0]]: "fails",
      [PUBLIC[1]]: "connects",
      [PUBLIC[2]]: "connects",
    });
    await dial(app, never);
    expect(dialled).toEqual([`${PUBLIC[0]} 80`, `${PUBLIC[1]} 80`]);
    expect(resolved).toHaveLength(1);
  });

  it("says what failed where every address does", async () => {
    const { dial, dialled } = kit({ [PUBLIC[0]]: "fails", [PUBLIC[1]]: "fails" });
    await expect(dial(app, never)).rejects.toThrow(
      refusal("upstream_unreachable", '"app.example" port 80 accepts no connection (ECONNREFUSED)'),
    );
    expect(dialled).toHaveLength(2);
  });

  it("tries eight addresses at most, and checks all of them", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, index) => [
        `8.8.${index >> 8}.${index & 255}`,
        "fails" as const,
      ]),
    );
    const { dial, dialled } = kit(many);
    await expect(dial(app, never)).rejects.toMatchObject({
      refusal: { code: "upstream_unreachable" },
    });
    expect(dialled).toHaveLength(8);
    const hidden = kit({ ...many, "10.0.0.1": "connects" });
    await expect(hidden.dial(app, never)).rejects.toMatchObject({
      refusal: { code: "address_refused" },
    });
    expect(hidden.dialled).toEqual([]);
  });

  it("gives each address its part of the time", async () => {
    const clock = manualClock();
    const { dial, dialled, sockets } = kit(
      { [PUBLIC[0]]: "hangs", [PUBLIC[1]]: "connects" },
      { clock, connectMs: 10_000 },
    );
    const dialling = dial(app, never);
    await clock.advance(4_999);
    expect(dialled).toHaveLength(1);
    await clock.advance(1);
    expect(await dialling).toBe(sockets[1]);
    expect(sockets[0]?.destroyed).toBe(true);
  });

  it("ends in a timeout where no address answers in time", async () => {
    const clock = manualClock();
    const { dial, sockets } = kit(
      { [PUBLIC[0]]: "hangs", [PUBLIC[1]]: "hangs" },
      { clock, connectMs: 10_000 },
    );
    const failed = failureOf(dial(app, never));
    await clock.advance(10_000);
    expect(await failed).toEqual(
      refusal("upstream_timeout", '"app.example" port 80 did not accept a connection in time'),
    );
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, true]);
  });

  it("ends in a timeout where the resolver does not answer in time", async () => {
    const clock = manualClock();
    const { dial, dialled } = kit(
      {},
      { clock, connectMs: 10_000, resolve: () => new Promise(() => undefined) },
    );
    const failed = failureOf(dial(app, never));
    await clock.advance(10_000);
    expect(await failed).toEqual(
      refusal("upstream_timeout", 'the address of "app.example" was not found in time'),
    );
    expect(dialled).toEqual([]);
  });

  it("says so where the name has no address", async () => {
    await expect(kit({}).dial(app, never)).rejects.toThrow(
      refusal("upstream_unreachable", '"app.example" has no address'),
    );
    const failing = kit(
      {},
      { resolve: () => Promise.reject(Object.assign(new Error("no"), { code: "ENOTFOUND" })) },
    );
    await expect(failing.dial(app, never)).rejects.toThrow(
      refusal("upstream_unreachable", '"app.example" has no address (ENOTFOUND)'),
    );
  });

  it("gives up when the signal aborts, whatever it was doing", async () => {
    const reason = new Error("the agent is gone");
    const before = kit({ [PUBLIC[0]]: "connects" });
    await expect(before.dial(app, AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(before.resolved).toEqual([]);

    const resolving = new AbortController();
    const hung = kit({}, { resolve: () => new Promise(() => undefined) });
    const first = failureOf(hung.dial(app, resolving.signal));
    resolving.abort(reason);
    expect(await first).toBe(reason);

    const connecting = new AbortController();
    const { dial, sockets, dialled } = kit({ [PUBLIC[0]]: "hangs", [PUBLIC[1]]: "connects" });
    const second = failureOf(dial(app, connecting.signal));
    await new Promise((resolve) => setImmediate(resolve));
    connecting.abort(reason);
    expect(await second).toBe(reason);
    expect(dialled).toHaveLength(1);
    expect(sockets[0]?.destroyed).toBe(true);
  });

  it("connects to this machine where the host is named, and the socket closes one way at a time", async () => {
    const port = await listen((socket) => {
      socket.on("data", (chunk) => socket.write(chunk));
      socket.on("end", () => socket.end(" bye"));
    });
    const dial = createDialer({
      resolve: () => Promise.resolve(["127.0.0.1"]),
      naming: readPrivateHosts(["app.test"]),
      ownPorts: () => [],
    });
    const socket = await dial({ host: "app.test", port }, never);
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    socket.end("hello");
    await once(socket, "end");
    expect(Buffer.concat(chunks).toString()).toBe("hello bye");
    await expect(dial({ host: "other.test", port }, never)).rejects.toMatchObject({
      refusal: { code: "address_refused" },
    });
  });

  it("lets the other side end first and still writes", async () => {
    const received: Buffer[] = [];
    const done = new EventEmitter();
    const ended = once(done, "end");
    const port = await listen((socket) => {
      socket.end("first");
      socket.on("data", (chunk: Buffer) => received.push(chunk));
      socket.on("end", () => done.emit("end"));
    });
    const dial = createDialer({ naming: readPrivateHosts(["127.0.0.1"]), ownPorts: () => [] });
    const socket = await dial({ host: "127.0.0.1", port }, never);
    socket.resume();
    await once(socket, "end");
    socket.end("later");
    await ended;
    expect(Buffer.concat(received).toString()).toBe("later");
  });

  it("hands out sockets whose errors end nothing but themselves", async () => {
    const port = await listen((socket) => void socket.once("data", () => socket.resetAndDestroy()));
    const dial = createDialer({ naming: readPrivateHosts(["127.0.0.1"]), ownPorts: () => [] });
    const socket = await dial({ host: "127.0.0.1", port }, never);
    const closed = new Promise<boolean>((resolve) => socket.once("close", resolve));
    socket.write("hello");
    expect(await closed).toBe(true);
  });
});
