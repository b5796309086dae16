import { expect, it } from "vitest";
import { EXIT_CODES, exitOf } from "./exit-codes.js";

it("EXIT_CODES are distinct and small enough for every shell", () => {
  const codes = Object.values(EXIT_CODES).map(({ code }) => code);
  expect(new Set(codes).size).toBe(codes.length);
  // sysexits begin at 64, signals at 128; 125 to 127 are what those who run other programs use
  for (const code of codes) expect(code < 64 || (code >= 125 && code < 128)).toBe(true);
});

it.each([
  ["options_invalid", "usage"],
  ["policy_invalid", "invalid"],
  ["audit_busy", "audit"],
  ["channel_failed", "failed"],
] as const)("exitOf() %s is %s", (code, exit) => {
  expect(exitOf(code)).toBe(exit);
});
