import { describe, expect, it } from "vitest";
import { shellAction, toolAction } from "../action/action.js";
import type { Action } from "../action/action.js";
import { createJudge } from "./judge.js";
import type { Rule } from "./rule.js";

const facts = { agent: { id: "agent" }, nowMs: 7 };

/** A rule that tells which of its tests were run. */
const rule = (
  ruleId: string,
  {
    byName = true,
    byContent = true,
    applies,
  }: { byName?: boolean; byContent?: boolean; applies?: boolean },
  log: string[],
): Rule => {
  const noting = (what: string, answer: boolean) => (): boolean => {
    log.push(`${ruleId} ${what}`);
    return answer;
  };
  return {
    summary: { ruleId, effect: "deny" },
    match: {
      kinds: ["tool"],
      byName: noting("name", byName),
      byContent: noting("content", byContent),
      anchors: [],
      byServer: () => true,
      looksInside: false,
    },
    applies: applies === undefined ? undefined : noting("time", applies),
    say: () => ({ effect: "deny", ruleId, reason: "" }),
  };
};

const tool = (name: string): Action => toolAction("s", name, {});

describe("createJudge()", () => {
  it("gives the first rule whose name, content and conditions hold", () => {
    const log: string[] = [];
    const { judge } = createJudge([
      rule("a", { byName: false }, log),
      rule("b", { byContent: false }, log),
      rule("c", { applies: false }, log),
      rule("d", { applies: true }, log),
      rule("e", {}, log),
    ]);
    expect(judge(tool("x"), facts)?.ruleId).toBe("d");
    expect(log).not.toContain("e content");
  });

  it("tests names once for each name, contents every time", () => {
    const log: string[] = [];
    const { judge } = createJudge([rule("a", { byContent: false }, log)]);
    for (const name of ["x", "x", "y"]) judge(tool(name), facts);
    expect(log).toEqual(["a name", "a content", "a content", "a name", "a content"]);
  });

  it("forgets names beyond its bound", () => {
    const log: string[] = [];
    const { judge } = createJudge([rule("a", { byName: false }, log)]);
    judge(tool("x"), facts);
    for (let count = 0; count < 10_000; count++) judge(tool(`y${count}`), facts);
    judge(tool("x"), facts);
    expect(log.length).toBe(10_002);
  });

  it("keeps equal names of two kinds apart", () => {
    const { judge } = createJudge([rule("a", {}, [])]);
    expect(judge(tool("ls"), facts)?.ruleId).toBe("a");
    expect(judge(shellAction("ls"), facts)).toBeUndefined();
    expect(judge(tool("ls"), facts)?.ruleId).toBe("a");
  });

  it("knows a name that every object inherits", () => {
    const { judge } = createJudge([rule("a", {}, [])]);
    expect(judge(tool("__proto__"), facts)?.ruleId).toBe("a");
    expect(judge(tool("constructor"), facts)?.ruleId).toBe("a");
  });
});
