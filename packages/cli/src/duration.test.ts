import { describe, expect, it } from "vitest";
import { parseDuration, showDuration } from "./duration.js";

describe("parseDuration()", () => {
  it.each([
    ["1s", 1_000],
    ["30m", 1_800_000],
    ["2h", 7_200_000],
    ["1d", 86_400_000],
  ])("reads %s", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(["", "30", "m", "1.5h", "-1m", "1 m", "0s", "366d", "1m30s", "1e3s", "１m"])(
    "refuses %j",
    (text) => {
      expect(() => parseDuration(text)).toThrow(
        expect.objectContaining({ code: "options_invalid" }),
      );
    },
  );
});

describe("showDuration()", () => {
  it.each([
    [0, "0 s"],
    [-5, "0 s"],
    [119_600, "2 min"],
    [3_661_000, "1 h 1 min"],
    [90_061_000, "1 d 1 h"],
  ])("shows %d ms as %s", (ms, text) => {
    expect(showDuration(ms)).toBe(text);
  });
});
