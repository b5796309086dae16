/** Requests that must not get to anybody's server, and who sends them. */
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { readMessage } from "../src/listen/read-body.js";
import { begin, initialize, listening, raw, send, TOKENS } from "./support/http-agent.js";
import { inProcess } from "./support/in-process.js";
import fc from "fast-check";

const BODY = JSON.stringify(initialize());

describe("a listener", () => {
  it("serves requests to this machine and from no page, and nothing else", async () => {
    const server = inProcess();
    const at = await listening({ upstreams: [server.upstream] });
    const own = `127.0.0.1:${at.port}`;
    const statusOf = async (host: string, more = ""): Promise<string> => {
      const head = [
        "POST /mcp HTTP/1.1",
        ...(host === "" ? [] : [`Host: ${host}`]),
        `Authorization: Bearer ${TOKENS.ada}`,
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        `Content-Length: ${BODY.length}`,
        "Connection: close",
        ...(more === "" ? [] : [more]),
      ];
      return (await raw(at.port, `${head.join("\r\n")}\r\n\r\n${BODY}`)).slice(9, 12);
    };
    const refused: readonly (readonly [string, string, string])[] = [
      ["evil.example.com", "", "403"],
      [`evil.example.com:${at.port}`, "", "403"],
      ["127.0.0.1", "", "403"],
      [`127.0.0.1:${at.port + 1}`, "", "403"],
      [`localhost.evil.example:${at.port}`, "", "403"],
      [`127.0.0.1.nip.io:${at.port}`, "", "403"],
      [`user@127.0.0.1:${at.port}`, "", "403"],
      ["", "", "400"],
      [own, "Origin: null", "403"],
      [own, "Origin: http://evil.example.com", "403"],
      [own, `Origin: https://127.0.0.1:${at.port}`, "403"],
      [own, `Origin: http://127.0.0.1:${at.port + 1}`, "403"],
      [own, `Origin: http://127.0.0.1:${at.port}.evil.example`, "403"],
      [own, "Host: evil.example.com", "400"],
      [own, `Host: ${own}`, "400"],
      [own, `Authorization: Bearer ${TOKENS.bob}`, "400"],
      [own, "Content-Type: text/plain", "400"],
      [own, "Transfer-Encoding: chunked", "400"],
      [own, `Content-Length: ${BODY.length + 1}`, "400"],
      [own, "X-A: b\r\n X-Folded: c", "400"],
      [own, "X-A: a\u0000b", "400"],
    ];
    for (const [host, more, status] of refused)
      expect([host, more, await statusOf(host, more)]).toEqual([host, more, status]);
    const absolute = `POST http://${own}/mcp HTTP/1.1\r\nHost: ${own}\r\nConnection: close\r\n\r\n`;
    expect((await raw(at.port, absolute)).slice(9, 12)).toBe("400");
    expect(server.counts.started).toBe(0);
    for (const host of [own, `localhost:${at.port}`, `[::1]:${at.port}`, `LOCALHOST:${at.port}`])
      expect([host, await statusOf(host, `Origin: http://${host}`)]).toEqual([host, "200"]);
  });

  it("wants a token that is known, and says nowhere which ones it was given", async () => {
    const server = inProcess();
    const at = await listening({ upstreams: [server.upstream] });
    for (const authorization of [
      "",
      "Basic YTpi",
      "Bearer",
      "Bearer nobody",
      `Bearer ${TOKENS.ada} x`,
    ]) {
      const answer = await send(at, { token: "", body: BODY, headers: { authorization } });
      expect(answer.status).toBe(401);
      expect(answer.headers.get("www-authenticate")).toContain("Bearer");
      await answer.text();
    }
    expect(server.counts.started).toBe(0);
    expect(at.logs.join("\n")).not.toContain("nobody");
  });

  it("says what is wrong with a request by its status, and never allows another origin", async () => {
    const server = inProcess();
    const at = await listening({ upstreams: [server.upstream] });
    const headers = await begin(at);
    const cases: readonly (readonly [number, Parameters<typeof send>[1]])[] = [
      [404, { path: "/", body: BODY }],
      [404, { path: "/mcp/", body: BODY }],
      [404, { path: "/.well-known/oauth-protected-resource", method: "GET" }],
      [405, { method: "PUT", body: BODY }],
      [405, { method: "OPTIONS" }],
      [405, { path: "/messages", method: "GET" }],
      [405, { method: "GET" }],
      [415, { headers: { "content-type": "text/plain" }, body: BODY }],
      [415, { headers: { "content-type": "application/json; charset=utf-16" }, body: BODY }],
      [415, { headers: { "content-encoding": "gzip" }, body: BODY }],
      [406, { headers: { accept: "application/json" }, body: BODY }],
      [406, { method: "GET", headers: { ...headers, accept: "application/json" } }],
      [400, { body: "" }],
      [400, { body: "{" }],
      [400, { body: `${BODY}${BODY}` }],
      [400, { body: `[${BODY}]` }],
      [400, { body: '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}' }],
      [
        400,
        { body: '{"jsonrpc":"2.0","id":1,"method":"vendor/x","params":{"a":"b\nc"}}', headers },
      ],
      [400, { body: { jsonrpc: "2.0", method: "tools/call", params: { name: "echo" } }, headers }],
      [400, { body: { jsonrpc: "2.0", id: 1, method: "ping" } }],
      [
        404,
        { body: { jsonrpc: "2.0", id: 1, method: "ping" }, headers: { "mcp-session-id": "x" } },
      ],
      [400, { body: BODY, headers }],
      [
        400,
        {
          body: { jsonrpc: "2.0", id: 1, method: "ping" },
          headers: { ...headers, "mcp-protocol-version": "1.0" },
        },
      ],
      [404, { path: "/messages?sessionId=x", body: BODY }],
    ];
    for (const [status, sent] of cases) {
      const answer = await send(at, sent);
      expect([sent, answer.status]).toEqual([sent, status]);
      expect(answer.headers.get("access-control-allow-origin")).toBeNull();
      await answer.text();
    }
    expect(server.lines.filter((line) => !/initialize/u.test(line))).toEqual([]);
  });

  it("takes a message of up to 10 MiB, and no longer one, announced or not", async () => {
    const server = inProcess();
    const at = await listening({ upstreams: [server.upstream] });
    const headers = await begin(at);
    const notify = (length: number): string => {
      const frame = '{"jsonrpc":"2.0","method":"notifications/v","params":{"a":""}}';
      return frame.replace('""', `"${"x".repeat(length - frame.length)}"`);
    };
    const limit = 10 * 1024 * 1024 - 1;
    const fits = await send(at, { headers, body: notify(limit) });
    expect(fits.status).toBe(202);
    const long = await send(at, { headers, body: notify(limit + 1) });
    expect(long.status).toBe(413);
    await long.text();
    const chunk = `8000\r\n${"x".repeat(0x8000)}\r\n`;
    const head = [
      "POST /mcp HTTP/1.1",
      `Host: 127.0.0.1:${at.port}`,
      `Authorization: Bearer ${TOKENS.ada}`,
      "Content-Type: application/json",
      "Accept: application/json, text/event-stream",
      "Transfer-Encoding: chunked",
    ];
    const endless = await raw(at.port, `${head.join("\r\n")}\r\n\r\n${chunk.repeat(330)}`);
    expect(endless.slice(9, 12)).toBe("413");
  });

  it("asks for a body only once it knows whose it is", async () => {
    const at = await listening({ upstreams: [inProcess().upstream] });
    const head = (token: string): string =>
      [
        "POST /mcp HTTP/1.1",
        `Host: 127.0.0.1:${at.port}`,
        `Authorization: Bearer ${token}`,
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        "Content-Length: 2",
        "Connection: close",
        "Expect: 100-continue",
      ].join("\r\n");
    expect(await raw(at.port, `${head("nobody")}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 401/u);
    expect(await raw(at.port, `${head(TOKENS.ada)}\r\n\r\n{}`)).toMatch(
      /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 400/u,
    );
  });

  it("ends what was opened before its token was taken away, and lets no new request in", async () => {
    const at = await listening({ upstreams: [inProcess().upstream] });
    const headers = await begin(at);
    at.tokens.delete(TOKENS.ada);
    const answer = await send(at, { headers, body: { jsonrpc: "2.0", id: 1, method: "ping" } });
    expect(answer.status).toBe(401);
    await answer.text();
  });

  it("takes no message whose token was taken away while its body came", async () => {
    const server = inProcess();
    const at = await listening({ upstreams: [server.upstream] });
    const head = [
      "POST /mcp HTTP/1.1",
      `Host: 127.0.0.1:${at.port}`,
      `Authorization: Bearer ${TOKENS.ada}`,
      "Content-Type: application/json",
      "Accept: application/json, text/event-stream",
      `Content-Length: ${BODY.length}`,
      "Expect: 100-continue",
    ].join("\r\n");
    const socket = connect(at.port, "127.0.0.1", () => socket.write(`${head}\r\n\r\n`));
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
    // The token was looked at.
    await expect.poll(() => text).toContain("100 Continue");
    at.tokens.delete(TOKENS.ada);
    socket.write(BODY);
    await expect.poll(() => text).toContain("HTTP/1.1 401");
    socket.destroy();
    expect(server.counts.started).toBe(0);
  });
});

describe("a connection", () => {
  it("that sends no head ends, and the oldest of them where there are too many", async () => {
    const at = await listening({ upstreams: [inProcess().upstream], connectionsMax: 2 });
    const silent = [raw(at.port, ""), raw(at.port, "POST /mcp HTTP/1.1\r\nHost:")];
    const answer = await send(at, { method: "GET", token: "", headers: { connection: "close" } });
    expect(answer.status).toBe(401);
    await answer.text();
    expect(await Promise.race(silent)).toBe("");
    await at.clock.advance(10_000);
    expect(await Promise.all(silent)).toEqual(["", ""]);
  });
});

describe("readMessage()", () => {
  it("gives a line of the same JSON, without a break in it, or nothing", () => {
    fc.assert(
      fc.property(
        fc.json(),
        fc.array(fc.constantFrom(" ", "\n", "\r", "\r\n", "\t")),
        (json, blanks) => {
          const spaced = blanks.join("");
          const text = `${spaced}{"jsonrpc":"2.0",${spaced}"method":"notifications/x","params":{"a":${json}}}${spaced}`;
          const read = readMessage(Buffer.from(text));
          if ("refusal" in read) return;
          const { line } = read.message;
          expect(line.subarray(0, -1).includes(0x0a) || line.includes(0x0d)).toBe(false);
          expect(line.at(-1)).toBe(0x0a);
          expect(JSON.parse(line.toString())).toEqual(JSON.parse(text));
          expect(line.length).toBe(Buffer.byteLength(text) + 1);
        },
      ),
    );
  });

  it("never throws, and takes nothing that is not JSON", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect("refusal" in readMessage(Buffer.from(bytes))).toBe(true);
      }),
    );
  });
});
