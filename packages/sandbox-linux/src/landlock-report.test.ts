import type { SandboxItem, SandboxReport } from "@acp/core";
import { describe, expect, it } from "vitest";
import { makeLandlockObstacle, makeLandlockReport } from "./landlock-report.js";

const caps: SandboxItem = { aspect: "resource_caps", enforcement: "partial", reason: "some" };
const of = ({ items }: SandboxReport, aspect: string): SandboxItem | undefined =>
  items.find((item) => item.aspect === aspect);

describe("makeLandlockReport()", () => {
  it("is partial whatever is in force, and names what remains", () => {
    const report = makeLandlockReport({ network: "proxy", landlockAbi: 7, caps });
    expect(report).toMatchObject({
      level: "partial",
      isAvailable: true,
      dns: "closed",
      reason: expect.stringContaining("on other hosts"),
    });
    expect(of(report, "tcp")).toMatchObject({ enforcement: "partial" });
    expect(of(report, "files")).toMatchObject({ enforcement: "partial" });
    expect(new Set(report.items.map(({ aspect }) => aspect)).size).toBe(15);
  });

  it("holds TCP wholly only where there is none", () => {
    const report = makeLandlockReport({ network: "none", landlockAbi: 7, caps });
    expect([report.level, of(report, "tcp")?.enforcement]).toEqual(["partial", "enforced"]);
  });

  it("holds signals where Landlock knows them", () => {
    const enforcement = (landlockAbi: number): string | undefined =>
      of(makeLandlockReport({ network: "proxy", landlockAbi, caps }), "signals")?.enforcement;
    expect([4, 5, 6, 7].map(enforcement)).toEqual(["none", "none", "enforced", "enforced"]);
  });
});

describe("makeLandlockObstacle()", () => {
  it("claims nothing, and says what would help", () => {
    const report = makeLandlockObstacle({ reason: "why", fix: "what" });
    expect(report).toMatchObject({ level: "none", isAvailable: false, reason: "why", fix: "what" });
    expect(report.items.map(({ enforcement }) => enforcement)).toEqual(
      Array.from({ length: 15 }, () => "none"),
    );
  });
});
