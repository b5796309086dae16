/** Plain HTTP through the proxy, byte by byte on both sides. */
import { describe, expect, it } from "vitest";
import { hasHead, type RawClient, type Recorded, until } from "./support/raw.js";
import { client, start as startParts, type Started, type StartOptions } from "./support/started.js";

async function start(
  onData?: (connection: Recorded) => void,
  proxy: StartOptions["proxy"] = {},
  policy?: object,
): Promise<Started> {
  return startParts({
    ...(onData === undefined ? {} : { onData }),
    proxy,
    ...(policy === undefined ? {} : { policy }),
  });
}

/** Answers every whole request head once. */
function answering(answer: string): (connection: Recorded) => void {
  return (connection) => {
    const heads = connection.text().split("\r\n\r\n").length - 1;
    const { socket } = connection;
    const done = answered.get(socket) ?? 0;
    for (let count = done; count < heads; count++) socket.write(Buffer.from(answer, "latin1"));
    answered.set(socket, heads);
  };
}
const answered = new WeakMap<object, number>();
const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

describe("a request", () => {
  it("reaches its host anew: own Host, normalised path, no header of the connection", async () => {
    const { port, host } = await start(answering(OK));
    const { write, sees } = await client(port);
    write(
      `GET http://127.0.0.1:${host.port}/a/../b?q=1 HTTP/1.1\r\nhost: 127.0.0.1:${host.port}\r\nX-One: 1\r\nConnection: keep-alive, X-Two\r\n` +
        "X-Two: 2\r\nProxy-Status: x\r\nProxy-Connection: keep-alive\r\nKeep-Alive: timeout=5\r\nTE: gzip\r\nVia: 1.0 x\r\n" +
        "Cookie: a=1\r\ncookie: b=2\r\n\r\n",
    );
    await sees("\r\n\r\nok");
    expect(host.connections.map(({ text }) => text())).toEqual([
      `GET /b?q=1 HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\nX-One: 1\r\nVia: 1.0 x\r\nCookie: a=1\r\ncookie: b=2\r\nConnection: keep-alive\r\n\r\n`,
    ]);
  });

  it("and the next one share a connection to the host", async () => {
    const { port, host } = await start(answering(OK));
    const { write, text } = await client(port);
    for (let count = 1; count <= 3; count++) {
      write(
        `GET http://127.0.0.1:${host.port}/${count} HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\n\r\n`,
      );
      await until(() => text().split("\r\n\r\nok").length === count + 1, "for the answer");
    }
    expect(host.connections).toHaveLength(1);
  });

  it("of two agents share none", async () => {
    const agents = ["a", "b"].map((id) => ({ agent: { id }, username: id, token: "t".repeat(20) }));
    const { port, host } = await start(answering(OK), { agents });
    for (const id of ["a", "b"]) {
      const { write, sees } = await client(port);
      const credentials = Buffer.from(`${id}:${"t".repeat(20)}`).toString("base64");
      write(
        `GET http://127.0.0.1:${host.port}/ HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\nProxy-Authorization: Basic ${credentials}\r\n\r\n`,
      );
      await sees("\r\n\r\nok");
    }
    expect(host.connections).toHaveLength(2);
  });

  it("with a body has a connection of its own, which ends with it", async () => {
    const { port, host } = await start(answering(OK));
    const { write, text } = await client(port);
    for (let count = 1; count <= 2; count++) {
      write(
        `POST http://127.0.0.1:${host.port}/ HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\nContent-Length: 3\r\n\r\nabc`,
      );
      await until(() => text().split("\r\n\r\nok").length === count + 1, "for the answer");
    }
    const expected = `POST / HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc`;
    await until(
      () => host.connections.length === 2 && host.open() === 0,
      "for the host's sockets to close",
    );
    expect(host.connections.map((each) => each.text())).toEqual([expected, expected]);
  });

  it("with a body has one whatever its method", async () => {
    const { port, host } = await start(answering(OK));
    const { write, text } = await client(port);
    for (const body of [
      "Content-Length: 3\r\n\r\nabc",
      "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ]) {
      const before = text().split("\r\n\r\nok").length;
      write(
        `GET http://127.0.0.1:${host.port}/ HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\n${body}`,
      );
      await until(() => text().split("\r\n\r\nok").length > before, "for the answer");
    }
    await until(
      () => host.connections.length === 2 && host.open() === 0,
      "for the host's sockets to close",
    );
    for (const connection of host.connections)
      expect(connection.text()).toContain("Connection: close\r\n");
  });

  it("without a body or a length says so to the host", async () => {
    const { port, host } = await start(answering(OK));
    const { write, sees } = await client(port);
    write(`POST http://127.0.0.1:${host.port}/ HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\n\r\n`);
    await sees("\r\n\r\nok");
    expect(host.connections[0]?.text()).toContain("Content-Length: 0\r\n");
    expect(host.connections[0]?.text()).not.toContain("chunked");
  });

  it("in chunks arrives in chunks, with its trailers but those that come too late", async () => {
    const { port, host } = await start((connection) => {
      if (connection.text().endsWith("X-Sum: 7\r\n\r\n")) connection.socket.write(OK);
    });
    const { write, sees } = await client(port);
    write(
      `PUT http://127.0.0.1:${host.port}/ HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n` +
        "3;x=y\r\nabc\r\n0\r\nAuthorization: late\r\nX-Sum: 7\r\n\r\n",
    );
    await sees("\r\n\r\nok");
    expect(host.connections[0]?.text()).toBe(
      `PUT / HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n` +
        "3\r\nabc\r\n0\r\nX-Sum: 7\r\n\r\n",
    );
  });

  it("that a kept connection was closed under is sent again", async () => {
    let seen = 0;
    const { port, host } = await start((connection) => {
      if (!hasHead(connection)) return;
      seen++;
      if (seen === 2) connection.socket.resetAndDestroy();
      else connection.socket.write(OK);
    });
    const { write, text } = await client(port);
    for (let count = 1; count <= 2; count++) {
      write(`GET http://127.0.0.1:${host.port}/ HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\n\r\n`);
      await until(() => text().split("\r\n\r\nok").length === count + 1, "for the answer");
    }
    expect(host.connections).toHaveLength(2);
    expect(host.connections[1]?.text()).toContain("Connection: close");
  });

  it("of a client that ended its side is answered", async () => {
    const { port, host } = await start(answering(OK));
    const { end, ended } = await client(port);
    end(`GET http://127.0.0.1:${host.port}/ HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\n\r\n`);
    expect(await ended()).toContain("\r\n\r\nok");
  });

  it("in HTTP/1.0 without Host is answered, and the connection ends", async () => {
    const { port, host } = await start(answering(OK));
    const { write, ended } = await client(port);
    write(`GET http://127.0.0.1:${host.port}/ HTTP/1.0\r\n\r\n`);
    expect(await ended()).toContain("\r\n\r\nok");
    expect(host.connections[0]?.text()).toContain(`Host: 127.0.0.1:${host.port}\r\n`);
  });

  it("that expects 100-continue waits for the host's word", async () => {
    const { port, host } = await start((connection) => {
      if (connection.text().endsWith("\r\n\r\n"))
        connection.socket.write("HTTP/1.1 100 Continue\r\n\r\n");
      if (connection.text().endsWith("abc")) connection.socket.write(OK);
    });
    const { write, sees, text } = await client(port);
    write(
      `POST http://127.0.0.1:${host.port}/ HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n`,
    );
    await sees("100 Continue");
    expect(text()).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    write("abc");
    await sees("\r\n\r\nok");
    expect(host.connections[0]?.text()).toContain("Expect: 100-continue\r\n");
  });

  it("that expects 100-continue and is refused is answered at once", async () => {
    const { port } = await start(undefined, {}, { version: "1", default: "deny" });
    const { write, sees, text } = await client(port);
    write(
      "POST http://example.com/ HTTP/1.1\r\nHost: example.com\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n",
    );
    await sees('"policy_denied"');
    expect(text()).toMatch(/^HTTP\/1\.1 403 /);
  });
});

describe("a body", () => {
  it("streams both ways without being held", async () => {
    const bytes = 64 * 1024 * 1024;
    let got = 0;
    const { port, host } = await start();
    const { socket } = await client(port);
    let back = 0;
    socket.on("data", (chunk: Buffer) => {
      back += chunk.length;
    });
    socket.write(
      `POST http://127.0.0.1:${host.port}/ HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\nContent-Length: ${bytes}\r\n\r\n`,
    );
    const connection = await host.connection(0);
    connection.socket.removeAllListeners("data");
    connection.socket.on("data", (chunk: Buffer) => {
      got += chunk.length;
      if (got >= bytes)
        connection.socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n`, () =>
          send(connection.socket, bytes),
        );
    });
    send(socket, bytes);
    await until(() => back > bytes, "for all of it");
    expect(got).toBeGreaterThanOrEqual(bytes);
  });

  it("waits for a host that does not read", async () => {
    const { port, host } = await start();
    const { socket } = await client(port);
    socket.write(
      `POST http://127.0.0.1:${host.port}/ HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    (await host.connection(0)).socket.pause();
    const chunk = Buffer.concat([
      Buffer.from("10000\r\n"),
      Buffer.alloc(0x1_00_00),
      Buffer.from("\r\n"),
    ]);
    let written = 0;
    // What the kernel's buffers and the proxy's take together has an end.
    while (socket.write(chunk) || (await drained(socket)))
      if ((written += chunk.length) > 256 * 1024 * 1024) break;
    expect(written).toBeLessThan(256 * 1024 * 1024);
  });
});

async function drained(socket: RawClient["socket"]): Promise<boolean> {
  let isDrained = false;
  socket.once("drain", () => {
    isDrained = true;
  });
  for (let turn = 0; turn < 200 && !isDrained; turn++)
    await new Promise((resolve) => setTimeout(resolve, 5));
  return isDrained;
}

function send(socket: RawClient["socket"], bytes: number): void {
  const chunk = Buffer.alloc(64 * 1024);
  let left = bytes;
  const more = (): void => {
    while (left > 0) {
      left -= chunk.length;
      if (!socket.write(chunk)) break;
    }
    if (left > 0) socket.once("drain", more);
  };
  more();
}

describe("going away", () => {
  it("of the agent closes the host's connection", async () => {
    const limits = { halfClosedMs: 50, sweepEveryMs: 10 };
    const { port, host, counted } = await start(
      (connection) => {
        if (hasHead(connection))
          connection.socket.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc");
      },
      { limits },
    );
    const { write, sees, destroy } = await client(port);
    write(`GET http://127.0.0.1:${host.port}/ HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\n\r\n`);
    await sees("abc");
    destroy();
    await until(() => host.open() === 0, "for the host's socket to close");
    await until(() => counted("requests", { outcome: "broke_off" }) === 1, "for the count");
  });

  it("of the agent in the middle of its body closes the host's connection", async () => {
    const { port, host } = await start();
    const { write, destroy } = await client(port);
    write(
      `POST http://127.0.0.1:${host.port}/ HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\nContent-Length: 9\r\n\r\nabc`,
    );
    await until(() => host.connections[0]?.text().endsWith("abc") === true, "for the body");
    destroy();
    await until(() => host.open() === 0, "for the host's socket to close");
  });

  const ASK = { version: "1", default: "ask" };
  const asked = async (): Promise<Started & { raw: RawClient }> => {
    const started = await start(
      answering(OK),
      { limits: { halfClosedMs: 200, sweepEveryMs: 10 } },
      ASK,
    );
    const raw = await client(started.port);
    raw.write(
      `GET http://127.0.0.1:${started.host.port}/ HTTP/1.1\r\nHost: 127.0.0.1:${started.host.port}\r\n\r\n`,
    );
    return { ...started, raw };
  };

  it("of the agent while a person decides leaves the question for its next request: one question, one yes, one request to the host", async () => {
    const { channel, raw, host, port, counted } = await asked();
    const question = await channel.question(0);
    raw.destroy();
    await until(
      () => counted("refusals", { code: "consent_cancelled" }) === 1,
      "for the proxy to see that it is gone",
    );
    expect([question.ending(), host.connections.length]).toEqual([undefined, 0]);
    const again = await client(port);
    again.write(
      `GET http://127.0.0.1:${host.port}/ HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\n\r\n`,
    );
    await question.approve();
    await again.sees("\r\n\r\nok");
    expect(host.connections).toHaveLength(1);
    expect(await question.session.outcome).toEqual({ status: "ran", detail: "" });
  });

  it("asks nobody about a host whose address it refuses", async () => {
    const { channel, port } = await start(answering(OK), {}, ASK);
    for (const host of ["169.254.169.254", "10.0.0.1", "localhost:1", "[::1]"]) {
      const raw = await client(port);
      raw.write(`GET http://${host}/ HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      await raw.sees('"address_refused"');
    }
    expect(channel.asked()).toBe(0);
  });

  it("is not what an agent does that waits for a person", async () => {
    const { channel, raw } = await asked();
    await (await channel.question(0)).approve();
    await raw.sees("\r\n\r\nok");
  });

  it("of a person's yes leaves the request unsent", async () => {
    const { channel, raw, host } = await asked();
    await (await channel.question(0)).deny();
    await raw.sees('"consent_denied"');
    expect(host.connections).toHaveLength(0);
  });
});
