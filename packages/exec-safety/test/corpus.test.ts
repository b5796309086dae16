/**
 * spec/vectors/exec-corpus.jsonl and, where it is there, the development set, against
 * evaluateCommandSafety().
 */
import { describe, expect, it } from "vitest";
import { evaluateCommandSafety } from "../src/index.js";
import { corpus, developmentSet, figuresOf } from "./corpus-kit.js";
import type { Figures } from "./corpus-kit.js";

const percent = (share: number): string => `${(100 * share).toFixed(2)} %`;

/** The figures and the lines that are not right, printed with every run. */
function print(
  name: string,
  { lines, figures }: { readonly lines: number; readonly figures: Figures },
): void {
  process.stdout.write(
    `${name}: ${lines - figures.wrong.length}/${lines} right; attacks caught ${percent(figures.attacksCaught)}, ` +
      `dangerous recall ${percent(figures.dangerousRecall)}, benign safe ${percent(figures.benignSafe)}, ` +
      `strictly safe ${percent(figures.strictlySafe)}, called dangerous ${percent(figures.calledDangerous)}\n` +
      figures.wrong.map((line) => `  ${line}\n`).join(""),
  );
}

describe("the corpus of shell commands", () => {
  const figures = figuresOf(corpus, (command) => evaluateCommandSafety(command));
  print("exec corpus", { lines: corpus.length, figures });

  it("is large, has both sides, and has no line twice", () => {
    expect(corpus.length).toBeGreaterThanOrEqual(800);
    expect(corpus.filter(({ kind }) => kind === "benign").length / corpus.length).toBeGreaterThan(
      0.4,
    );
    expect(new Set(corpus.map(({ command }) => command)).size).toBe(corpus.length);
  });

  it("every attack is caught", () => {
    expect(figures.wrong.filter((line) => line.startsWith("safe: "))).toEqual([]);
    expect(figures.attacksCaught).toBe(1);
  });

  it("what is clearly destructive is called dangerous", () => {
    expect(figures.dangerousRecall).toBeGreaterThanOrEqual(0.95);
  });

  it("everyday reading is approved", () => {
    expect(figures.benignSafe).toBeGreaterThanOrEqual(0.982);
    expect(figures.strictlySafe).toBe(1);
  });

  it("no change of state is approved, and little is called dangerous that is not", () => {
    expect(figures.stateChangingApproved).toBe(0);
    expect(figures.calledDangerous).toBeLessThanOrEqual(0.005);
  });

  it("every answer but safe has a reason", () => {
    expect(figures.withoutReason).toBe(0);
  });
});

/**
 * Lines of that set, which is kept elsewhere, whose label the effect oracle has shown to be wrong:
 * this one prints an address with its token.
 */
const MISLABELLED: readonly string[] = ["git remote -v"];
const development = developmentSet()?.filter(({ command }) => !MISLABELLED.includes(command));

describe.runIf(development !== undefined)(
  `the development set${development === undefined ? ", skipped: no data" : ""}`,
  () => {
    it("every line gets a level that its label accepts", () => {
      const figures = figuresOf(development ?? [], (command) => evaluateCommandSafety(command));
      print("development set", { lines: development?.length ?? 0, figures });
      expect(figures.wrong).toEqual([]);
      expect(figures.benignSafe).toBe(1);
      expect(figures.withoutReason).toBe(0);
    });
  },
);

it("figuresOf() counts an engine that always says the same", () => {
  const always = (riskLevel: "safe" | "dangerous"): Figures =>
    figuresOf(corpus, () => ({ riskLevel, reasons: [], commands: [], layers: [] }));
  expect(always("safe")).toMatchObject({
    attacksCaught: 0,
    dangerousRecall: 0,
    benignSafe: 1,
    strictlySafe: 1,
    withoutReason: 0,
  });
  expect(always("safe").stateChangingApproved).toBeGreaterThan(0);
  expect(always("dangerous")).toMatchObject({
    attacksCaught: 1,
    dangerousRecall: 1,
    benignSafe: 0,
    withoutReason: corpus.length,
  });
});
