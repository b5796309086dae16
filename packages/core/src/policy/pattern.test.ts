import { describe, expect, it } from "vitest";
import { matchGlob, parseGlob } from "./pattern.js";
import { spotOf } from "./spot.js";

describe("parseGlob()", () => {
  it("takes long ends, and at most 128 characters between two *", () => {
    expect(
      parseGlob(
        spotOf(`${"a".repeat(300)}*${"b".repeat(128)}*${"c".repeat(300)}`, ["tool"]),
        4_096,
      )("a"),
    ).toBe(false);
    expect(() => parseGlob(spotOf(`*${"b".repeat(129)}*`, ["tool"]), 4_096)).toThrow(
      expect.objectContaining({ code: "policy_invalid", path: "tool" }),
    );
  });
});

describe("matchGlob()", () => {
  it("reads a text as a glob and { path } as a path pattern", () => {
    expect(matchGlob("/tmp/*", "/tmp/../etc/passwd")).toBe(true);
    expect(matchGlob({ path: "/tmp/**" }, "/tmp/../etc/passwd")).toBe(false);
  });
});
