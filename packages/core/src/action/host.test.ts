import { describe, expect, it } from "vitest";
import { normalizeHost, parseAuthority } from "./host.js";

// What a string can show is in spec/vectors/hosts.json, run by test/vectors-hosts.test.ts.
const refused = expect.objectContaining({ code: "host_invalid" });

describe("normalizeHost()", () => {
  it.each<unknown>([
    undefined,
    null,
    2130706433,
    ["example.com"],
    { toString: () => "example.com" },
  ])("normalizeHost() refuses %j: not a text", (value) => {
    expect(() => normalizeHost(value as string)).toThrow(refused);
  });

  it("normalizeHost() refuses an unpaired surrogate and a text of any length", () => {
    expect(() => normalizeHost("a\ud800b")).toThrow(refused);
    expect(() => normalizeHost("a.".repeat(1_000_000))).toThrow(
      /: it has more than 1012 characters$/,
    );
    expect(() => normalizeHost(`[${"0:".repeat(1_000_000)}]`)).toThrow(refused);
  });

  it("normalizeHost() says what is wrong on one short line without terminal commands", () => {
    expect(() => normalizeHost("a\u001b[2J\n\u202e")).toThrow(
      /^Cannot read host "a\\u001b\[2J\\n\\u202e": it has a character that no host has$/,
    );
    expect(() => normalizeHost("::1")).toThrow(
      /^Cannot read host "::1": a host has no port, and IPv6 stands in brackets$/,
    );
  });
});

describe("parseAuthority()", () => {
  it.each<unknown>([undefined, null, 443, ["a:443"]])(
    "parseAuthority() refuses %j: not a text",
    (value) => {
      expect(() => parseAuthority(value as string)).toThrow(refused);
    },
  );
});
