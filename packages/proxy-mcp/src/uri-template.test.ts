import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileTemplate, spaceOf } from "./uri-template.js";

describe("compileTemplate()", () => {
  it.each([
    ["x://a/{id}", "x://a/7", true],
    ["x://a/{id}", "x://a/", true],
    ["x://a/{id}", "x://a/7/8", false],
    ["x://a/{id}", "x://a/7?q", false],
    ["x://a/{id}", "x://b/7", false],
    ["x://a/{id}/end", "x://a/7/end", true],
    ["x://a/{one}-{two}", "x://a/1-2-3", true],
    ["x://a/{+path}", "x://a/7/8?q#f", true],
    ["x://a/{path*}", "x://a/7/8", true],
    ["x://a/list{?q}", "x://a/list?q=1", true],
    ["x://a/b", "x://a/b", true],
    ["x://a/b", "x://a/bc", false],
    ["urn:x:{id}", "urn:x:7", true],
  ])("%s and %s: %s", (template, uri, fits) => {
    expect(compileTemplate(template)?.matches(uri)).toBe(fits);
  });

  it.each([
    ["f{x}"],
    ["{+x}"],
    ["{x}"],
    ["{scheme}://a/b"],
    ["x{y}://a"],
    [""],
    ["{".repeat(9_000)],
    [`x://a/${"{a}b".repeat(17)}`],
  ])("is nothing for %s, which has no scheme of its own", (template) => {
    expect(compileTemplate(template)).toBeUndefined();
  });

  it.each([
    ["x://a/{id}", { scheme: "x:", authority: "x://a" }],
    ["X://A/{id}", { scheme: "x:", authority: "x://a" }],
    ["x://{host}/b", { scheme: "x:", authority: undefined }],
    ["x://a{id}", { scheme: "x:", authority: undefined }],
    ["x:/{+more}", { scheme: "x:", authority: undefined }],
    ["x:{+more}", { scheme: "x:", authority: undefined }],
    ["file:///{path}", { scheme: "file:", authority: "file://" }],
    ["urn:x:{id}", { scheme: "urn:", authority: "" }],
  ])("%s is in a space of its own", (template, space) => {
    expect(compileTemplate(template)?.space).toEqual(space);
  });

  it("never takes a URI of another space", () => {
    const piece = fc.constantFrom("x", "y", ":", "/", "//", "{a}", "{+a}", "?", "#", "b", "@");
    const text = fc.array(piece, { maxLength: 8 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, text, (template, uri) => {
        const compiled = compileTemplate(template);
        if (compiled === undefined || !compiled.matches(uri)) return;
        const space = spaceOf(uri);
        expect(space?.scheme).toBe(compiled.space.scheme);
        if (compiled.space.authority !== undefined)
          expect(space?.authority).toBe(compiled.space.authority);
      }),
    );
  });

  it("costs little whatever both say", () => {
    const before = process.cpuUsage();
    const template = compileTemplate(`x://a/${"{+a}b".repeat(16)}`);
    expect(template?.matches(`x://a/${"b".repeat(8_000)}c`)).toBe(false);
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(5_000);
  });
});
