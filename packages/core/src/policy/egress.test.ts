import { describe, expect, it } from "vitest";
import { httpAction, shellAction, toolAction } from "../action/action.js";
import type { Action } from "../action/action.js";
import { parsePolicy } from "./parse.js";
import { leavesMachine } from "./egress.js";

const call = (args: object): Action => toolAction("web", "get_page", args);

describe("leavesMachine()", () => {
  it.each([
    { url: "https://any.example/?k=SECRET" },
    { page: "  HTTPS://any.example" },
    { page: "https:any.example" },
    { page: "http:\\\\any.example" },
    { page: "ht\ttps://any.example" },
    { page: "\uff48ttps://any.example" },
    { page: "//any.example/x" },
    { text: "see https://any.example/x, please" },
    { remote: "git+ssh://any.example/x" },
    { repo: "ssh://any.example/x" },
    { nested: [{ deep: ["wss://any.example"] }] },
    { "https://any.example/": 1 },
    { url: "any.example/?k=SECRET" },
    { hostname: "SECRET.any.example" },
    { baseUrl: "any.example" },
    { target_host: "192.0.2.1" },
    { url: { uris: ["any.example"] } },
    { url: "any.example:80/x" },
  ])("sees that %j names a host", (args) => {
    expect(leavesMachine(call(args))).toBe(true);
  });

  it.each([
    {},
    { path: "notes.txt" },
    { path: "/home/ada/a" },
    { url: "" },
    { uri: "file:///home/ada/a" },
    { uri: "memo://insights" },
    { url: "./page.html" },
    { query: "how do I fetch?" },
    { note: "ratio 3:4 a://" },
    { count: 3, deep: { ok: true, none: null } },
  ])("sees no host in %j", (args) => {
    expect(leavesMachine(call(args))).toBe(false);
  });

  it("takes every request for one, and no command", () => {
    expect(leavesMachine(httpAction("GET", "https://any.example/"))).toBe(true);
    expect(leavesMachine(shellAction("curl https://any.example/"))).toBe(false);
  });
});

describe("an allow by category", () => {
  const effectOf = (match: object, action: Action, effect = "allow"): string =>
    parsePolicy({ version: "1", default: "ask", rules: [{ match, action: effect }] }).judge(
      action,
      { agent: { id: "a" }, nowMs: 0 },
    )?.effect ?? "ask";
  const read = { category: "read" };
  const fetching = call({ url: "https://any.example/?k=SECRET" });
  const request = httpAction("GET", "https://any.example/?k=SECRET");

  it("covers reading here, and nothing that leaves the machine", () => {
    expect(effectOf(read, call({ path: "notes.txt" }))).toBe("allow");
    expect([effectOf(read, fetching), effectOf(read, request)]).toEqual(["ask", "ask"]);
    expect(effectOf({ ...read, server: "web" }, fetching)).toBe("ask");
  });

  it("covers what it names besides: a tool, a host", () => {
    expect(effectOf({ ...read, tool: "get_page" }, fetching)).toBe("allow");
    expect(effectOf({ ...read, host: "any.example" }, request)).toBe("allow");
    expect(effectOf({ ...read, host: "other.example" }, request)).toBe("ask");
    for (const tool of ["*", "**", "?*"]) expect(effectOf({ ...read, tool }, fetching)).toBe("ask");
  });

  it("keeps its meaning where a rule denies", () => {
    expect([effectOf(read, fetching, "deny"), effectOf(read, request, "deny")]).toEqual([
      "deny",
      "deny",
    ]);
  });

  it("warns where it can cover nothing", () => {
    const policy = parsePolicy({
      version: "1",
      default: "ask",
      rules: [{ match: { ...read, kind: "http" }, action: "allow" }],
    });
    expect(policy.warnings).toEqual([expect.stringContaining("never matches")]);
  });
});
