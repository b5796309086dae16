import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runBpf } from "../test/bpf-interpreter.js";
import type { BpfLine, BpfTest } from "./seccomp-assembler.js";
import { assembleBpf } from "./seccomp-assembler.js";

const run = (lines: readonly BpfLine[], first: number): number =>
  runBpf(assembleBpf(lines), { number: first, arch: 0, args: [] });
const label = (name: string): BpfLine => ({ kind: "label", name });
const give = (value: number): BpfLine => ({ kind: "return", value });
const load: BpfLine = { kind: "load", offset: 0 };

/**
 * A program of rows: each tests the loaded value and goes to a later row, which returns its own
 * number.
 */
interface Row {
  readonly test: BpfTest;
  readonly value: number;
  readonly yes: number;
  readonly no: number | undefined;
}

const word = fc.oneof(
  fc.nat({ max: 8 }),
  fc.constantFrom(0x7fff_ffff, 0x8000_0000, 0xffff_ffff),
  fc.integer({ min: 0, max: 0xffff_ffff }),
);
const rows = fc.array(
  fc.record({
    test: fc.constantFrom<BpfTest>("equal", "atLeast", "anyBit"),
    value: word,
    yes: fc.nat({ max: 900 }),
    no: fc.option(fc.nat({ max: 900 }), { nil: undefined }),
  }),
  { minLength: 1, maxLength: 600 },
);

function program(table: readonly Row[]): readonly BpfLine[] {
  return [
    load,
    ...table.map(
      ({ test, value, yes, no }): BpfLine => ({
        kind: "jump",
        test,
        value,
        yes: `${yes}`,
        ...(no === undefined ? {} : { no: `${no}` }),
      }),
    ),
    give(0xbeef),
    ...Array.from({ length: 901 }, (_, index): readonly BpfLine[] => [
      label(`${index}`),
      give(index),
    ]).flat(),
  ];
}

/** What the rows mean, said without jumps. */
function meaning(table: readonly Row[], loaded: number): number {
  for (const { test, value, yes, no } of table) {
    const holds =
      test === "equal"
        ? loaded === value
        : test === "atLeast"
          ? loaded >= value
          : (BigInt(loaded) & BigInt(value)) !== 0n;
    if (holds) return yes;
    if (no !== undefined) return no;
  }
  return 0xbeef;
}

describe("assembleBpf()", () => {
  it("means what its lines mean, however far the jumps reach", () => {
    fc.assert(
      fc.property(rows, word, (table, loaded) => {
        expect(run(program(table), loaded)).toBe(meaning(table, loaded));
      }),
    );
  });

  it("keeps a jump of 255 instructions short and spells one of 256 with three", () => {
    const reaching = (distance: number): readonly BpfLine[] => [
      load,
      { kind: "jump", test: "equal", value: 1, yes: "far" },
      ...Array.from({ length: distance }, () => give(0)),
      label("far"),
      give(7),
    ];
    expect(assembleBpf(reaching(255)).length / 8).toBe(258);
    expect(assembleBpf(reaching(256)).length / 8).toBe(261);
    for (const distance of [255, 256])
      expect([run(reaching(distance), 1), run(reaching(distance), 2)]).toEqual([7, 0]);
  });

  it("follows a jump that is out of reach only because another became long", () => {
    // The first reaches 254 instructions over the second, which is long: 254 + 2 is out of reach.
    const lines: readonly BpfLine[] = [
      load,
      { kind: "jump", test: "equal", value: 1, yes: "near" },
      { kind: "jump", test: "equal", value: 2, yes: "far" },
      ...Array.from({ length: 253 }, () => give(0)),
      label("near"),
      give(1),
      ...Array.from({ length: 10 }, () => give(0)),
      label("far"),
      give(2),
    ];
    expect([1, 2, 3].map((value) => run(lines, value))).toEqual([1, 2, 0]);
  });

  it("goes and masks", () => {
    const lines: readonly BpfLine[] = [
      load,
      { kind: "mask", bits: 0xf0 },
      { kind: "goto", to: "end" },
      give(1),
      label("end"),
      give(2),
    ];
    expect(run(lines, 0xff)).toBe(2);
    const masked: readonly BpfLine[] = [
      load,
      { kind: "mask", bits: 0xf0 },
      { kind: "jump", test: "equal", value: 0x30, yes: "same" },
      give(1),
      label("same"),
      give(2),
    ];
    expect([0x35, 0x45].map((value) => run(masked, value))).toEqual([2, 1]);
  });

  it.each<[string, readonly BpfLine[]]>([
    ["is missing", [{ kind: "goto", to: "nowhere" }, give(0)]],
    ["is given twice", [label("a"), give(0), label("a"), give(1)]],
    ["is behind its jump", [label("a"), load, { kind: "goto", to: "a" }]],
  ])("refuses a label that %s", (_, lines) => {
    expect(() => assembleBpf(lines)).toThrow(expect.objectContaining({ code: "options_invalid" }));
  });

  it("refuses a program that the kernel would refuse for its length", () => {
    const returns = (count: number): readonly BpfLine[] =>
      Array.from({ length: count }, () => give(0));
    expect(assembleBpf(returns(4096)).length).toBe(4096 * 8);
    expect(() => assembleBpf(returns(4097))).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
  });
});
