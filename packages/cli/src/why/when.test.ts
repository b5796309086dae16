import { describe, expect, it, onTestFinished } from "vitest";
import { AROUND_MS, looksLikeTime, readMoment } from "./when.js";
import { showLocal, zoneName } from "./zone.js";

function inZone(zone: string): void {
  const before = process.env["TZ"];
  process.env["TZ"] = zone;
  onTestFinished(() => {
    if (before === undefined) delete process.env["TZ"];
    else process.env["TZ"] = before;
  });
}

/** 2026-11-26T10:00:00Z, 11:00 in Berlin. */
const NOW_MS = Date.UTC(2026, 10, 26, 10);
const at = (text: string): string | undefined => {
  const { atMs } = readMoment(text, NOW_MS);
  return atMs === undefined ? undefined : new Date(atMs).toISOString();
};

describe("readMoment()", () => {
  it.each([
    ["yesterday 14:03", "2026-11-25T13:03:00.000Z"],
    ["today 09:30:15", "2026-11-26T08:30:15.000Z"],
    ["10:59", "2026-11-26T09:59:00.000Z"],
    ["2026-11-25 14:03", "2026-11-25T13:03:00.000Z"],
    ["2026-11-25T14:03", "2026-11-25T13:03:00.000Z"],
    ["2026-07-25 14:03", "2026-07-25T12:03:00.000Z"],
    ["2026-11-25T14:03Z", "2026-11-25T14:03:00.000Z"],
    ["2026-11-25T14:03:00+05:30", "2026-11-25T08:33:00.000Z"],
  ])("reads %j in Berlin", (text, want) => {
    inZone("Europe/Berlin");
    expect(at(text)).toBe(want);
  });

  it("takes yesterday's for a time that is still to come, and says so", () => {
    inZone("Europe/Berlin");
    const when = readMoment("14:03", NOW_MS);
    expect(new Date(when.atMs ?? 0).toISOString()).toBe("2026-11-25T13:03:00.000Z");
    expect(when.notes).toEqual([expect.stringContaining("yesterday's, 2026-11-25")]);
  });

  it("takes a day as the whole of it, also where the clock is set", () => {
    inZone("Europe/Berlin");
    for (const [text, hours] of [
      ["yesterday", 24],
      ["2026-03-29", 23],
      ["2026-10-25", 25],
    ] as const) {
      const { fromMs, toMs, atMs } = readMoment(text, NOW_MS);
      expect([atMs, (toMs - fromMs) / 3_600_000]).toEqual([undefined, hours]);
    }
  });

  it("looks at both moments of a time that came twice, and says how to choose", () => {
    inZone("Europe/Berlin");
    const when = readMoment("2026-10-25 02:30", NOW_MS);
    expect([when.fromMs, when.toMs]).toEqual([
      Date.UTC(2026, 9, 25, 0, 30) - AROUND_MS,
      Date.UTC(2026, 9, 25, 1, 30) + AROUND_MS + 1,
    ]);
    expect(when.notes).toEqual([expect.stringContaining("twice (+02:00 and +01:00)")]);
    expect(when.notes[0]).toContain("2026-10-25T02:30:00+02:00");
    expect(at("2026-10-25T02:30:00+01:00")).toBe("2026-10-25T01:30:00.000Z");
  });

  it("refuses a time that the clock skipped", () => {
    inZone("Europe/Berlin");
    expect(() => readMoment("2026-03-29 02:30", NOW_MS)).toThrow(/skipped this time/);
  });

  it.each([
    "",
    "25:00",
    "14:60",
    "2026-02-30",
    "2026-13-01 10:00",
    "tomorrow",
    "yesterday 1 2",
    "today x",
  ])("refuses %j", (text) => {
    expect(() => readMoment(text, NOW_MS)).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
  });

  it("knows a time from an ID", () => {
    expect(["14:03", "yesterday", "2026-11-25", "today 1:00"].map(looksLikeTime)).toEqual(
      Array(4).fill(true),
    );
    expect(["cr_1f0c", "ae_2", "1234", "20261125"].map(looksLikeTime)).toEqual(
      Array(4).fill(false),
    );
  });
});

describe("showLocal()", () => {
  it("shows the offset that held then", () => {
    inZone("America/New_York");
    expect(zoneName()).toBe("America/New_York");
    expect(showLocal(Date.UTC(2026, 6, 1, 12))).toBe("2026-07-01 08:00:00 -04:00");
    expect(showLocal(Date.UTC(2026, 11, 1, 12))).toBe("2026-12-01 07:00:00 -05:00");
    inZone("Asia/Kathmandu");
    expect(showLocal(Date.UTC(2026, 6, 1, 12))).toBe("2026-07-01 17:45:00 +05:45");
  });
});
