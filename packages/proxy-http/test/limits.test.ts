/**
 * Clients and hosts that take too much: bounded, answered where there is somebody to answer, and
 * nothing left behind.
 */
import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { hasHead, type RawClient, until } from "./support/raw.js";
import { client, errorOf, start, type Started } from "./support/started.js";

const get = (port: number, path = "/", headers = ""): string =>
  `GET http://127.0.0.1:${port}${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${headers}\r\n`;
const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/** The proxy still serves. */
async function serves({ port, host }: Started): Promise<void> {
  const raw = await client(port);
  raw.write(get(host.port, "/still"));
  await until(
    () => host.connections.some(({ text }) => text().includes("/still")),
    "for the request",
  );
  raw.destroy();
}

/** Writes until the other side ends or resets; gives the bytes that went out. */
async function flood(raw: RawClient, chunk: Buffer, bytesMax: number): Promise<number> {
  let sent = 0;
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  raw.socket.once("close", over).once("end", over).once("error", over);
  while (!isOver && sent < bytesMax) {
    sent += chunk.length;
    if (raw.socket.write(chunk)) await new Promise((resolve) => setImmediate(resolve));
    else {
      let isDrained = false;
      raw.socket.once("drain", () => {
        isDrained = true;
      });
      await until(() => isDrained || isOver, "for room or the end");
    }
  }
  return sent;
}

describe("a head", () => {
  it("of 100,000 headers is refused before it ends", async () => {
    const started = await start();
    const raw = await client(started.port);
    raw.write(`GET http://127.0.0.1:${started.host.port}/ HTTP/1.1\r\n`);
    await flood(raw, Buffer.from("X-Header: value\r\n".repeat(1_000)), 100 * 17_000);
    await raw.sees("HTTP/1.1 431 ");
    await serves(started);
    expect(started.host.connections).toHaveLength(1);
  });

  it("of 300 short headers is refused", async () => {
    const { port, host } = await start();
    const raw = await client(port);
    raw.write(get(host.port, "/", "a: b\r\n".repeat(300)));
    await raw.sees('"request_invalid"');
    expect(errorOf(raw.text())).toMatchObject({ reason: expect.stringContaining("256 headers") });
    expect(host.connections).toHaveLength(0);
  });

  it("that comes byte by byte for too long ends its connection and no other", async () => {
    const clock = manualClock();
    const started = await start({ proxy: { clock, limits: { headMs: 1_000, sweepEveryMs: 100 } } });
    const slow = await client(started.port);
    slow.write("GET ");
    for (let step = 0; step < 12; step++) {
      await clock.advance(100);
      slow.write("x");
    }
    await slow.ended();
    await serves(started);
  });

  it("that never comes ends its connection, and so does a second one", async () => {
    const clock = manualClock();
    const { port, host } = await start({
      proxy: { clock, limits: { headMs: 1_000, sweepEveryMs: 100 } },
      onData: (connection) => hasHead(connection) && connection.socket.write(OK),
    });
    const silent = await client(port);
    const served = await client(port);
    served.write(get(host.port));
    await served.sees("\r\n\r\nok");
    await clock.advance(1_300);
    await silent.ended();
    await served.ended();
    await until(() => host.open() === 0 || host.connections.length === 1, "for nothing");
  });

  it("that is no HTTP is answered and ends its connection", async () => {
    const started = await start();
    for (const bytes of [
      "\u0016\u0003\u0001\u0002",
      "SSH-2.0-x\r\n",
      "GET / HTTP/1.1\nHost: a\n\n",
      "\u0000\r\n\r\n",
    ]) {
      const raw = await client(started.port);
      raw.end(bytes);
      expect(await raw.ended()).toMatch(/^HTTP\/1\.1 400 /);
    }
    await serves(started);
  });
});

