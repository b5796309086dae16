import { describe, expect, it } from "vitest";
import { isWorthRetrying, readRetryAfter, retryDelayMs } from "./retry.js";

describe("isWorthRetrying()", () => {
  it.each([408, 429, 500, 502, 503, 504])("tries again after %i", (status) => {
    expect(isWorthRetrying(status)).toBe(true);
  });

  it.each([101, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 405, 410, 413, 422])(
    "does not after %i",
    (status) => {
      expect(isWorthRetrying(status)).toBe(false);
    },
  );
});

describe("readRetryAfter()", () => {
  const nowMs = Date.parse("2026-01-15T10:30:00Z");

  it.each([
    ["120", 120_000],
    ["0", 0],
    ["Thu, 15 Jan 2026 10:31:00 GMT", 60_000],
    ["Thu, 15 Jan 2026 10:29:00 GMT", 0],
  ])("reads %s", (header, want) => {
    expect(readRetryAfter(header, nowMs)).toBe(want);
  });

  it.each([
    undefined,
    "",
    "soon",
    "-5",
    "1.5",
    "1e3",
    "2026-01-15",
    "9999999999",
    "GMT",
    "later GMT",
  ])("asks for nothing: %s", (header) => {
    expect(readRetryAfter(header, nowMs)).toBe(0);
  });
});

describe("retryDelayMs()", () => {
  it("waits 5 s, 30 s, 2 min, 5 min, then 15 min each time, a fifth more or less", () => {
    const planned = [5_000, 30_000, 120_000, 300_000, 900_000, 900_000, 900_000];
    expect(planned.map((_, at) => retryDelayMs(at + 1, 0, 0.5))).toEqual(planned);
    expect(retryDelayMs(1, 0, 0)).toBe(4_000);
    expect(retryDelayMs(1, 0, 1)).toBe(6_000);
    expect(retryDelayMs(1_000_000, 0, 0.5)).toBe(900_000);
  });

  it("waits at least as long as the receiver asks", () => {
    expect(retryDelayMs(1, 60_000, 0.5)).toBe(60_000);
    expect(retryDelayMs(2, 1_000, 0.5)).toBe(30_000);
  });
});
