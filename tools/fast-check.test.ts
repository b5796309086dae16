import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inLane, isDeep } from "./deep.js";
import { runsInLane } from "./fast-check.js";

describe("fc.assert()", () => {
  it("tries every case in the deep lane and a tenth in the quick one, as Vitest loads it", () => {
    let tried = 0;
    const count = fc.property(fc.nat(), () => void tried++);
    fc.assert(count, { numRuns: 500 });
    expect(tried).toBe(process.env["ACP_RUNS"] === undefined ? inLane(500) : 500);
    expect(inLane(500)).toBe(isDeep ? 500 : 50);
  });

  it("tries no fewer than a small search asks for", () => {
    expect(runsInLane(5)).toBe(5);
    expect(runsInLane(100)).toBeGreaterThanOrEqual(20);
  });

  it("fails where a case fails", () => {
    expect(() => fc.assert(fc.property(fc.nat(), () => false))).toThrow("Property failed");
  });
});
