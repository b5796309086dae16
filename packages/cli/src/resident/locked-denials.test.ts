import { expect, it } from "vitest";
import { createLockedDenials } from "./locked-denials.js";

it("createLockedDenials() says once how many calls of whom were denied, and from when to when", () => {
  let nowMs = Date.UTC(2026, 0, 15);
  const denials = createLockedDenials("While the key was locked", () => (nowMs += 1_000));
  expect(denials.take()).toBeUndefined();
  for (const agent of ["a", "b", "a"]) denials.count(agent);
  expect(denials.take()).toBe(
    'While the key was locked, calls were denied from 2026-01-15T00:00:01.000Z to 2026-01-15T00:00:03.000Z: "a" 2, "b" 1',
  );
  expect(denials.take()).toBeUndefined();
});

it("createLockedDenials() is as long for a flood of agents as for a few", () => {
  const denials = createLockedDenials("While it waited", () => 0);
  for (let n = 0; n < 10_000; n++) denials.count(`agent-${n}`.padEnd(100_000, "x"));
  const text = denials.take() ?? "";
  expect(text).toContain("other agents 9984");
  expect(text.length).toBeLessThan(10_000);
});
