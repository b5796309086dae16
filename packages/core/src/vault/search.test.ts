import { expect, it } from "vitest";
import { buildAutomaton } from "./automaton.js";
import { createSearch } from "./search.js";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const SAME = Uint8Array.from({ length: 256 }, (_, byte) => byte);

it.each([
  ["one length", ["abab", "bbba", "aaaa"]],
  ["several lengths", ["abcab", "bcabcabca", "cccccccc", "aabaabaab"]],
  ["shorter than three bytes", ["ab", "bcbc"]],
])(
  "createSearch() finds what the automaton finds, and ends in its state, in two stretches: %s",
  (_name, words) => {
    const patterns = words.map((word, label) => ({
      bytes: bytes(word),
      label,
      complete: Math.max(2, word.length - 1),
    }));
    const automaton = buildAutomaton(patterns);
    const search = createSearch(automaton, patterns, SAME);
    let seed = 7;
    let matches = 0;
    for (let round = 0; round < 3_000; round++) {
      const text = Uint8Array.from({ length: 24 }, () => {
        seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
        return 0x61 + ((seed >> 16) % 3);
      });
      const want: string[] = [];
      let state = 0;
      for (const [at, byte] of text.entries()) {
        state = automaton.next(state, byte);
        const length = automaton.found[state] ?? 0;
        if (length > 0) want.push(`${at + 1}:${length}:${automaton.label[state] ?? 0}`);
      }
      const got: string[] = [];
      const take = (to: number, length: number, label: number): void =>
        void got.push(`${to}:${length}:${label}`);
      const cut = round % 25;
      const between = search({ bytes: text, from: 0, to: cut }, 0, take);
      expect([search({ bytes: text, from: cut, to: text.length }, between, take), got]).toEqual([
        state,
        want,
      ]);
      matches += want.length;
    }
    expect(matches).toBeGreaterThan(100);
  },
);

it("createSearch() without patterns finds nothing", () => {
  expect(
    createSearch(buildAutomaton([]), [], SAME)({ bytes: bytes("abc"), from: 0, to: 3 }, 0, () =>
      expect.unreachable(),
    ),
  ).toBe(0);
});
