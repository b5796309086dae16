import { describe, expect, it } from "vitest";
import { createLinkMap } from "./review-link-map.js";

describe("createLinkMap()", () => {
  it("judges a change by the links that are there, and not only by itself", () => {
    const map = createLinkMap("/w", [["hop", "deep/er/../.."]]);
    expect(map.breaks("deep/er", "../shallow")).toBe(true);
    expect(map.breaks("deep/er", "../very/far/away")).toBe(false);
    expect(map.breaks("other", "deep/er")).toBe(false);
  });

  it("judges what comes after what was taken", () => {
    const map = createLinkMap("/w", []);
    expect(map.breaks("hop", "deep/er/../..")).toBe(false);
    map.set("hop", "deep/er/../..");
    expect(map.breaks("deep/er", "../shallow")).toBe(true);
    map.set("hop", undefined);
    expect(map.breaks("deep/er", "../shallow")).toBe(false);
  });

  it("judges also what goes: a link on the way that becomes a folder", () => {
    const map = createLinkMap("/w", [
      ["hop", "p/../.."],
      ["p", "one/two/three"],
    ]);
    expect(map.breaks("p", undefined)).toBe(true);
    expect(map.breaks("p", "one")).toBe(true);
    expect(map.breaks("p", "one/two/other")).toBe(false);
  });

  it("leaves what leads out already to whose it is", () => {
    const map = createLinkMap("/w", [["etc", "/etc"]]);
    expect(map.breaks("other", "a")).toBe(false);
    expect(map.breaks("etc", undefined)).toBe(false);
    expect(map.breaks("over", "etc/passwd")).toBe(true);
    expect(map.breaks("etc", "/etc/ssl")).toBe(true);
  });
});
