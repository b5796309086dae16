import { describe, expect, it } from "vitest";
import { toolAction } from "../action/action.js";
import type { ConsentError } from "../errors.js";
import { parsePolicy } from "./parse.js";

const facts = { agent: { id: "agent" }, nowMs: 0 };
const errorOf = (run: () => unknown): ConsentError => {
  try {
    run();
  } catch (error) {
    return error as ConsentError;
  }
  throw new Error("nothing was thrown");
};

describe("parsePolicy()", () => {
  it("lists its rules", () => {
    const policy = parsePolicy({
      version: "1",
      rules: [
        { match: { tool: "a" }, action: "allow" },
        { id: "b", name: "B", reason: "because", match: { tool: "b" }, action: "deny" },
      ],
    });
    expect(policy.rules).toEqual([
      { ruleId: "rule_1", effect: "allow" },
      { ruleId: "b", ruleName: "B", effect: "deny", reason: "because" },
    ]);
  });

  it("knows the paths that rules deny, whatever they are about, and no others", () => {
    const args = (path: string): unknown => ({ path: { path } });
    const policy = parsePolicy(
      {
        version: "1",
        rules: [
          { match: { tool: "read_*", args: args("~/private/**") }, action: "deny" },
          { match: { tool: "write_file", args: { to: args("/srv/*.lock") } }, action: "deny" },
          { match: { tool: "a", args: args("~/asked/**") }, action: "ask" },
          { match: { tool: "a", args: args("~/open/**") }, action: "allow" },
        ],
      },
      { home: "/home/ada" },
    );
    const paths = [
      "/home/ada/private",
      "/home/ada/private/a/b",
      "/srv/x.lock",
      "/srv/x",
      "/home/ada/asked/a",
      "/home/ada/open/a",
    ];
    expect(paths.filter((path) => policy.deniesPath(path))).toEqual(paths.slice(0, 3));
    expect(parsePolicy({ version: "1", default: "deny" }).deniesPath("/srv/x")).toBe(false);
  });

  it("gives what nobody can change", () => {
    const source = {
      version: "1",
      rules: [{ match: { tool: "a" }, action: "ask", approvers: ["ada"], secrets: ["KEY"] }],
    };
    const policy = parsePolicy(source);
    source.rules[0]?.approvers.push("mallory");
    const ruling = policy.judge(toolAction("s", "a", {}), facts);
    expect(ruling?.ask?.approvers).toEqual(["ada"]);
    for (const frozen of [
      policy,
      policy.rules,
      policy.rules[0],
      policy.warnings,
      ruling,
      ruling?.ask,
      ruling?.ask?.approvers,
      ruling?.secrets,
    ])
      expect(Object.isFrozen(frozen)).toBe(true);
  });

  it("keeps the limits of one call from another", () => {
    const policy = parsePolicy({
      version: "1",
      rules: [{ match: { tool: "a" }, action: "allow", rate_limit: "1/day" }],
    });
    const judge = (id: string): unknown =>
      policy.judge(toolAction("s", "a", {}), { agent: { id }, nowMs: 0 })?.limits;
    expect(judge("x")).toEqual([
      { key: "rate:6:rule_1:x", amount: 1, max: 1, windowMs: 86_400_000 },
    ]);
    expect(judge("y")).toEqual([
      { key: "rate:6:rule_1:y", amount: 1, max: 1, windowMs: 86_400_000 },
    ]);
  });

  it("names path and suggestion in one line", () => {
    const error = errorOf(() =>
      parsePolicy({ version: "1", rules: [{ match: { tol: "a" }, action: "ask" }] }),
    );
    expect(error).toMatchObject({
      code: "policy_invalid",
      path: "rules[0].match.tol",
      suggestion: "tool",
      position: undefined,
    });
    expect(error.message).toBe(
      'Cannot load policy at rules[0].match.tol: unknown key "tol"; did you mean tool?',
    );
  });

  it.each([
    ["undefined", { version: "1", rules: undefined }, "rules"],
    [
      "NaN",
      { version: "1", rules: [{ match: { tool: "a" }, action: "ask", timeout: Number.NaN }] },
      "rules[0].timeout",
    ],
    ["a function", { version: "1", default: () => "allow" }, "default"],
    ["a class", { version: "1", rules: [new Map()] }, "rules[0]"],
    ["a hole", { version: "1", rules: Array.from({ length: 1 }) }, "rules[0]"],
    ["no policy", undefined, ""],
  ])("refuses %s", (_name, policy, path) => {
    expect(errorOf(() => parsePolicy(policy))).toMatchObject({ code: "policy_invalid", path });
  });

  it("runs no code of its input", () => {
    const getter = {
      version: "1",
      get default(): string {
        throw new Error("it ran");
      },
    };
    const trap = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error("it ran");
        },
      },
    );
    expect(errorOf(() => parsePolicy(getter))).toMatchObject({
      code: "policy_invalid",
      path: "default",
    });
    expect(errorOf(() => parsePolicy(trap))).toMatchObject({ code: "policy_invalid" });
  });

  it("reads no inherited key", () => {
    expect(
      errorOf(() => parsePolicy(Object.create({ version: "1", default: "allow" }))),
    ).toMatchObject({ code: "policy_invalid" });
  });

  it.each(["home", "cwd"])("refuses a relative %s", (option) => {
    for (const path of ["work", "", 5, null]) {
      expect(
        errorOf(() => parsePolicy({ version: "1", default: "ask" }, { [option]: path })),
      ).toMatchObject({ code: "options_invalid" });
    }
  });

  it("takes no more rules than the limit", () => {
    const rule = { match: { tool: "a" }, action: "ask" };
    expect(
      errorOf(() =>
        parsePolicy({ version: "1", rules: Array.from({ length: 100_001 }, () => rule) }),
      ),
    ).toMatchObject({
      code: "policy_invalid",
      path: "rules",
    });
  });

  it("shortens and escapes what it quotes", () => {
    const error = errorOf(() =>
      parsePolicy({ version: "1", default: `\u202e\n${"x".repeat(1_000)}` }),
    );
    expect(error.message).toMatch(/^[\x20-\x7e\u2026]{1,200}$/);
  });
});
