import { describe, expect, it } from "vitest";
import type { Finding } from "./findings.js";
import { layersOf, levelOf, reasonsOf } from "./reasons.js";

function finding(
  message: string,
  start: number,
  level: Finding["level"] = "needs-review",
): Finding {
  return {
    ruleId: "x.y",
    level,
    layer: level === "dangerous" ? "dangerous-patterns" : "safe-binaries",
    span: { start, end: start + 1 },
    message,
  };
}

const messagesOf = (findings: readonly Finding[]): readonly string[] =>
  reasonsOf(findings).map(({ message }) => message);

describe("reasonsOf()", () => {
  it("puts what is dangerous first, then goes by place", () => {
    expect(
      messagesOf([
        finding("b", 2),
        finding("d", 9, "dangerous"),
        finding("a", 1),
        finding("c", 5, "dangerous"),
      ]),
    ).toEqual(["c", "d", "a", "b"]);
  });

  it("says the same thing once, at its first place", () => {
    expect(reasonsOf([finding("a", 5), finding("a", 1)])).toEqual([
      expect.objectContaining({ span: { start: 1, end: 2 } }),
    ]);
  });

  it("shows at most eight", () => {
    expect(
      reasonsOf(Array.from({ length: 20 }, (_, index) => finding(`m${index}`, index))),
    ).toHaveLength(8);
  });

  it("shows nothing of what is meant for the engine alone", () => {
    expect(
      Object.keys(reasonsOf([{ ...finding("a", 1), isLiftable: true }])[0] ?? {}),
    ).not.toContain("isLiftable");
  });
});

describe("levelOf() and layersOf()", () => {
  it.each([
    [[], false, "safe", []],
    [[], true, "safe", ["allowlist"]],
    [[finding("a", 1)], false, "needs-review", ["safe-binaries"]],
    [
      [finding("a", 1), finding("b", 1, "dangerous")],
      true,
      "dangerous",
      ["allowlist", "safe-binaries", "dangerous-patterns"],
    ],
  ] as const)("of %j, lifted %j", (findings, isLifted, level, layers) => {
    expect(levelOf(findings)).toBe(level);
    expect(layersOf(findings, isLifted)).toEqual(layers);
  });
});
