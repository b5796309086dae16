import { httpAction } from "@acp/core";
import { describe, expect, it } from "vitest";
import { LIMITS } from "./limits.js";
import { checkAnswer, checkHost, checkRequest, type RequestLine } from "./request-guard.js";

const line = (parts: Partial<RequestLine> & { headers?: readonly string[] } = {}): RequestLine => ({
  method: "GET",
  url: "http://a.example/",
  httpVersion: "1.1",
  rawHeaders: ["Host", "a.example", ...(parts.headers ?? [])],
  ...parts,
});
const refusedFor = (why: string): object =>
  expect.objectContaining({
    refusal: expect.objectContaining({
      code: "request_invalid",
      status: 400,
      reason: expect.stringContaining(why),
    }),
  });

describe("checkRequest()", () => {
  it("reads what has one reading", () => {
    expect(checkRequest(line(), LIMITS)).toEqual({
      method: "GET",
      target: "http://a.example/",
      framing: { kind: "none" },
      host: "a.example",
      upgrade: undefined,
      wantsTrailers: false,
    });
    expect(checkRequest(line({ headers: ["content-length", "7"] }), LIMITS).framing).toEqual({
      kind: "length",
      length: "7",
    });
    expect(
      checkRequest(line({ headers: ["Transfer-Encoding", "Chunked"] }), LIMITS).framing,
    ).toEqual({ kind: "chunked" });
    expect(
      checkRequest(
        line({ headers: ["Connection", "keep-alive, Upgrade", "Upgrade", "WebSocket"] }),
        LIMITS,
      ).upgrade,
    ).toBe("websocket");
    expect(checkRequest(line({ headers: ["Upgrade", "x"] }), LIMITS).upgrade).toBeUndefined();
    expect(checkRequest(line({ headers: ["TE", "gzip, Trailers"] }), LIMITS).wantsTrailers).toBe(
      true,
    );
    expect(checkRequest(line({ httpVersion: "1.0", rawHeaders: [] }), LIMITS).host).toBeUndefined();
  });

  it.each<[string, RequestLine, string]>([
    ["origin form", line({ url: "/x" }), "this is a proxy"],
    ["asterisk form", line({ method: "OPTIONS", url: "*" }), "this is a proxy"],
    ["authority form", line({ url: "a.example:80" }), "not an http:// URL"],
    ["https in plain", line({ url: "HTTPS://a.example/" }), "CONNECT"],
    ["another scheme", line({ url: "ftp://a.example/" }), "not an http:// URL"],
    ["a fragment", line({ url: "http://a.example/#x" }), "fragment"],
    ["a control in the target", line({ url: "http://a.example/\u0001" }), "character"],
    ["NUL in the target", line({ url: "http://a.example/\u0000" }), "character"],
    ["no ASCII in the target", line({ url: "http://a.example/\u00e9" }), "character"],
    ["a blank in the target", line({ url: "http://a.example/ x" }), "character"],
    ["an empty target", line({ url: "" }), "character"],
    ["HTTP/2.0", line({ httpVersion: "2.0" }), "neither"],
    ["HTTP/0.9", line({ httpVersion: "0.9" }), "neither"],
    ["two Hosts", line({ headers: ["HOST", "a.example"] }), "more than one Host"],
    ["no Host", line({ rawHeaders: [] }), "no Host"],
    [
      "too many headers",
      line({ rawHeaders: Array.from({ length: 514 }, () => "x") }),
      "more than 256",
    ],
    [
      "a length and a coding",
      line({ headers: ["Content-Length", "1", "Transfer-Encoding", "chunked"] }),
      "and Transfer-Encoding",
    ],
    [
      "two lengths",
      line({ headers: ["Content-Length", "1", "Content-Length", "1"] }),
      "not one number",
    ],
    ["a list of lengths", line({ headers: ["Content-Length", "1, 1"] }), "not one number"],
    ["a signed length", line({ headers: ["Content-Length", "+1"] }), "not one number"],
    [
      "a length beyond numbers",
      line({ headers: ["Content-Length", "9".repeat(16)] }),
      "not one number",
    ],
    [
      "two codings",
      line({ headers: ["Transfer-Encoding", "chunked", "Transfer-Encoding", "chunked"] }),
      "not exactly chunked",
    ],
    [
      "a list of codings",
      line({ headers: ["Transfer-Encoding", "gzip, chunked"] }),
      "not exactly chunked",
    ],
    ["another coding", line({ headers: ["Transfer-Encoding", "identity"] }), "not exactly chunked"],
    [
      "a coding in HTTP/1.0",
      line({ httpVersion: "1.0", headers: ["Transfer-Encoding", "chunked"] }),
      "HTTP/1.0",
    ],
    ["almost a coding", line({ headers: ["Transfer_Encoding", "chunked"] }), "looks like"],
    ["almost a length", line({ headers: ["Content Length", "1"] }), "looks like"],
    ["a control in a value", line({ headers: ["X", "a\u000bb"] }), "control"],
    ["NUL in a value", line({ headers: ["X", "a\u0000b"] }), "control"],
    [
      "h2c",
      line({
        headers: ["Connection", "Upgrade, HTTP2-Settings", "Upgrade", "h2c", "HTTP2-Settings", "x"],
      }),
      "HTTP/2",
    ],
    ["h2c without Connection", line({ headers: ["Upgrade", "H2C"] }), "HTTP/2"],
    ["h2c in a list", line({ headers: ["Upgrade", "websocket, h2c"] }), "HTTP/2"],
    ["HTTP2-Settings alone", line({ headers: ["http2-settings", "x"] }), "HTTP/2"],
    [
      "two protocols",
      line({ headers: ["Connection", "upgrade", "Upgrade", "a, b"] }),
      "not one protocol",
    ],
    [
      "an upgrade with a body",
      line({ headers: ["Connection", "upgrade", "Upgrade", "a", "Content-Length", "1"] }),
      "has no body",
    ],
    ["Connection that names Host", line({ headers: ["Connection", "Host"] }), "how to read it"],
    [
      "Connection that names the length",
      line({ headers: ["Connection", "close, content-length"] }),
      "how to read it",
    ],
    ["another expectation", line({ headers: ["Expect", "200-ok"] }), "Expect"],
    [
      "CONNECT with a body",
      line({ method: "CONNECT", url: "a.example:1", headers: ["Content-Length", "1"] }),
      "CONNECT has no body",
    ],
  ])("refuses %s", (_, head, why) => {
    expect(() => checkRequest(head, LIMITS)).toThrow(refusedFor(why));
  });
});

