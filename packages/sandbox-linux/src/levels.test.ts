import { describe, expect, it } from "vitest";
import type { SandboxLevel, SandboxReport } from "@acp/core";
import { reachesLevel, requireLevel } from "./levels.js";

const LEVELS: readonly SandboxLevel[] = ["none", "advisory", "partial", "uid", "full"];
const report = (level: SandboxLevel, isAvailable = true): SandboxReport => ({
  sandbox: "uid",
  isAvailable,
  level,
  reason: "of this",
  fix: "do that",
  dns: "closed",
  items: [],
});

describe("reachesLevel()", () => {
  it("orders them", () => {
    for (const [at, level] of LEVELS.entries()) {
      for (const [other, required] of LEVELS.entries())
        expect(reachesLevel(level, required)).toBe(at >= other);
    }
  });
});

describe("requireLevel()", () => {
  it("lets the level and more pass, and any where none is asked for", () => {
    expect(() => requireLevel(report("uid"), "uid")).not.toThrow();
    expect(() => requireLevel(report("none"))).not.toThrow();
  });

  it("throws sandbox_unavailable with the reason and the fix", () => {
    const unavailable = expect.objectContaining({
      code: "sandbox_unavailable",
      message: expect.stringMatching(/of this.*; do that$/u),
    });
    expect(() => requireLevel(report("partial"), "uid")).toThrow(unavailable);
    expect(() => requireLevel(report("none", false))).toThrow(unavailable);
  });
});
