import { afterEach, describe, expect, it, vi } from "vitest";
import { randomIds, systemClock } from "./system.js";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("systemClock", () => {
  it("sleep() resolves after the time, not before", async () => {
    const startMs = systemClock.monotonic();
    await systemClock.sleep(20, { signal: new AbortController().signal });
    expect(systemClock.monotonic() - startMs).toBeGreaterThanOrEqual(19);
  });

  it("bootId() is one text of this process, and uptimeMs() never goes back", () => {
    expect(systemClock.bootId()).toMatch(/^process_[0-9a-f-]{36}$/);
    expect(systemClock.bootId()).toBe(systemClock.bootId());
    const before = systemClock.uptimeMs();
    vi.useFakeTimers({ toFake: ["Date"], now: 0 });
    expect(systemClock.now()).toBe(0);
    expect(systemClock.uptimeMs()).toBeGreaterThanOrEqual(before);
    expect(before).toBeLessThanOrEqual(performance.now());
  });

  it("sleep() rejects with the signal's reason, before and during", async () => {
    const stop = new AbortController();
    const sleeping = systemClock.sleep(60_000, { signal: stop.signal });
    stop.abort(new Error("enough"));
    await expect(sleeping).rejects.toThrow("enough");
    await expect(systemClock.sleep(1, { signal: stop.signal })).rejects.toThrow("enough");
  });

  it("sleep() in the background keeps no process alive, and no timer is left of one that was stopped", async () => {
    const timers = (): number =>
      process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    const before = timers();
    const stop = new AbortController();
    const { signal } = stop;
    const background = systemClock.sleep(60_000, { signal, background: true });
    expect(timers()).toBe(before);
    const sleeping = systemClock.sleep(60_000, { signal });
    expect(timers()).toBe(before + 1);
    stop.abort(new Error("enough"));
    expect(timers()).toBe(before);
    for (const each of [background, sleeping]) await expect(each).rejects.toThrow("enough");
  });

  it("sleep() takes longer than a timer can, too", async () => {
    vi.useFakeTimers();
    const delays = vi.spyOn(globalThis, "setTimeout");
    let isOver = false;
    void systemClock
      .sleep(5_000_000_000, { signal: new AbortController().signal })
      .then(() => (isOver = true));
    await vi.advanceTimersByTimeAsync(4_999_999_999);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(isOver).toBe(true);
    expect(delays.mock.calls.map(([, ms]) => ms)).toEqual([
      2_147_483_647, 2_147_483_647, 705_032_706,
    ]);
  });
});

describe("randomIds", () => {
  it("next() gives a prefixed version 4 UUID, a new one each time", () => {
    const ids = new Set(Array.from({ length: 1_000 }, () => randomIds.next("cr")));
    expect(ids.size).toBe(1_000);
    for (const id of ids)
      expect(id).toMatch(
        /^cr_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      );
  });
});
