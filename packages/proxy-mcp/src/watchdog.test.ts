import { describe, expect, it } from "vitest";
import { runWithin } from "./watchdog.js";

describe("runWithin()", () => {
  it("gives the value of work that ends", () => {
    expect(runWithin(() => ({ a: 1 }), 50)).toEqual({ ended: true, value: { a: 1 } });
    expect(runWithin(() => undefined, 50)).toEqual({ ended: true, value: undefined });
  });

  it("stops a loop", () => {
    const work = (): never => {
      for (;;);
    };
    expect(runWithin(work, 20)).toEqual({ ended: false });
  });

  it("stops a regular expression", () => {
    expect(runWithin(() => /^(a+)+$/.test(`${"a".repeat(60)}!`), 20)).toEqual({ ended: false });
  });

  it("throws what the work throws", () => {
    const work = (): never => {
      throw new RangeError("broken");
    };
    expect(() => runWithin(work, 20)).toThrow(new RangeError("broken"));
  });

  it("works again after it stopped something", () => {
    expect(runWithin(() => 7, 20)).toEqual({ ended: true, value: 7 });
  });
});
