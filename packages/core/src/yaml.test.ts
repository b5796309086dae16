import { describe, expect, it } from "vitest";
import { toolAction, shellAction, httpAction } from "./action.js";
import { readPolicy } from "./yaml.js";

const facts = { agent: { id: "a" }, nowMs: Date.UTC(2026, 0, 5, 12) };

describe("readPolicy()", () => {
  it("reads the v0.3 example and warns", () => {
    const policy = readPolicy(
      'default: ask\n\nrules:\n  - match:\n      kind: http\n      host: "*.example.com"\n      method: "GET"\n    action: allow\n    timeout: 120\n',
    );
    expect(policy.warnings).toHaveLength(2);
    expect(policy.judge(httpAction("GET", "https://api.example.com/x"), facts)?.effect).toBe("allow");
    expect(policy.judge(httpAction("GET", "https://example.com/x"), facts)).toBeUndefined();
    expect(policy.rules[0]?.line).toBe(4);
  });
  it("reads", () => {
    const policy = readPolicy(
      'version: "1"\ndefault_action: deny\nrules:\n  - match: { tool: "read_*", args: { path: { path: "/p/**" } } }\n    action: allow\n  - match: { kind: shell, args: "git *" }\n    action: allow\n',
      {},
    );
    expect(policy.judge(toolAction("s", "read_file", { path: "/p/x/.y" }), facts)?.effect).toBe("allow");
    expect(policy.judge(toolAction("s", "read_file", { path: "/p/../x" }), facts)).toBeUndefined();
    expect(policy.judge(shellAction("git log"), facts)?.effect).toBe("allow");
    expect(policy.judge(shellAction("git log; x"), facts)).toBeUndefined();
  });
  it.each(
    [
      "",
      "a: b",
      "rules:\n  - match: {tol: x}\n    action: no",
      "rules:\n  - match: {tol: x}\n    action: deny",
      "a: &x 1",
      "default: !foo ask",
      "default: ask\ndefault: deny",
      "\tx: 1",
      "version: 1",
      "version: 1\n---\na: b",
      "{".repeat(100000),
    ].map((t) => [t.slice(0, 40), t]),
  )("refuses %j", (_, text) => {
    try {
      readPolicy(text);
      expect.unreachable();
    } catch (e) {
      expect(e).toMatchObject({ code: "policy_invalid" });
    }
  });
});
