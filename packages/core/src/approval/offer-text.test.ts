import { describe, expect, it } from "vitest";
import type { GrantScope } from "../types/scope.js";
import { showDuration, showOffer, showScope, showStep } from "./offer-text.js";

const args = (patterns: object): GrantScope => ({
  kind: "arguments",
  server: "files",
  name: "write_file",
  args: { ...patterns },
});

describe("showScope()", () => {
  it.each<[GrantScope, string]>([
    [{ kind: "action", digest: "sha256:x" }, "this exact call"],
    [
      { kind: "shell", command: "rm 'a b'\nls", digest: "sha256:x" },
      "this exact command: \"rm 'a b'\\nls\"",
    ],
    [{ kind: "tool", server: "my files", name: "write" }, 'every call of write on "my files"'],
    [{ kind: "host", host: "example.com", port: 443 }, "no request to example.com port 443"],
    [
      { kind: "host", host: "example.com", port: 443, methods: ["GET", "HEAD"] },
      "every GET and HEAD request to example.com port 443",
    ],
    [
      { kind: "host", host: "example.com", port: 443, methods: ["POST"] },
      "every POST request to example.com port 443",
    ],
    [
      { kind: "host", host: "example.com", port: 443, methods: ["CONNECT"] },
      "every tunnel, whatever passes inside it, to example.com port 443",
    ],
    [
      { kind: "host", host: "example.com", port: 8443, methods: ["*"], twin: "www.example.com" },
      "every request, of any method, and every tunnel to example.com or www.example.com port 8443",
    ],
    [args({ path: "a.txt" }), 'every call of write_file on files where path is "a.txt"'],
    [
      args({ to: "*@example.com", n: 5 }),
      'every call of write_file on files where to is like "*@example.com" and n is 5',
    ],
    [
      args({ path: { path: "/srv/**" } }),
      'every call of write_file on files where path is a path like "/srv/**"',
    ],
    [
      args({ options: { mode: "\u202e" } }),
      'every call of write_file on files where options is like {"mode":"\\u202e"}',
    ],
    [
      args({ 'x" is 1 and y': true }),
      'every call of write_file on files where "x\\" is 1 and y" is true',
    ],
  ])("of %j", (scope, text) => {
    expect(showScope(scope)).toBe(text);
  });
});

describe("showOffer()", () => {
  it("says how long and how often; a command stands in the question already", () => {
    const scope: GrantScope = { kind: "shell", command: "ls", digest: "sha256:x" };
    expect(showOffer({ id: "call", scope, ttlMs: 90_000, uses: 3 })).toBe(
      "  [call] this exact command for 90 s, at most 3 times",
    );
    expect(showOffer({ id: "call", scope, ttlMs: 60_000 })).toBe(
      "  [call] this exact command for 1 min",
    );
  });
});

describe("showStep()", () => {
  it.each([
    [
      { afterMs: 300_000, approvers: ["ada", "a b"] },
      '  after 5 min it may also be answered by ada, "a b"',
    ],
    [{ afterMs: 1_500, channel: "telegram" }, "  after 2 s it is also shown on telegram"],
    [{ afterMs: 1, channel: "web" }, "  at once it is also shown on web"],
    [
      { afterMs: 7_200_000, approvers: ["ada"], channel: "web" },
      "  after 2 h it may also be answered by ada, and it is also shown on web",
    ],
  ])("of %j", (step, text) => {
    expect(showStep(step)).toBe(text);
  });
});

describe("showDuration()", () => {
  it.each([
    [1_000, "1 s"],
    [61_000, "61 s"],
    [120_000, "2 min"],
    [3_600_000, "1 h"],
  ])("of %s ms is %s", (ms, text) => {
    expect(showDuration(ms)).toBe(text);
  });
});
