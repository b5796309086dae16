import { describe, expect, it } from "vitest";
import { httpAction, shellAction, toolAction } from "../action/action.js";
import { compareScopes, isScope, scopeCovers, scopeIncludes, scopeMayCover } from "./grants.js";
import { callScope, hostScope, siteScope } from "./offers.js";
import type { GrantScope } from "../types/scope.js";

const write = toolAction("files", "write_file", { path: "a" });
const get = httpAction("GET", "https://example.com/");
const list = shellAction("ls -l", { cwd: "/srv" });
const tool: GrantScope = { kind: "tool", server: "files", name: "write_file" };
const patterns: GrantScope = {
  kind: "arguments",
  server: "files",
  name: "write_file",
  args: { path: "a" },
};
const READS = ["GET", "HEAD"];
const alone = { kind: "host", host: "example.com", port: 443, methods: READS } as const;
const host: GrantScope = { ...alone, twin: "www.example.com" };
const site: GrantScope = { ...host, methods: ["*"] };
const post: GrantScope = { ...alone, methods: ["POST"] };
/** What versions before 0.1 wrote. */
const old: GrantScope = { kind: "host", host: "example.com", port: 443, twin: "www.example.com" };

describe("scopeMayCover()", () => {
  it.each<[string, GrantScope, Parameters<typeof scopeMayCover>[1], boolean]>([
    ["the very call", callScope(write), write, true],
    ["another call", callScope(write), toolAction("files", "write_file", { path: "b" }), false],
    ["the very command", callScope(list), list, true],
    ["the command elsewhere", callScope(list), shellAction("ls -l", { cwd: "/" }), false],
    ["another command", callScope(list), shellAction("ls -la", { cwd: "/srv" }), false],
    [
      "a command that its digest is not of",
      { kind: "shell", command: "ls", digest: "sha256:0" },
      shellAction("ls"),
      false,
    ],
    [
      "a command that another one's digest is of",
      { ...callScope(list), kind: "shell", command: "ls" } as GrantScope,
      list,
      false,
    ],
    ["a call of the tool", tool, write, true],
    ["the tool of another server", tool, toolAction("other", "write_file"), false],
    ["another tool", tool, toolAction("files", "read_file"), false],
    [
      "the tool, whatever its arguments",
      patterns,
      toolAction("files", "write_file", { path: "z" }),
      true,
    ],
    [
      "another tool with such arguments",
      patterns,
      toolAction("files", "append", { path: "a" }),
      false,
    ],
    ["the host", host, get, true],
    ["the host by HEAD", host, httpAction("HEAD", "https://example.com/x"), true],
    ["the host by another method", host, httpAction("POST", "https://example.com/x"), false],
    [
      "the host by a method in other letters",
      host,
      httpAction("get", "https://example.com/x"),
      true,
    ],
    ["a tunnel to the host", host, httpAction("CONNECT", "example.com:443"), false],
    ["a read of what may be posted to", post, get, false],
    ["its twin, whatever the method", site, httpAction("POST", "https://www.example.com/x"), true],
    [
      "a tunnel to it, where every method is covered",
      site,
      httpAction("CONNECT", "example.com:443"),
      true,
    ],
    ["a read of a scope without methods", old, get, false],
    [
      "a tunnel of a scope without methods",
      { ...old, methods: [] },
      httpAction("CONNECT", "example.com:443"),
      false,
    ],
    ["another port", host, httpAction("GET", "https://example.com:8443/"), false],
    ["a subdomain", host, httpAction("GET", "https://api.example.com/"), false],
    ["the host without a twin", alone, httpAction("GET", "https://www.example.com/"), false],
    ["a tool of a host's scope", host, write, false],
  ])("for %s", (_, scope, action, want) => {
    expect(scopeMayCover(scope, action)).toBe(want);
  });
});

describe("callScope()", () => {
  it("says the command, so that whoever reads the scope knows it", () => {
    expect(callScope(list)).toMatchObject({ kind: "shell", command: "ls -l" });
    expect(callScope(write)).toMatchObject({ kind: "action" });
  });
});

