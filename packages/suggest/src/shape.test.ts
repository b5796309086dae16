import { describe, expect, it } from "vitest";
import { httpAction, parametersOf, shellAction, toolAction } from "@acp/core";
import type { Action } from "@acp/core";
import type { LoggedEvent } from "./logged-call.js";
import { reachOf, reachOfEvent, shapeKey, shapeOf, shapeText } from "./shape.js";

const event = (action: Action): LoggedEvent => {
  const { tool, server, parameters } = parametersOf(action);
  const metadata = { kind: action.meta.kind, server, parameters };
  return {
    eventType: "tool_call_intercepted",
    atMs: 0,
    requestId: "",
    agent: "a",
    tool,
    riskLevel: "",
    decision: "",
    metadata,
  };
};

const all: readonly (readonly [Action, string])[] = [
  [toolAction("files", "write_file", { a: 1 }), "write_file on files"],
  [toolAction("files", "write\u202efile"), '"write\\u202efile" on files'],
  [httpAction("GET", "https://a.example/x"), "GET at a.example port 443"],
  [httpAction("CONNECT", "a.example:443"), "CONNECT at a.example port 443"],
  [shellAction("git push"), "the command git"],
  [shellAction("git push; ls"), "commands of more than plain words"],
];

describe("shapes", () => {
  it.each(all)("shapeText() of action %# is %s", (action, text) => {
    expect(shapeText(shapeOf(action))).toBe(text);
  });

  it("shapeKey() tells them apart, and not by arguments", () => {
    expect(new Set(all.map(([action]) => shapeKey(shapeOf(action)))).size).toBe(all.length);
    expect(shapeKey(shapeOf(toolAction("s", "t", { a: 1 })))).toBe(
      shapeKey(shapeOf(toolAction("s", "t", { a: 2 }))),
    );
  });

  it.each(all)("reachOfEvent() of action %# is that of its shape", (action) => {
    expect(reachOfEvent(event(action))).toBe(reachOf(shapeOf(action)));
  });

  it("reachOf() joins what a rule that denies cannot tell apart", () => {
    const same = (a: Action, b: Action): boolean => reachOf(shapeOf(a)) === reachOf(shapeOf(b));
    expect(same(toolAction("S", "Write_File"), toolAction("s", "write_file"))).toBe(true);
    expect(same(shellAction("git push"), shellAction("a; b"))).toBe(true);
    expect(same(toolAction("s", "write_file"), toolAction("t", "write_file"))).toBe(false);
    expect(
      same(httpAction("GET", "https://a.example/"), httpAction("GET", "https://b.example/")),
    ).toBe(false);
  });
});
