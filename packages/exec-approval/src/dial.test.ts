import { describe, expect, it } from "vitest";
import { makeDeviceToken } from "./device-token.js";
import { readAddress, redialDelayMs } from "./dial.js";

describe("readAddress()", () => {
  const token = makeDeviceToken();

  it.each([
    "ws://127.0.0.1:1",
    "ws://127.8.9.1",
    "ws://localhost:80/exec",
    "ws://[::1]:7",
    "wss://gateway.example",
  ])("takes %s", (url) => {
    expect(readAddress({ url, token }).token).toBe(token);
  });

  it.each([
    "ws://gateway.example",
    "ws://10.0.0.1",
    "ws://localhost.example",
    "ws://127.0.0.1.example",
    "ws://0.0.0.0",
    "http://127.0.0.1",
    "wss://me:secret@gateway.example",
    "wss://gateway.example/?token=x",
    "wss://gateway.example/#x",
    "gateway",
    "",
  ])("refuses %s", (url) => {
    expect(() => readAddress({ url, token })).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
  });

  it.each(["", "short", "x".repeat(31), `${"x".repeat(40)}\n`, "ä".repeat(40), "x".repeat(513)])(
    "refuses the token %j, and does not say it",
    (bad) => {
      expect(() => readAddress({ url: "ws://127.0.0.1", token: bad })).toThrow(
        /^Cannot use the gateway's address: its token does not have 32/,
      );
    },
  );
});

describe("redialDelayMs()", () => {
  it("doubles from 500 ms to 30 s, half of it by chance", () => {
    expect([0, 1, 2, 3, 6, 7, 1_000_000].map((failures) => redialDelayMs(failures, 1))).toEqual([
      500, 1_000, 2_000, 4_000, 30_000, 30_000, 30_000,
    ]);
    expect([0, 6].map((failures) => redialDelayMs(failures, 0))).toEqual([250, 15_000]);
  });
});
