/** Answers of hosts on their way back. */
import { describe, expect, it } from "vitest";
import { hasHead, until } from "./support/raw.js";
import { client, errorOf, start } from "./support/started.js";

const HINT = "HTTP/1.1 103 Early Hints\r\nX: 1\r\n\r\n";

describe("an answer", () => {
  const get = async (answer: string, request = "GET", version = "1.1"): Promise<string> => {
    const { port, host } = await start({
      onData: (connection) => {
        if (hasHead(connection)) connection.socket.end(Buffer.from(answer, "latin1"));
      },
    });
    const { end, ended } = await client(port);
    end(
      `${request} http://127.0.0.1:${host.port}/ HTTP/${version}\r\nHost: 127.0.0.1:${host.port}\r\n\r\n`,
    );
    return ended();
  };

  it("passes with its headers in their order, without those of its connection", async () => {
    const text = await get(
      "HTTP/1.1 299 Odd One\r\nServer: x\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nConnection: X-Gone\r\nX-Gone: 1\r\nX-Latin: \u00e9\r\nContent-Length: 2\r\n\r\nhi",
    );
    expect(text).toMatch(
      /^HTTP\/1\.1 299 Odd One\r\nServer: x\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nX-Latin: \u00e9\r\nContent-Length: 2\r\n(?:Connection: [^\r]+\r\n)?\r\nhi$/,
    );
  });

  it("in chunks passes with its trailers", async () => {
    const text = await get(
      "HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 7\r\nSet-Cookie: late\r\n\r\n",
    );
    expect(text).toContain("3\r\nabc\r\n0\r\nX-Sum: 7\r\n\r\n");
    expect(text).toContain("Trailer: X-Sum\r\n");
    expect(text).not.toContain("late");
  });

  it("without a length passes in chunks, or to HTTP/1.0 to the end", async () => {
    expect(await get("HTTP/1.1 200 OK\r\n\r\nabc")).toContain("\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
    const old = await get("HTTP/1.1 200 OK\r\n\r\nabc", "GET", "1.0");
    expect(old).toMatch(/\r\n\r\nabc$/);
    expect(old).not.toContain("chunked");
  });

  it.each([
    ["204", "GET", "HTTP/1.1 204 No Content\r\nX: 1\r\n\r\n"],
    ["304", "GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n"],
    ["HEAD", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"],
  ])("has no body: %s", async (_, method, answer) => {
    const text = await get(answer, method);
    expect(text.endsWith("\r\n\r\n")).toBe(true);
    expect(text.split("\r\n\r\n")).toHaveLength(2);
    expect(text.includes("99")).toBe(answer.includes("99"));
  });

  it("is preceded by early hints", async () => {
    const text = await get(
      "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\nConnection: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    );
    expect(text).toMatch(
      /^HTTP\/1\.1 103 Early Hints\r\nLink: <\/a>; rel=preload\r\n\r\nHTTP\/1\.1 200 OK\r\n/,
    );
  });

  it("is preceded by 64 interim answers at most", async () => {
    const text = await get(`${HINT.repeat(64)}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`);
    expect(text.split(HINT)).toHaveLength(65);
    expect(text).toMatch(/\r\n\r\nok$/);
  });

  it.each([
    [
      "two lengths",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
      "upstream_invalid",
    ],
    [
      "a length and a coding",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "upstream_invalid",
    ],
    [
      "a coding that is not chunked",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      "upstream_invalid",
    ],
    [
      "a folded header",
      "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 2\r\n\r\nok",
      "upstream_invalid",
    ],
    [
      "another protocol",
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
      "upstream_invalid",
    ],
    ["no HTTP", "SSH-2.0-x\r\n", "upstream_invalid"],
    [
      "300 headers",
      `HTTP/1.1 200 OK\r\n${"X: 1\r\n".repeat(300)}Content-Length: 0\r\n\r\n`,
      "upstream_invalid",
    ],
    [
      "a head that is too long",
      `HTTP/1.1 200 OK\r\nX: ${"x".repeat(20_000)}\r\nContent-Length: 0\r\n\r\n`,
      "upstream_invalid",
    ],
    [
      "65 interim answers before it",
      `${HINT.repeat(65)}HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n`,
      "upstream_invalid",
    ],
    ["nothing", "", "upstream_unreachable"],
  ])("with %s is not forwarded", async (_, answer, code) => {
    const text = (await get(answer)).replaceAll(HINT, "");
    expect(text).toMatch(/^HTTP\/1\.1 502 /);
    expect(errorOf(text)).toMatchObject({ code });
  });

  it("that breaks off breaks off", async () => {
    const cut = await get("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
    expect(cut).toContain("3\r\nabc\r\n");
    expect(cut).not.toContain("0\r\n\r\n");
    expect(await get("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")).toMatch(/\r\n\r\nabc$/);
  });

  it("that comes before the request's end passes, and both sides are let go", async () => {
    const { port, host, counted } = await start({
      onData: (connection) => {
        if (hasHead(connection))
          connection.socket.end("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno");
      },
    });
    const { write, sees, end, ended } = await client(port);
    write(
      `POST http://127.0.0.1:${host.port}/ HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\nContent-Length: 1000000\r\n\r\nabc`,
    );
    await sees("\r\n\r\nno");
    await until(() => host.open() === 0, "for the host's socket to close");
    end();
    await ended();
    await until(() => counted("requests", { outcome: "performed" }) === 1, "for the count");
  });
});