describe("a body", () => {
  it("of endless chunks passes no faster than its host reads, and ends with its client", async () => {
    const started = await start();
    const raw = await client(started.port);
    raw.write(
      `POST http://127.0.0.1:${started.host.port}/ HTTP/1.1\r\nHost: 127.0.0.1:${started.host.port}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    await started.host.connection(0);
    await flood(raw, Buffer.from("1\r\nx\r\n".repeat(10_000)), 900_000);
    raw.destroy();
    await until(() => started.host.open() === 0, "for the host's side");
    await serves(started);
  });

  it("of chunks with endless extensions is cut", async () => {
    const started = await start();
    const raw = await client(started.port);
    raw.write(
      `POST http://127.0.0.1:${started.host.port}/ HTTP/1.1\r\nHost: 127.0.0.1:${started.host.port}\r\nTransfer-Encoding: chunked\r\n\r\n1`,
    );
    const sent = await flood(raw, Buffer.from(";x=y".repeat(4_000)), 64 * 1024 * 1024);
    expect(sent).toBeLessThan(64 * 1024 * 1024);
    await until(() => started.host.open() === 0, "for the host's side");
  });

  it("with endless trailers is cut", async () => {
    const { port, host } = await start();
    const raw = await client(port);
    raw.write(
      `POST http://127.0.0.1:${host.port}/ HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n`,
    );
    const sent = await flood(raw, Buffer.from("X-T: y\r\n".repeat(2_000)), 64 * 1024 * 1024);
    expect(sent).toBeLessThan(64 * 1024 * 1024);
    await until(() => host.open() === 0, "for the host's side");
    expect(host.connections.every(({ text }) => !text().includes("\r\n0\r\n"))).toBe(true);
  });

  it("of a refused request is read to its end, and the connection serves on", async () => {
    const { port, host } = await start({
      policy: {
        version: "1",
        default: "deny",
        rules: [{ match: { kind: "http", method: "GET" }, action: "allow" }],
      },
      onData: (connection) => hasHead(connection) && connection.socket.write(OK),
    });
    const raw = await client(port);
    raw.write(
      `POST http://127.0.0.1:${host.port}/ HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\nContent-Length: 500000\r\n\r\n`,
    );
    raw.write(Buffer.alloc(500_000));
    await raw.sees('"policy_denied"');
    raw.write(get(host.port));
    await raw.sees("\r\n\r\nok");
  });

  it("of a refused request that has no end is cut", async () => {
    const { port } = await start({
      policy: { version: "1", default: "deny" },
      proxy: { limits: { lingerBytesMax: 100_000, lingerMs: 60_000 } },
    });
    const raw = await client(port);
    raw.write(
      "POST http://example.com/ HTTP/1.1\r\nHost: example.com\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
    const sent = await flood(
      raw,
      Buffer.from(`10000\r\n${"x".repeat(0x1_00_00)}\r\n`),
      256 * 1024 * 1024,
    );
    expect(sent).toBeLessThan(256 * 1024 * 1024);
  });
});

describe("a host", () => {
  it("that never answers is given up, and said so", async () => {
    const clock = manualClock();
    const { port, host } = await start({
      proxy: { clock, limits: { idleMs: 1_000, sweepEveryMs: 100 } },
    });
    const raw = await client(port);
    raw.write(get(host.port));
    await until(() => host.connections.length === 1, "for the request");
    await until(() => host.connections[0]?.text().includes("\r\n\r\n") === true, "for its head");
    await clock.advance(1_300);
    await raw.sees('"upstream_timeout"');
    expect(raw.text()).toMatch(/^HTTP\/1\.1 504 /);
    await until(() => host.open() === 0, "for the host's side");
  });

  it("that stops in the middle is cut", async () => {
    const clock = manualClock();
    const { port, host } = await start({
      proxy: { clock, limits: { idleMs: 1_000, sweepEveryMs: 100 } },
      onData: (connection) =>
        hasHead(connection) &&
        connection.socket.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"),
    });
    const raw = await client(port);
    raw.write(get(host.port));
    await raw.sees("abc");
    await clock.advance(1_300);
    await raw.ended();
    await until(() => host.open() === 0, "for the host's side");
  });
});

describe("connections", () => {
  it("beyond the limit are told so", async () => {
    const { port } = await start({ proxy: { limits: { connectionsMax: 2 } } });
    await client(port);
    await client(port);
    const third = await client(port);
    expect(errorOf(await third.ended())).toMatchObject({ code: "overloaded" });
  });

  it("with more requests than the limit are told so in order", async () => {
    const { port, host, channel } = await start({
      policy: { version: "1", default: "ask" },
      proxy: { limits: { pipelinedMax: 2 } },
    });
    const raw = await client(port);
    raw.write(get(host.port, "/1") + get(host.port, "/2") + get(host.port, "/3"));
    await (await channel.question(0)).deny();
    await (await channel.question(1)).deny();
    await raw.sees('"overloaded"');
    expect(raw.text().match(/"code":"[a-z_]+"/g)).toEqual([
      '"code":"consent_denied"',
      '"code":"consent_denied"',
      '"code":"overloaded"',
    ]);
  });

  it("that are pipelined are answered in their order", async () => {
    const { port, host } = await start({
      onData: ({ socket, text }) => {
        const path = /^GET (\S+)/.exec(text())?.[1] ?? "";
        const answer = `HTTP/1.1 200 OK\r\nContent-Length: ${path.length}\r\nConnection: close\r\n\r\n${path}`;
        if (path === "/1") setTimeout(() => socket.end(answer), 50);
        else socket.end(answer);
      },
    });
    const raw = await client(port);
    raw.write(get(host.port, "/1") + get(host.port, "/2"));
    await raw.sees("/2");
    expect(raw.text().indexOf("/1")).toBeLessThan(raw.text().indexOf("/2"));
  });

  it("of two hundred clients that misbehave in every way leave nothing behind", async () => {
    const started = await start({
      onData: (connection) => hasHead(connection) && connection.socket.write(OK),
      proxy: {
        limits: {
          headMs: 300,
          halfClosedMs: 100,
          idleMs: 300,
          tunnelIdleMs: 300,
          lingerMs: 100,
          keptMs: 100,
          sweepEveryMs: 20,
        },
      },
    });
    const { port, host } = started;
    const ways: readonly ((raw: RawClient) => void)[] = [
      (raw) => raw.write("GET "),
      (raw) => raw.end("GET "),
      (raw) => raw.end(get(host.port)),
      (raw) => (raw.write(get(host.port)), raw.destroy()),
      (raw) => (raw.write(get(host.port)), raw.socket.resetAndDestroy()),
      (raw) =>
        raw.write(
          `POST http://127.0.0.1:${host.port}/ HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\nContent-Length: 9\r\n\r\nabc`,
        ),
      (raw) =>
        raw.end(
          `POST http://127.0.0.1:${host.port}/ HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\nContent-Length: 9\r\n\r\nabc`,
        ),
      (raw) => raw.write(`CONNECT 127.0.0.1:${host.port} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`),
      (raw) => raw.end(`CONNECT 127.0.0.1:${host.port} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nhello`),
      (raw) => (
        raw.write(`CONNECT 127.0.0.1:${host.port} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`),
        raw.socket.resetAndDestroy()
      ),
      (raw) => raw.write("\u0016\u0003\u0001"),
      () => {},
    ];
    const raws = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const raw = await client(port);
        ways[index % ways.length]?.(raw);
        return raw;
      }),
    );
    await Promise.all(raws.map(({ ended }) => ended()));
    await until(
      () => host.open() === 0,
      () => `for the host's ${host.open()} sockets to close`,
    );
    await serves(started);
    // Resolves only when no connection is left.
    await started.proxy.close();
    expect(started.logs.filter(({ level }) => level === "error")).toEqual([]);
  });
});
