import { describe, expect, it } from "vitest";
import { BINARIES, TABLES } from "../src/exec/binaries/binaries.js";
import { grammarOf } from "../src/exec/binaries/grammar.js";
import type { Binary, BinaryTable } from "../src/exec/binaries/table.js";
import { evaluateCommandSafety } from "../src/exec/evaluate.js";

function entriesOf(table: BinaryTable, before = ""): readonly (readonly [string, Binary])[] {
  return Object.entries(table).flatMap(([name, binary]) => [
    [`${before}${name}`, binary] as const,
    ...entriesOf(binary.subcommands ?? {}, `${before}${name} `),
  ]);
}

const ENTRIES = entriesOf(BINARIES);

describe("tables of programs", () => {
  it("name every program once", () => {
    const names = TABLES.flatMap((table) => Object.keys(table));
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it.each(ENTRIES)("%s can be read", (_name, binary) => {
    expect(() => grammarOf(binary)).not.toThrow();
  });

  it.each(ENTRIES)("%s has examples", (_name, { examples }) => {
    expect(examples.safe.length + examples.review.length).toBeGreaterThan(0);
  });

  it.each(ENTRIES.flatMap(([, { examples }]) => examples.safe))("%s is safe", (line) => {
    const { riskLevel, reasons } = evaluateCommandSafety(line);
    expect({ riskLevel, reasons: reasons.map(({ message }) => message) }).toEqual({ riskLevel: "safe", reasons: [] });
  });

  it.each(ENTRIES.flatMap(([, { examples }]) => examples.review))("%s is not safe", (line) => {
    const { riskLevel, reasons } = evaluateCommandSafety(line);
    expect(riskLevel).not.toBe("safe");
    expect(reasons.length).toBeGreaterThan(0);
  });
});
