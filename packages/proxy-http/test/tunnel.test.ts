/** CONNECT through the proxy, over real sockets. */
import { randomBytes } from "node:crypto";
import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { helloMessage, inRecords, realHello, serverName } from "./support/hello.js";
import { type RawClient, until } from "./support/raw.js";
import { client, errorOf, start, type Started, type StartOptions } from "./support/started.js";

const ESTABLISHED = "HTTP/1.1 200 Connection Established\r\n\r\n";
const ALERT = Buffer.from([0x15, 3, 1, 0, 2, 2, 112]).toString("latin1");

interface Opened extends Started {
  readonly raw: RawClient;
}

/** A tunnel to the host of the test, under the name `a.example`. */
async function opened(options: StartOptions = {}): Promise<Opened> {
  const proxy = {
    privateHosts: ["a.example", "127.0.0.1"],
    resolve: () => Promise.resolve(["127.0.0.1"]),
    ...options.proxy,
  };
  const started = await start({ ...options, proxy });
  const raw = await client(started.port);
  raw.write(
    `CONNECT a.example:${started.host.port} HTTP/1.1\r\nHost: a.example:${started.host.port}\r\n\r\n`,
  );
  await raw.sees(ESTABLISHED);
  return { ...started, raw };
}

const after = (text: string): string => text.slice(ESTABLISHED.length);

describe("a tunnel", () => {
  it("carries bytes both ways as they are, and counts them", async () => {
    const { raw, host, counted } = await opened({
      onData: ({ socket, text }) => {
        if (text().length === 300_000) socket.end(Buffer.from(text(), "latin1"));
      },
    });
    const bytes = randomBytes(300_000);
    bytes[0] = 1;
    raw.end(bytes);
    expect(after(await raw.ended())).toBe(bytes.toString("latin1"));
    await until(
      () => host.open() === 0 && counted("tunnels", { outcome: "performed" }) === 1,
      "for the end",
    );
    expect([counted("bytes_up"), counted("bytes_down")]).toEqual([300_000, 300_000]);
  });

  it("takes what the client sends ahead, before it is allowed", async () => {
    const { port, host, channel } = await start({ policy: { version: "1", default: "ask" } });
    const raw = await client(port);
    raw.write(
      `CONNECT 127.0.0.1:${host.port} HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\n\r\nahead`,
    );
    const question = await channel.question(0);
    raw.write(" and more");
    expect(host.connections).toHaveLength(0);
    await question.approve();
    const connection = await host.connection(0);
    await until(() => connection.text() === "ahead and more", "for the bytes");
  });

  it("lets the host speak first", async () => {
    const { raw, host } = await opened();
    (await host.connection(0)).socket.write("220 hello");
    await raw.sees("220 hello");
  });

  it("lets one side end before the other", async () => {
    const { raw, host } = await opened({ isPatient: true });
    raw.end("question");
    const connection = await host.connection(0);
    await until(
      () => connection.text() === "question" && connection.isEnded(),
      "for the client's end",
    );
    connection.socket.end("answer");
    expect(after(await raw.ended())).toBe("answer");
  });

  it("lets the host end before the client", async () => {
    const { raw, host } = await opened({ isPatient: true });
    const connection = await host.connection(0);
    connection.socket.end("bye");
    expect(after(await raw.ended())).toBe("bye");
    raw.end("still here");
    await until(() => connection.text() === "still here" && connection.isEnded(), "for the rest");
  });

  it("ends on both sides where one is reset", async () => {
    const first = await opened();
    first.raw.write("x");
    await until(() => first.host.connections[0]?.text() === "x", "for a byte");
    first.raw.socket.resetAndDestroy();
    await until(() => first.host.open() === 0, "for the host's side");
    await until(() => first.counted("tunnels", { outcome: "broke_off" }) === 1, "for the count");
    const second = await opened();
    (await second.host.connection(0)).socket.resetAndDestroy();
    await second.raw.ended();
  });
});

describe("the first TLS message", () => {
  it("for the approved host goes on, in however many pieces", async () => {
    const hello = await realHello("A.Example");
    const { raw, host } = await opened();
    for (let at = 0; at < hello.length; at += 50) {
      raw.write(hello.subarray(at, at + 50));
      await new Promise((resolve) => setImmediate(resolve));
    }
    raw.write("rest");
    const connection = await host.connection(0);
    await until(() => connection.text() === `${hello.toString("latin1")}rest`, "for the hello");
  });

  it.each([
    ["another host", () => realHello("b.example")],
    ["a host below", () => realHello("x.a.example")],
    [
      "no readable host",
      () =>
        Promise.resolve(
          inRecords(helloMessage([serverName("a.example"), serverName("a.example")])),
        ),
    ],
    ["nothing readable", () => Promise.resolve(Buffer.from([22, 3, 1, 0, 4, 9, 0, 0, 0]))],
  ])("for %s closes the tunnel; the host gets no byte", async (_, hello) => {
    const { raw, host, logs, audit, counted } = await opened();
    raw.write(await hello());
    expect(after(await raw.ended())).toBe(ALERT);
    await until(() => host.open() === 0, "for the host's side");
    expect(host.connections[0]?.text()).toBe("");
    await until(() => counted("refusals", { code: "request_invalid" }) === 1, "for the count");
    expect(logs.at(-1)).toMatchObject({
      event: "refused",
      host: "a.example",
      text: expect.stringContaining("TLS"),
    });
    expect(JSON.stringify(audit.events())).toContain('"error":"RefusedError"');
  });

  it("that names nobody goes on, unless names are required", async () => {
    const hello = await realHello(undefined);
    const free = await opened();
    free.raw.write(hello);
    await until(
      () => free.host.connections[0]?.text() === hello.toString("latin1"),
      "for the hello",
    );
    const strict = await opened({ proxy: { requireSni: true } });
    strict.raw.write(hello);
    expect(after(await strict.raw.ended())).toBe(ALERT);
    expect(strict.host.connections[0]?.text()).toBe("");
  });

  it("is not needed, unless names are required; then nothing passes without", async () => {
    const strict = await opened({ proxy: { requireSni: true } });
    const connection = await strict.host.connection(0);
    connection.socket.write("220 hello");
    strict.raw.write("EHLO x\r\n");
    expect(after(await strict.raw.ended())).toBe("");
    expect(connection.text()).toBe("");
  });

  it("need not name a host that is an address", async () => {
    const { port, host } = await start({ proxy: { requireSni: true } });
    const raw = await client(port);
    const hello = await realHello(undefined);
    raw.write(`CONNECT 127.0.0.1:${host.port} HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\n\r\n`);
    await raw.sees(ESTABLISHED);
    raw.write(hello);
    await until(() => host.connections[0]?.text() === hello.toString("latin1"), "for the hello");
  });

  it("that breaks off closes the tunnel", async () => {
    const { raw, host } = await opened();
    raw.end((await realHello("a.example")).subarray(0, 40));
    await raw.ended();
    await until(() => host.open() === 0, "for the host's side");
    expect(host.connections[0]?.text()).toBe("");
  });
});

