import fc from "fast-check";
import { expect, it } from "vitest";
import { createUseWindow } from "./use-window.js";
import { createUseWindows } from "./use-windows.js";

const claimOf = (key: string, windowMs = 100) => ({ key, amount: 1, max: 3, windowMs });

it("createUseWindows() forgets keys all of whose uses have left, and keeps no key that was only asked about", () => {
  const windows = createUseWindows();
  for (let at = 0; at < 10_000; at++) {
    windows.add(claimOf(`k${at}`), at);
    expect(windows.waitMs(claimOf(`other${at}`), at)).toBe(0);
  }
  // 100 of them count at any time.
  expect(windows.size()).toBeLessThanOrEqual(256);
  const last = windows.add(claimOf("last"), 10_000);
  const size = windows.size();
  windows.drop(last, 10_000);
  expect(windows.size()).toBe(size - 1);
});

it("createUseWindows() forgets no key that counts, also by the longest window that was claimed of it", () => {
  const windows = createUseWindows();
  for (let at = 0; at < 3; at++) windows.add(claimOf("long", 10_000), 0);
  windows.add(claimOf("long", 100), 0);
  for (let at = 0; at < 1_000; at++) windows.add(claimOf(`k${at}`), 5_000 + at);
  expect(windows.waitMs(claimOf("long", 10_000), 6_000)).toBeGreaterThan(0);
});

it("createUseWindows() says of each key what a window of its own would say, whatever is forgotten", () => {
  const steps = fc.array(
    fc.record({
      waitMs: fc.nat(80),
      key: fc.nat(200),
      drop: fc.option(fc.nat(20), { nil: undefined }),
    }),
    { maxLength: 400 },
  );
  fc.assert(
    fc.property(steps, (list) => {
      const windows = createUseWindows();
      const plain = new Map<string, ReturnType<typeof createUseWindow>>();
      const uses: (() => void)[] = [];
      let nowMs = 0;
      for (const step of list) {
        nowMs += step.waitMs;
        const claim = claimOf(`k${step.key}`, 1_000);
        const own = plain.get(claim.key) ?? createUseWindow();
        plain.set(claim.key, own);
        expect(windows.waitMs(claim, nowMs)).toBe(own.waitMs(claim, nowMs));
        const use = windows.add(claim, nowMs);
        const ownUse = own.add(claim, nowMs);
        uses.push(() => {
          windows.drop(use, nowMs);
          own.drop(ownUse);
        });
        if (step.drop !== undefined) uses[uses.length - 1 - step.drop]?.();
      }
    }),
  );
});
