import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createPrefixTree } from "./prefix-tree.js";

const word = fc.string({ unit: fc.constantFrom("a", "b", "\u{1F600}"), maxLength: 6 });

describe("createPrefixTree()", () => {
  it("finds what a plain search finds", () => {
    fc.assert(
      fc.property(fc.array(word), word, (texts, text) => {
        const tree = createPrefixTree();
        for (const [number, each] of texts.entries()) tree.add(each, number);
        const found: number[] = [];
        tree.collect(text, found);
        const wanted = texts.flatMap((each, number) => (text.startsWith(each) ? [number] : []));
        expect(found.toSorted((a, b) => a - b)).toEqual(wanted);
        expect(tree.all).toEqual(texts.map((_, number) => number));
      }),
    );
  });
});
