import { describe, expect, it } from "vitest";
import { actionDigest, httpAction, parametersOf, shellAction, toolAction } from "@acp/core";
import type { Action } from "@acp/core";
import { holdsSecret, loggedAction, sizeOf } from "./logged-call.js";
import type { LoggedEvent } from "./logged-call.js";

const logged = (action: Action, change: object = {}): LoggedEvent => {
  const { tool, server, parameters } = parametersOf(action);
  const metadata = {
    kind: action.meta.kind,
    server,
    parameters,
    action_digest: actionDigest(action),
    ...change,
  };
  return {
    eventType: "tool_call_intercepted",
    atMs: 0,
    requestId: "",
    agent: "a",
    tool,
    riskLevel: "low",
    decision: "",
    metadata,
  };
};

describe("loggedAction()", () => {
  it.each([
    toolAction("files", "write_file", { path: "a", nested: { list: [1, null] } }),
    httpAction("GET", "https://api.example.com/v1?q=1"),
    httpAction("POST", "https://api.example.com/", {
      headers: { authorization: "Bearer {{secret:TOKEN}}" },
    }),
    httpAction("CONNECT", "api.example.com:443"),
    shellAction("git status", { cwd: "/work" }),
    shellAction("ls | wc"),
  ])("reads back what a gate logs of action %#", (action) => {
    const read = loggedAction(logged(action));
    expect(read === undefined ? undefined : actionDigest(read)).toBe(actionDigest(action));
  });

  it.each([
    ["masked", { parameters: { path: "[secret TOKEN]" } }],
    ["of an unknown kind", { kind: "dream" }],
    ["without parameters", { parameters: null }],
    ["of another digest", { action_digest: "sha256:0" }],
    ["without a server", { server: 5 }],
  ])("reads nothing where it is %s", (_what, change) => {
    expect(
      loggedAction(logged(toolAction("files", "write_file", { path: "a" }), change)),
    ).toBeUndefined();
  });
});

describe("holdsSecret()", () => {
  it.each([
    [true, { a: [{ b: "Bearer {{secret:TOKEN}}" }] }],
    [true, { "{{secret:TOKEN}}": 1 }],
    [true, { a: "x [secret DB_PASSWORD] y" }],
    [false, { a: "a secret [secret ]", b: null, c: 5 }],
  ])("says %s of %j", (expected, value) => {
    expect(holdsSecret(value)).toBe(expected);
  });
});

describe("sizeOf()", () => {
  it("grows with what is there and ends at the largest", () => {
    expect(sizeOf({ a: "x".repeat(100) }, 10_000)).toBeGreaterThan(100);
    expect(sizeOf({ a: ["x".repeat(9_000), "y".repeat(9_000)] }, 10_000)).toBe(10_000);
    expect(sizeOf(null, 10)).toBe(8);
  });
});
