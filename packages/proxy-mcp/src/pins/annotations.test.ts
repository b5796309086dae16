import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { warningsIn } from "./annotations.js";

describe("warningsIn()", () => {
  it("keeps what warns, and nothing that calms or is unknown", () => {
    expect(
      warningsIn({ readOnlyHint: true, destructiveHint: false, title: "safe", trusted: true }),
    ).toBeUndefined();
    expect(warningsIn({ readOnlyHint: false, destructiveHint: true, openWorldHint: 1 })).toEqual({
      readOnlyHint: false,
      destructiveHint: true,
    });
    expect(warningsIn(["readOnlyHint"])).toBeUndefined();
  });

  it("never says that a tool only reads, destroys nothing, repeats safely or stays inside", () => {
    const hints = fc.dictionary(
      fc.constantFrom("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint", "x"),
      fc.oneof(fc.boolean(), fc.string(), fc.constant(null)),
    );
    fc.assert(
      fc.property(hints, (annotations) => {
        const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint, ...more } =
          warningsIn(annotations) ?? {};
        expect([readOnlyHint, idempotentHint]).not.toContain(true);
        expect([destructiveHint, openWorldHint]).not.toContain(false);
        expect(more).toEqual({});
      }),
    );
  });
});