describe("scopeCovers()", () => {
  it("leaves argument patterns to the policy, and covers nothing without one", () => {
    expect(scopeCovers(patterns, write, { proves: () => true })).toBe(true);
    expect(scopeCovers(patterns, write, { proves: () => false })).toBe(false);
    expect(scopeCovers(patterns, write, undefined)).toBe(false);
    expect(scopeCovers(patterns, toolAction("other", "write_file"), { proves: () => true })).toBe(
      false,
    );
    expect(scopeCovers(tool, write, undefined)).toBe(true);
  });
});

describe("scopeIncludes()", () => {
  const more: GrantScope = { ...patterns, args: { path: "a", mode: "w" } };
  it.each<[string, GrantScope, GrantScope, boolean]>([
    ["a tool its calls with patterns", tool, patterns, true],
    ["patterns the tool", patterns, tool, false],
    ["patterns those and more", patterns, more, true],
    ["more patterns the fewer", more, patterns, false],
    ["patterns other ones", patterns, { ...patterns, args: { path: "b" } }, false],
    ["a tool the call", tool, callScope(write), true],
    ["a call the tool", callScope(write), tool, false],
    ["a host another port of it", site, { ...site, port: 8_443 }, false],
    ["a call itself", callScope(write), callScope(write), true],
    ["a host with its twin the host", host, alone, true],
    ["a host the host with its twin", alone, host, false],
    [
      "a host its twin's spelling",
      host,
      { ...alone, host: "www.example.com", twin: "example.com" },
      true,
    ],
    ["every method some", site, alone, true],
    ["some methods every one", alone, { ...alone, methods: ["*"] }, false],
    ["some methods one of them", alone, { ...alone, methods: ["HEAD"] }, true],
    ["some methods another", alone, post, false],
    ["a tool a host", tool, host, false],
  ])("%s: %#", (_, wide, narrow, want) => {
    expect(scopeIncludes(wide, narrow)).toBe(want);
  });
});

describe("compareScopes()", () => {
  it("puts the narrowest first, and orders equals the same way whatever their order", () => {
    const more: GrantScope = { ...patterns, args: { path: "a", mode: "w" } };
    const scopes = [tool, patterns, callScope(write), more];
    const sorted = [callScope(write), more, patterns, tool];
    expect(scopes.toSorted(compareScopes)).toEqual(sorted);
    expect(scopes.toReversed().toSorted(compareScopes)).toEqual(sorted);
  });
});

describe("hostScope()", () => {
  it.each([
    ["GET", READS],
    ["HEAD", READS],
    ["POST", ["POST"]],
    ["OPTIONS", ["OPTIONS"]],
    ["CONNECT", ["CONNECT"]],
  ])("of a %s has the methods %j and no twin", (method, methods) => {
    const action = httpAction(
      method,
      method === "CONNECT" ? "example.com:443" : "https://example.com/x",
    );
    expect(hostScope(action)).toEqual({ kind: "host", host: "example.com", port: 443, methods });
  });

  it("is none for a method that would read as every method", () => {
    expect(hostScope(httpAction("*", "https://example.com/"))).toBeUndefined();
  });
});

describe("siteScope()", () => {
  it.each([
    ["https://example.com/", "www.example.com"],
    ["https://www.example.com/", "example.com"],
    ["https://a.b.example/", "www.a.b.example"],
    ["https://www.example/", undefined],
    ["https://localhost/", undefined],
    ["https://127.0.0.1/", undefined],
    ["https://[::1]/", undefined],
    [
      `https://${"a".repeat(60)}.${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(60)}.example/`,
      undefined,
    ],
  ])("of %s has the twin %s", (url, twin) => {
    expect(siteScope(httpAction("GET", url))).toMatchObject({
      kind: "host",
      port: 443,
      methods: ["*"],
    });
    expect(siteScope(httpAction("GET", url))).toHaveProperty("host");
    expect(siteScope(httpAction("GET", url))?.twin).toBe(twin);
  });

  it("is none for what is no HTTP", () => {
    expect([hostScope(write), siteScope(write)]).toEqual([undefined, undefined]);
  });
});

describe("isScope()", () => {
  it.each([undefined, null, "tool", {}, { kind: "everything" }, { kind: "toString" }])(
    "does not know %j",
    (scope) => {
      expect(isScope(scope as never)).toBe(false);
    },
  );
});