describe("time", () => {
  const LIMITS = { tunnelIdleMs: 1_000, tunnelTotalMs: 10_000, sweepEveryMs: 100, headMs: 60_000 };

  it("ends a tunnel that is silent", async () => {
    const clock = manualClock();
    const { raw, host } = await opened({ proxy: { clock, limits: LIMITS } });
    await clock.advance(1_200);
    await raw.ended();
    await until(() => host.open() === 0, "for the host's side");
  });

  it("does not end one that moves, until it is too old", async () => {
    const clock = manualClock();
    const { raw, host } = await opened({ proxy: { clock, limits: LIMITS } });
    for (let second = 0; second < 9; second++) {
      await clock.advance(900);
      raw.write("x");
      const wanted = second + 1;
      await until(() => host.connections[0]?.text().length === wanted, "for a byte");
    }
    expect(host.open()).toBe(1);
    for (let second = 0; second < 4 && host.open() > 0; second++) {
      await clock.advance(900);
      raw.write("x");
    }
    await until(() => host.open() === 0, "for the host's side");
  });
});

describe("CONNECT", () => {
  it.each([
    ["a path", "CONNECT 127.0.0.1:80/x HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"],
    ["no port", "CONNECT 127.0.0.1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"],
    ["port 0", "CONNECT 127.0.0.1:0 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"],
    ["userinfo", "CONNECT a@127.0.0.1:80 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"],
    ["another Host", "CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: example.com:80\r\n\r\n"],
    ["a URL", "CONNECT http://127.0.0.1:80/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"],
    [
      "a length",
      "CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\n\r\nhello",
    ],
    ["two Hosts", "CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: 127.0.0.1\r\n\r\n"],
  ])("with %s is refused", async (_, head) => {
    const { port } = await start();
    const raw = await client(port);
    raw.write(head);
    const text = await raw.ended();
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(errorOf(text)).toMatchObject({ code: "request_invalid" });
  });

  it("that is denied is answered with why, and the connection ends", async () => {
    const { port } = await start({ policy: { version: "1", default: "deny" } });
    const raw = await client(port);
    raw.write("CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n");
    const text = await raw.ended();
    expect(text).toMatch(/^HTTP\/1\.1 403 /);
    expect(errorOf(text)).toMatchObject({ code: "policy_denied" });
  });

  it("to this machine, to the proxy itself and to nobody says which", async () => {
    const { port, host } = await start({ proxy: { privateHosts: ["127.0.0.1"] } });
    await host.close();
    for (const [target, code, status] of [
      [`127.0.0.2:${host.port}`, "address_refused", 403],
      [`127.0.0.1:${port}`, "address_refused", 403],
      [`127.0.0.1:${host.port}`, "upstream_unreachable", 502],
    ]) {
      const raw = await client(port);
      raw.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
      const text = await raw.ended();
      expect(text).toContain(`HTTP/1.1 ${status} `);
      expect(errorOf(text)).toMatchObject({ code });
    }
  });

  it("behind a request that is under way ends the connection", async () => {
    const { port, host, channel } = await start({ policy: { version: "1", default: "ask" } });
    const raw = await client(port);
    raw.write(
      `GET http://127.0.0.1:${host.port}/ HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\n\r\n`,
    );
    await channel.question(0);
    raw.write(`CONNECT 127.0.0.1:${host.port} HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\n\r\n`);
    expect(await raw.ended()).toBe("");
  });

  it("of a client that leaves while a person decides is opened to its next one, by the yes to the one question", async () => {
    const { port, host, channel, counted } = await start({
      policy: { version: "1", default: "ask" },
      proxy: { limits: { halfClosedMs: 100, sweepEveryMs: 10 } },
    });
    const raw = await client(port);
    raw.write(`CONNECT 127.0.0.1:${host.port} HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\n\r\n`);
    const question = await channel.question(0);
    raw.destroy();
    await until(
      () => counted("refusals", { code: "consent_cancelled" }) === 1,
      "for the proxy to see that it is gone",
    );
    expect([question.ending(), host.connections.length]).toEqual([undefined, 0]);
    await question.approve();
    const again = await client(port);
    again.write(`CONNECT 127.0.0.1:${host.port} HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\n\r\n`);
    await again.sees("200 Connection Established");
    again.destroy();
    expect(channel.asked()).toBe(1);
  });
});
