import { describe, expect, it } from "vitest";
import { hostPatternTrap, parseHostPattern } from "./host-pattern.js";
import { spotOf } from "./spot.js";

const compile = (value: string): ReturnType<typeof parseHostPattern> =>
  parseHostPattern(spotOf(value, ["host"]), { grants: true });

describe("parseHostPattern()", () => {
  it.each([
    ["*", "a.example", true],
    ["*.Example.COM", "a.example.com", true],
    ["*.example.com.", "a.example.com", true],
    ["api-?.example.com", "api-1.example.com", true],
    ["api-?.example.com", "api-10.example.com", false],
    ["login.*.example.com", "login.eu.example.com", true],
    ["*.BÜCHER.example", "a.xn--bcher-kva.example", true],
    ["10.*", "10.1.2.3", true],
    ["0x7f.*", "0x7f.example", true],
    ["*.*.example.com", "a.example.com", false],
  ])("%s on %s is %s", (pattern, host, want) => {
    expect(compile(pattern)(host)).toBe(want);
  });

  it.each(["*.", "*..", "a..*", ".*", "*/x", "https://*", "*:443", "*ü.example", "[*]", "a b.*"])(
    "refuses %s",
    (pattern) => {
      expect(() => compile(pattern)).toThrow(expect.objectContaining({ code: "policy_invalid" }));
    },
  );

  it.each([
    ["https://api.example.com/v1", '"api.example.com"'],
    ["api.example.com:443", '"api.example.com"'],
    ["https://*.example.com", '"*.example.com"'],
  ])("suggests the host of %s", (pattern, suggestion) => {
    expect(() => compile(pattern)).toThrow(expect.objectContaining({ suggestion }));
  });
});

describe("hostPatternTrap()", () => {
  it.each([
    ["*", undefined],
    ["example.com", undefined],
    ["*.example.com", undefined],
    ["a*.example.com", undefined],
    [
      "*example.com",
      '"*example.com" also allows "attacker-example.com"; "*.example.com" is its subdomains only',
    ],
    ["example.*", '"example.*" also allows "example.x.attacker.example"'],
    ["10.0.*", '"10.0.*" also allows "10.0.x.attacker.example"'],
  ])("of %s is %s", (pattern, want) => {
    expect(hostPatternTrap(pattern)).toBe(want);
  });

  it("tells the truth", () => {
    expect(compile("*example.com")("attacker-example.com")).toBe(true);
    expect(compile("example.*")("example.x.attacker.example")).toBe(true);
  });
});
