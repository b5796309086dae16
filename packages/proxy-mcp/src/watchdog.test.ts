import { afterEach, describe, expect, it, vi } from "vitest";
import { runWithin } from "./watchdog.js";

afterEach(() => vi.restoreAllMocks());

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

  /** What the process says that it used, whatever it did. */
  const used = (ms: number): void =>
    void vi.spyOn(process, "cpuUsage").mockReturnValue({ user: ms * 600, system: ms * 400 });

  it("begins anew, with more time, where the process had too little of the processor, and gives up in the end", () => {
    used(19);
    let attempts = 0;
    const late = (): number => {
      if (++attempts < 3) for (;;);
      return attempts;
    };
    const result = runWithin(late, 20);
    // The third is stopped, too, where the machine stalls just then.
    expect([3, 4]).toContain(result.ended && result.value);
    attempts = 0;
    const never = (): never => {
      attempts++;
      for (;;);
    };
    expect(runWithin(never, 20)).toEqual({ ended: false });
    expect(attempts).toBe(4);
  });

  it("begins nothing anew that had its time", () => {
    used(20);
    let attempts = 0;
    const work = (): never => {
      attempts++;
      for (;;);
    };
    expect(runWithin(work, 20)).toEqual({ ended: false });
    expect(attempts).toBe(1);
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
