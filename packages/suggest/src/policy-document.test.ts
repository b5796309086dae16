import { describe, expect, it } from "vitest";
import { toolAction } from "@acp/core";
import { readPolicyDocument, sayOf } from "./policy-document.js";

const facts = { agent: { id: "a" }, nowMs: 0 };
const text = (indent: string): string =>
  [
    "rules:",
    "# first",
    "- id: reads",
    "  match: { tool: read_file }",
    "  action: ask",
    "-  match: { tool: write_file }",
    "   action: deny",
  ]
    .map((line) => (line === "rules:" ? line : indent + line))
    .join("\n");

describe("readPolicyDocument()", () => {
  it.each([
    [0, text("")],
    [2, text("  ")],
    [6, text("      ")],
    [2, "rules: [{ match: { tool: a }, action: ask }]"],
    [2, "default: ask"],
    [2, "rules: []"],
    [2, "rules:\n  -\n    match: { tool: a }\n    action: ask"],
  ])("finds that rules are indented by %i in %j", (indent, policy) => {
    expect(readPolicyDocument(policy, {}).indent).toBe(indent);
  });

  it("tries a rule out in its place, and says where it does not load", () => {
    const document = readPolicyDocument(text(""), {});
    const rule = { match: { tool: "*" }, action: "allow" };
    const effects = (before: number | undefined): readonly unknown[] =>
      ["read_file", "write_file", "other"].map((tool) => {
        const policy = document.with(rule, before);
        return policy === undefined
          ? undefined
          : sayOf(policy, toolAction("s", tool), facts).effect;
      });
    expect(effects(0)).toEqual(["allow", "allow", "allow"]);
    expect(effects(1)).toEqual(["ask", "allow", "allow"]);
    expect(effects(undefined)).toEqual(["ask", "deny", "allow"]);
    expect(document.with({ ...rule, id: "reads" }, 0)).toBeUndefined();
    expect(document.with({ match: {}, action: "allow" }, 0)).toBeUndefined();
  });

  it("refuses a policy that does not load", () => {
    expect(() => readPolicyDocument("rules: 5", {})).toThrow(
      expect.objectContaining({ code: "policy_invalid" }),
    );
  });
});
