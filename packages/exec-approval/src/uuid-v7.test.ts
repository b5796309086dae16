import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { createUuidV7, isUuidV7 } from "./uuid-v7.js";

const zeros = (count: number): Uint8Array => new Uint8Array(count);
const ones = (count: number): Uint8Array => new Uint8Array(count).fill(0xff);

describe("createUuidV7()", () => {
  it("puts milliseconds, version and variant where RFC 9562 has them", () => {
    const clock = manualClock(0x0194_44a0_1234);
    expect(createUuidV7({ clock, randomBytes: zeros })()).toBe(
      "019444a0-1234-7000-8000-000000000000",
    );
    expect(createUuidV7({ clock, randomBytes: ones })()).toBe(
      "019444a0-1234-77ff-bfff-ffffffffffff",
    );
  });

  it("counts up where the clock stands still or goes back, beyond one millisecond's ids too", () => {
    const clock = manualClock();
    const next = createUuidV7({ clock });
    const ids = Array.from({ length: 10_000 }, (_, at) => {
      if (at === 5_000) clock.jump(-60_000);
      return next();
    });
    expect(ids.every(isUuidV7)).toBe(true);
    expect([...new Set(ids)].sort()).toEqual(ids);
  });

  it("takes no clock that the form cannot hold", () => {
    for (const now of [-1, Number.NaN, 2 ** 48]) {
      expect(createUuidV7({ clock: { now: () => now } })).toThrow(
        expect.objectContaining({ code: "options_invalid" }),
      );
    }
  });
});

describe("isUuidV7()", () => {
  it.each([
    "019444a0-1234-4abc-8000-abcdef123456",
    "019444a0-1234-7abc-c000-abcdef123456",
    "019444A0-1234-7abc-8000-abcdef123456",
    "x",
    "",
  ])("is not %s", (text) => expect(isUuidV7(text)).toBe(false));
});
