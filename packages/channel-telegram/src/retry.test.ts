import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { WAIT_MS_MAX, isTemporary, isTokenRefused, pause, waitMsAfter } from "./retry.js";

const failed = (
  status: number,
): { readonly ok: false; readonly status: number; readonly why: string } => ({
  ok: false,
  status,
  why: "",
});

describe("isTemporary()", () => {
  it("is so of failures that pass, and of no other", () => {
    expect([0, 429, 500, 502, 503].filter((status) => !isTemporary(failed(status)))).toEqual([]);
    expect([400, 401, 403, 404, 409, 413].filter((status) => isTemporary(failed(status)))).toEqual(
      [],
    );
  });
});

describe("isTokenRefused()", () => {
  it("is so of the replies to a token that is not good", () => {
    expect([401, 404].every((status) => isTokenRefused(failed(status)))).toBe(true);
    expect([0, 400, 403, 409, 500].some((status) => isTokenRefused(failed(status)))).toBe(false);
    expect(isTokenRefused({ ok: true, result: true })).toBe(false);
  });
});

describe("waitMsAfter()", () => {
  it("doubles to a minute, with jitter", () => {
    for (let count = 0; count < 40; count++) {
      const most = Math.min(WAIT_MS_MAX, 1_000 * 2 ** count);
      const waits = Array.from({ length: 50 }, () => waitMsAfter(failed(0), count));
      expect(Math.max(...waits)).toBeLessThanOrEqual(most);
      expect(Math.min(...waits)).toBeGreaterThan(most / 2);
      expect(new Set(waits).size).toBeGreaterThan(1);
    }
  });

  it("is what the service asks for", () => {
    expect(waitMsAfter({ ...failed(429), retryAfterMs: 7_000 }, 5)).toBe(7_000);
  });
});

describe("pause()", () => {
  it("says whether it was waited out", async () => {
    const clock = manualClock();
    const stop = new AbortController();
    const [first, second] = [pause(clock, 100, stop.signal), pause(clock, 1_000, stop.signal)];
    await clock.advance(100);
    stop.abort();
    expect([await first, await second]).toEqual([true, false]);
  });
});
