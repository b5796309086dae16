import fc from "fast-check";
import { expect, it } from "vitest";
import { manualClock } from "@acp/testing";
import { memoryLimits } from "./memory-limits.js";
import type { UseWindow } from "./use-window.js";

const claimOf = (key: string, windowMs = 100) => ({ key, amount: 1, max: 3, windowMs });

it("memoryLimits() forgets keys all of whose uses have left, and keeps no key that was refused", async () => {
  const clock = manualClock();
  const kept = new Map<string, UseWindow>();
  const limits = memoryLimits(clock, kept);
  for (let at = 0; at < 5_000; at++) {
    expect(await limits.reserve([claimOf(`k${at}`)])).toMatchObject({ ok: true });
    const refused = await limits.reserve([{ ...claimOf(`other${at}`), amount: 4 }]);
    expect(refused.ok).toBe(false);
    await clock.advance(1);
  }
  // 100 of them count at any time.
  expect(kept.size).toBeLessThanOrEqual(400);
  expect([...kept.keys()].some((key) => key.startsWith("other"))).toBe(false);
});

it("memoryLimits() forgets no key that counts, also by the longest window that was claimed of it", async () => {
  const clock = manualClock();
  const limits = memoryLimits(clock);
  for (let at = 0; at < 3; at++) await limits.reserve([claimOf("long", 10_000)]);
  await clock.advance(5_000);
  for (let at = 0; at < 1_000; at++) await limits.reserve([claimOf(`k${at}`)]);
  expect(await limits.reserve([claimOf("long", 10_000)])).toMatchObject({
    ok: false,
    retryAfterMs: 5_000,
  });
});

it("memoryLimits() says of each key what it says where nothing is ever forgotten", async () => {
  const steps = fc.array(
    fc.record({ waitMs: fc.nat(80), key: fc.nat(200), isUsed: fc.boolean() }),
    { maxLength: 400 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const clock = manualClock();
      const limits = memoryLimits(clock);
      // One of a key each: it has nothing to forget.
      const alone = new Map<number, ReturnType<typeof memoryLimits>>();
      for (const { waitMs, key, isUsed } of list) {
        await clock.advance(waitMs);
        const own = alone.get(key) ?? memoryLimits(clock);
        alone.set(key, own);
        const claim = [claimOf(`k${key}`, 1_000)];
        const [one, other] = [await limits.reserve(claim), await own.reserve(claim)];
        expect({ ...one, id: "" }).toEqual({ ...other, id: "" });
        if (one.ok) await limits.settle(one.id, isUsed);
        if (other.ok) await own.settle(other.id, isUsed);
      }
    }),
  );
});
