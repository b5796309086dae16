import { describe, expect, it } from "vitest";
import { endToEnd, requestHeaders, type RequestTerms, trailersOf } from "./headers.js";

const NONE = { kind: "none" } as const;
const CHUNKED = { kind: "chunked" } as const;

describe("endToEnd()", () => {
  it.each([
    "Connection",
    "Keep-Alive",
    "Proxy-Connection",
    "Proxy-Authorization",
    "Proxy-Authenticate",
    "Proxy-Status",
    "TE",
    "Transfer-Encoding",
    "Upgrade",
    "Host",
    "Content-Length",
    "HTTP2-Settings",
  ])("leaves %s where it is", (name) => {
    expect(endToEnd(["A", "1", name, "x", name.toUpperCase(), "y", "B", "2"], NONE)).toEqual([
      "A",
      "1",
      "B",
      "2",
    ]);
  });

  it("leaves what Connection names, in every one of them", () => {
    expect(
      endToEnd(
        ["Connection", "close, x-a", "X-A", "1", "connection", "X-B ,", "x-b", "2", "X-C", "3"],
        NONE,
      ),
    ).toEqual(["X-C", "3"]);
  });

  it("keeps order, case and repetition of the others", () => {
    const headers = ["b", "1", "A", "2", "B", "3", "Via", "1.1 x"];
    expect(endToEnd(headers, NONE)).toEqual(headers);
  });

  it("keeps Trailer only where trailers can follow, and drops what it is told to", () => {
    expect(endToEnd(["Trailer", "x"], NONE)).toEqual([]);
    expect(endToEnd(["Trailer", "x"], CHUNKED)).toEqual(["Trailer", "x"]);
    expect(endToEnd(["X-Agent-ID", "x"], NONE, new Set(["x-agent-id"]))).toEqual([]);
  });
});

describe("requestHeaders()", () => {
  const terms: RequestTerms = {
    method: "GET",
    host: "a:81",
    framing: NONE,
    wantsTrailers: false,
    upgrade: undefined,
    isKept: true,
  };
  it("writes Host, framing and Connection anew", () => {
    expect(requestHeaders(["X", "1"], terms)).toEqual([
      "Host",
      "a:81",
      "X",
      "1",
      "Connection",
      "keep-alive",
    ]);
    expect(requestHeaders([], { ...terms, isKept: false })).toEqual([
      "Host",
      "a:81",
      "Connection",
      "close",
    ]);
    expect(requestHeaders([], { ...terms, method: "POST" })).toContain("Content-Length");
    expect(
      requestHeaders([], { ...terms, framing: { kind: "length", length: "7" } }).slice(2, 4),
    ).toEqual(["Content-Length", "7"]);
    expect(requestHeaders([], { ...terms, framing: CHUNKED }).slice(2, 4)).toEqual([
      "Transfer-Encoding",
      "chunked",
    ]);
    expect(requestHeaders([], { ...terms, wantsTrailers: true }).slice(2)).toEqual([
      "Connection",
      "keep-alive, TE",
      "TE",
      "trailers",
    ]);
    expect(requestHeaders([], { ...terms, upgrade: "websocket" }).slice(2)).toEqual([
      "Connection",
      "Upgrade",
      "Upgrade",
      "websocket",
    ]);
  });
});

describe("trailersOf()", () => {
  it("passes none that says how to read, route or authenticate", () => {
    expect(
      trailersOf([
        "X-Sum",
        "1",
        "Host",
        "a",
        "Content-Length",
        "1",
        "authorization",
        "x",
        "Proxy-Foo",
        "x",
        "Set-Cookie",
        "x",
      ]),
    ).toEqual([["X-Sum", "1"]]);
  });
});
