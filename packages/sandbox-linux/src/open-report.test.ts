import { describe, expect, it } from "vitest";
import type { NativeHelper } from "./native-helper.js";
import { makeOpenObstacle, makeOpenReport } from "./open-report.js";

const helper: NativeHelper = { isAvailable: true, path: "/confine", landlockAbi: 7 };
const facts = {
  sandbox: "env",
  level: "none",
  reason: "variables only",
  network: "connects without asking",
} as const;

describe("makeOpenReport()", () => {
  it("claims nothing of any aspect, and leaves DNS open", () => {
    const report = makeOpenReport({ ...facts, helper });
    expect(report).toMatchObject({ isAvailable: true, level: "none", dns: "open" });
    expect(report.items.map(({ enforcement }) => enforcement)).toEqual(
      Array.from({ length: 15 }, () => "none"),
    );
    expect(new Set(report.items.map(({ aspect }) => aspect)).size).toBe(15);
  });

  it("says where nobody ends what the agent leaves behind", () => {
    const childrenOf = (found: NativeHelper): string | undefined =>
      makeOpenReport({ ...facts, helper: found }).items.find(
        ({ aspect }) => aspect === "child_processes",
      )?.reason;
    expect(childrenOf(helper)).toContain("ends with the agent");
    expect(childrenOf({ isAvailable: false, reason: "there is no C compiler", fix: "" })).toContain(
      "outlive the agent: there is no C compiler",
    );
  });
});

describe("makeOpenObstacle()", () => {
  it("says why, and what would help", () => {
    const report = makeOpenObstacle("preload", { reason: "why", fix: "what" });
    expect(report).toMatchObject({
      sandbox: "preload",
      isAvailable: false,
      level: "none",
      reason: "why",
      fix: "what",
      dns: "open",
    });
    expect(report.items.length).toBe(15);
  });
});
