import { describe, expect, it } from "vitest";
import { nearest } from "./nearest.js";

const KEYS = ["version", "default", "default_action", "rules", "classify"];

describe("nearest()", () => {
  it.each([
    ["ruls", "rules"],
    ["Rules", "rules"],
    ["rulse", "rules"],
    ["default-action", "default_action"],
    ["defautl", "default"],
    ["verison", "version"],
    ["x", undefined],
    ["", undefined],
    ["something", undefined],
    ["a".repeat(100_000), undefined],
  ])("to %.20j is %s", (word, want) => {
    expect(nearest(word, KEYS)).toBe(want);
  });
});
