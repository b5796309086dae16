import { describe, expect, it } from "vitest";
import { hostApprovalTtlMs } from "./host-approval.js";

describe("hostApprovalTtlMs()", () => {
  it.each([
    [undefined, 180_000],
    ["0", 0],
    ["1", 1_000],
    ["180", 180_000],
    ["86400", 86_400_000],
  ])("reads %j as %i ms", (text, ms) => {
    expect(hostApprovalTtlMs(text)).toBe(ms);
  });

  it.each([
    "",
    " ",
    "-1",
    "86401",
    "99999",
    "100000",
    "1.5",
    "1e3",
    "0x10",
    "007",
    "180s",
    " 180",
    "180\n",
    "NaN",
    "Infinity",
    "off",
  ])("refuses %j", (text) => {
    expect(() => hostApprovalTtlMs(text)).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
  });
});
