import { afterEach, describe, expect, it, vi } from "vitest";
import type { JsonValue } from "../json/value.js";
import { conditions, createZoneClocks } from "./conditions.js";
import type { TimeTest } from "./conditions.js";
import { readWhole } from "./shape.js";
import { spotOf } from "./spot.js";

const parse = (time_of_day: JsonValue, uncertain = false, warnings: string[] = []): TimeTest =>
  readWhole(conditions, spotOf({ time_of_day }, []), {
    clocks: createZoneClocks(),
    uncertain,
    warn: (warning) => warnings.push(warning),
  });

describe("conditions", () => {
  it.each([Number.NaN, Number.POSITIVE_INFINITY, 8.64e15 + 1, -8.65e15])(
    "answers the safe way at %d, which is no moment",
    (nowMs) => {
      expect(parse({ after: "00:00", before: "23:59" }, false)(nowMs)).toBe(false);
      expect(parse({ after: "00:00", before: "23:59" }, true)(nowMs)).toBe(true);
    },
  );

  it("says that a window without ends is none", () => {
    expect(() => parse({ timezone: "UTC" })).toThrow('it has neither "after" nor "before"');
    expect(() => parse({ after: "09:00", before: "09:00" })).toThrow(
      '"after" and "before" are the same minute',
    );
  });

  it("says that a missing timezone is read as UTC", () => {
    const warnings: string[] = [];
    parse({ after: "09:00" }, false, warnings);
    expect(warnings).toEqual(["time_of_day has no timezone; it is read as UTC"]);
  });
});

describe("createZoneClocks()", () => {
  afterEach(() => void vi.restoreAllMocks());

  it("asks Intl once a minute", () => {
    const format = vi.spyOn(
      Intl.DateTimeFormat.prototype as { readonly format: unknown },
      "format",
      "get",
    );
    const clock = createZoneClocks()("Asia/Tokyo");
    const start = Date.UTC(2026, 0, 5, 12);
    for (let ms = 0; ms < 60_000; ms += 100) expect(clock(start + ms)).toBe(21 * 60);
    expect(format).toHaveBeenCalledTimes(1);
    expect(clock(start + 60_000)).toBe(21 * 60 + 1);
    expect(format).toHaveBeenCalledTimes(2);
  });

  it("makes one clock a zone", () => {
    const clocks = createZoneClocks();
    expect(clocks("Europe/Berlin")).toBe(clocks("Europe/Berlin"));
  });
});
