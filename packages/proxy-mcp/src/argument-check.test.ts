import { httpAction, parseToolDefinition, toolAction } from "@acp/core";
import { describe, expect, it } from "vitest";
import { createArgumentCheck } from "./argument-check.js";

const tool = parseToolDefinition({
  server: "s",
  name: "t",
  inputSchema: { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
});

describe("createArgumentCheck()", () => {
  const { check } = createArgumentCheck({ log: () => expect.unreachable() });

  it("says what does not fit, and nothing where all does or nothing is known", () => {
    expect(check(toolAction("s", "t", { a: "x" }), tool)).toBeUndefined();
    expect(check(toolAction("s", "t", { a: 5 }), tool)).toBe('"a" must be string');
    expect(check(toolAction("s", "t", {}), tool)).toContain("'a'");
    expect(check(toolAction("s", "t", { A: "x", a: "x" }), tool)).toContain("in case only");
    expect(check(toolAction("s", "t", {}))).toBeUndefined();
    expect(check(httpAction("GET", "https://example.com/"), tool)).toBeUndefined();
  });

  it.each([
    ["server", toolAction("other", "t", { a: "x" })],
    ["name", toolAction("s", "other", { a: "x" })],
  ])("throws for the definition of a tool of another %s", (_, action) => {
    expect(() => check(action, tool)).toThrow("another tool's");
  });

  it("says once why a schema is not used", () => {
    const logs: string[] = [];
    const { check: lenient } = createArgumentCheck({ log: (line) => logs.push(line) });
    const broken = parseToolDefinition({
      server: "s",
      name: "t",
      inputSchema: { type: "nonsense" },
    });
    expect(lenient(toolAction("s", "t", {}), broken)).toBeUndefined();
    expect(lenient(toolAction("s", "t", {}), broken)).toBeUndefined();
    expect(logs).toEqual([
      expect.stringMatching(/^\[s\] arguments of tool "t" are not checked against its schema: /),
    ]);
  });
});
