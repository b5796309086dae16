import { describe, expect, it } from "vitest";
import { type Automaton, buildAutomaton } from "./automaton.js";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Every match as `end:label:length`. */
function run({ next, found, label }: Automaton, text: string): readonly string[] {
  let state = 0;
  return [...bytes(text)].flatMap((byte, at) => {
    state = next(state, byte);
    const length = found[state] ?? 0;
    return length === 0 ? [] : [`${at + 1}:${label[state]}:${length}`];
  });
}

describe("buildAutomaton()", () => {
  it("finds the longest pattern that ends at each byte", () => {
    const automaton = buildAutomaton(
      ["he", "she", "his", "hers", "ers"].map((text, label) => ({ bytes: bytes(text), label })),
    );
    expect(run(automaton, "ushers his")).toEqual(["4:1:3", "6:3:4", "10:2:3"]);
    expect(automaton.reach).toBe(4);
  });

  it("takes every longer beginning of a pattern that is complete before its end", () => {
    const automaton = buildAutomaton([{ bytes: bytes("abcd=="), label: 7, complete: 4 }]);
    expect(run(automaton, "abcd==abcde")).toEqual(["4:7:4", "5:7:5", "6:7:6", "10:7:4"]);
  });

  it("finds what a plain search finds, in texts over few letters", () => {
    const words = ["aa", "aab", "abaa", "bba", "babab"];
    const automaton = buildAutomaton(words.map((word, label) => ({ bytes: bytes(word), label })));
    for (let number = 0; number < 4_096; number++) {
      const text = number.toString(2).padStart(12, "0").replaceAll("0", "a").replaceAll("1", "b");
      const want = Array.from(text, (_char, at) => {
        const [longest] = words
          .filter((word) => text.slice(0, at + 1).endsWith(word))
          .toSorted((left, right) => right.length - left.length);
        return longest === undefined
          ? []
          : [`${at + 1}:${words.indexOf(longest)}:${longest.length}`];
      }).flat();
      expect(run(automaton, text)).toEqual(want);
    }
  });

  it("finds nothing without patterns", () => {
    expect(run(buildAutomaton([]), "abc")).toEqual([]);
  });

  it("takes a time that grows with the text alone, also where a pattern nearly matches everywhere", () => {
    const automaton = buildAutomaton([{ bytes: bytes(`${"a".repeat(5_000)}b`), label: 0 }]);
    let steps = 0;
    let state = 0;
    for (; steps < 400_000; steps++)
      state = automaton.next(state, steps % 6_000 === 5_999 ? 0x63 : 0x61);
    expect(automaton.depth[state]).toBeLessThanOrEqual(5_000);
  });
});
