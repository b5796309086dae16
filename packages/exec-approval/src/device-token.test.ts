import { describe, expect, it } from "vitest";
import { hashDeviceToken, makeDeviceToken, tokenOf } from "./device-token.js";

const token = "x".repeat(43);

describe("makeDeviceToken()", () => {
  it("makes 256 random bits, each time others", () => {
    const tokens = Array.from({ length: 100 }, makeDeviceToken);
    expect(new Set(tokens).size).toBe(100);
    for (const each of tokens) expect(each).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });
});

describe("hashDeviceToken()", () => {
  it("is the SHA-256 of its bytes", () => {
    expect(hashDeviceToken("a".repeat(32))).toBe(
      "sha256:3ba3f5f43b92602683c19aee62a20342b084dd5971ddd33808d81a328879a547",
    );
  });

  it.each(["", "x".repeat(31), "x".repeat(513), "pass word".repeat(8)])("refuses %j", (bad) => {
    expect(() => hashDeviceToken(bad)).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
  });
});

describe("tokenOf()", () => {
  it.each([
    [{ authorization: `Bearer ${token}` }, token],
    [{ authorization: `bearer ${token}` }, token],
    [{ "sec-websocket-protocol": `acp-exec.v1, bearer.${token}` }, token],
    [{ "sec-websocket-protocol": `bearer.${token},acp-exec.v1` }, token],
    [{}, undefined],
    [{ authorization: "" }, undefined],
    [{ authorization: token }, undefined],
    [{ authorization: `Bearer  ${token}` }, undefined],
    [{ authorization: `Bearer ${token} ` }, undefined],
    [
      { authorization: `Bearer ${token}`, "sec-websocket-protocol": `bearer.${"y".repeat(43)}` },
      token,
    ],
    [{ authorization: "Basic x", "sec-websocket-protocol": `bearer.${token}` }, undefined],
    [{ "sec-websocket-protocol": `bearer.${token}, bearer.${token}` }, undefined],
    [{ "sec-websocket-protocol": "bearer.short" }, undefined],
  ])("of %j", (headers, want) => expect(tokenOf(headers)).toBe(want));
});