describe("checkHost()", () => {
  const check = (host: string, url: string, method = "GET"): void => {
    const checked = checkRequest(line({ method, url, rawHeaders: ["Host", host] }), LIMITS);
    checkHost(checked, httpAction(method, url));
  };

  it.each([
    ["a.example", "http://a.example/", "GET"],
    ["A.Example", "http://a.example/", "GET"],
    ["a.example:80", "http://a.example/", "GET"],
    ["a.example", "http://A.example.:80/", "GET"],
    ["a.example:81", "http://a.example:81/", "GET"],
    ["[::1]:81", "http://[0::1]:81/", "GET"],
    ["a.example:443", "a.example:443", "CONNECT"],
    ["a.example", "a.example:443", "CONNECT"],
  ])("takes Host %s for %s", (host, url, method) => {
    check(host, url, method);
  });

  it.each([
    ["b.example", "http://a.example/", "GET"],
    ["a.example:81", "http://a.example/", "GET"],
    ["a.example", "http://a.example:81/", "GET"],
    ["a.example@b.example", "http://a.example/", "GET"],
    ["a.example/", "http://a.example/", "GET"],
    ["a.example#", "http://a.example/", "GET"],
    ["a.example, b", "http://a.example/", "GET"],
    ["", "http://a.example/", "GET"],
    ["a.example:444", "a.example:443", "CONNECT"],
    ["b.example", "a.example:443", "CONNECT"],
  ])("refuses Host %j for %s", (host, url, method) => {
    expect(() => check(host, url, method)).toThrow(refusedFor("Host"));
  });
});

describe("checkAnswer()", () => {
  const answer = (...rawHeaders: readonly string[]): ReturnType<typeof checkAnswer> =>
    checkAnswer({ httpVersion: "1.1", rawHeaders }, LIMITS);
  it("reads framing as it does for requests", () => {
    expect(answer()).toEqual({ kind: "none" });
    expect(answer("Content-Length", "7")).toEqual({ kind: "length", length: "7" });
    expect(answer("Content-Length", "7", "Content-Length", "7")).toContain("not one number");
    expect(answer("Transfer-Encoding", "gzip, chunked")).toContain("not exactly chunked");
    expect(answer("X", "a\u0000")).toContain("control");
    expect(checkAnswer({ httpVersion: "2.0", rawHeaders: [] }, LIMITS)).toContain("neither");
    expect(
      checkAnswer(
        { httpVersion: "1.1", rawHeaders: Array.from({ length: 514 }, () => "x") },
        LIMITS,
      ),
    ).toContain("more than 256");
  });
});
