import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLineSplitter } from "./line-splitter.js";

describe("createLineSplitter()", () => {
  it("gives the same lines however the bytes are cut", () => {
    const cut = fc.tuple(fc.uint8Array({ maxLength: 200 }), fc.array(fc.nat(200)));
    fc.assert(
      fc.property(cut, ([bytes, cuts]) => {
        const at = [
          ...new Set([0, ...cuts.filter((each) => each <= bytes.length), bytes.length]),
        ].sort((a, b) => a - b);
        const splitter = createLineSplitter(1_000);
        const lines = at
          .slice(1)
          .flatMap((end, index) => splitter.push(bytes.subarray(at[index], end)) ?? []);
        const want = Buffer.from(bytes).toString("latin1").split("\n").slice(0, -1);
        expect(lines.map((line) => Buffer.from(line).toString("latin1"))).toEqual(want);
      }),
    );
  });

  it("gives up a line that is too long, finished or not", () => {
    expect(createLineSplitter(3).push(Buffer.from("abc\n"))).toHaveLength(1);
    expect(createLineSplitter(3).push(Buffer.from("abcd\n"))).toBeUndefined();
    const slow = createLineSplitter(3);
    expect(slow.push(Buffer.from("ab"))).toEqual([]);
    expect(slow.push(Buffer.from("cd"))).toBeUndefined();
  });
});
