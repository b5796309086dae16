/**
 * Both halves of spec/vectors/exec-trajectories*.jsonl against evaluateCommandSafety(): how often
 * real agents would be asked.
 */
import { describe, expect, it } from "vitest";
import { evaluateCommandSafety } from "../src/index.js";
import { figuresOf, half } from "./trajectories-kit.js";
import type { AskedFigures, TrajectoryLine } from "./trajectories-kit.js";

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

/**
 * The figures of a half, printed with every run; the lines themselves only of the half that may be
 * tuned on.
 */
function print(name: string, figures: AskedFigures): void {
  const { lines, changesApproved, approvedWrongly, calledDangerous } = figures;
  process.stdout.write(
    `trajectories, ${name}: ${lines} lines; asked ${percent(figures.asked)} of all, ${percent(figures.askedReading)} of those that only read, ` +
      `${percent(figures.askedNeedlessly)} of those that may be safe; changes of state approved ${changesApproved.length}, ` +
      `others approved wrongly ${approvedWrongly.length}, called dangerous ${calledDangerous.length}\n`,
  );
  if (name !== "tuning") return;
  for (const line of [...changesApproved, ...approvedWrongly])
    process.stdout.write(`  approved: ${line}\n`);
  for (const line of calledDangerous) process.stdout.write(`  dangerous: ${line}\n`);
}

const tuning = half("tuning") ?? [];
const heldOut = half("held-out");

/**
 * Most of each half that may be asked or wrong. Who asks less lowers it; a mend of safety that asks
 * more may raise it, and says so.
 */
const BOUNDS = { askedNeedlessly: 0.2, approvedWrongly: 0.005, calledDangerous: 0.005 };

function judge(name: string, lines: readonly TrajectoryLine[]): void {
  const figures = figuresOf(lines, evaluateCommandSafety);
  print(name, figures);

  it("is large and of many agents and sessions, and has no line twice", () => {
    expect(lines.length).toBeGreaterThanOrEqual(1_000);
    expect(new Set(lines.map(({ agent }) => agent)).size).toBeGreaterThanOrEqual(5);
    expect(new Set(lines.map(({ session }) => session)).size).toBeGreaterThanOrEqual(300);
    expect(new Set(lines.map(({ command }) => command)).size).toBe(lines.length);
  });

  it("no change of state is approved", () => {
    expect(figures.changesApproved.length).toBe(0);
  });

  it("little is asked that may be safe", () => {
    expect(figures.askedNeedlessly).toBeLessThanOrEqual(BOUNDS.askedNeedlessly);
  });

  it("next to nothing that runs code or reads secrets is approved, or called dangerous that is not", () => {
    expect(figures.approvedWrongly.length / figures.lines).toBeLessThanOrEqual(
      BOUNDS.approvedWrongly,
    );
    expect(figures.calledDangerous.length / figures.lines).toBeLessThanOrEqual(
      BOUNDS.calledDangerous,
    );
  });

  it("every question has a reason", () => {
    expect(figures.withoutReason).toBe(0);
  });
}

describe("the tuning half of the trajectories", () => {
  judge("tuning", tuning);
});

describe.runIf(heldOut !== undefined)(
  `the held-out half${heldOut === undefined ? ", skipped: no data" : ""}`,
  () => {
    judge("held-out", heldOut ?? []);

    it("shares neither a session nor a line with the tuning half", () => {
      for (const key of ["session", "command"] as const) {
        const seen = new Set(tuning.map((line) => line[key]));
        expect((heldOut ?? []).filter((line) => seen.has(line[key])).length).toBe(0);
      }
    });
  },
);

it("figuresOf() counts an engine that always says the same", () => {
  const always = (riskLevel: "safe" | "dangerous"): AskedFigures =>
    figuresOf(tuning, () => ({ riskLevel, reasons: [], commands: [], layers: [] }));
  const changing = tuning.filter(({ changes }) => changes === "yes").length;
  const mayBeSafe = tuning.filter(({ accept }) => accept.includes("safe")).length;
  expect(always("safe")).toMatchObject({
    asked: 0,
    askedReading: 0,
    askedNeedlessly: 0,
    calledDangerous: [],
    withoutReason: 0,
  });
  expect(always("safe").changesApproved.length).toBe(changing);
  expect(always("safe").approvedWrongly.length).toBe(tuning.length - changing - mayBeSafe);
  expect(always("dangerous")).toMatchObject({
    asked: 1,
    askedNeedlessly: 1,
    changesApproved: [],
    withoutReason: tuning.length,
  });
  expect(always("dangerous").calledDangerous.length).toBe(
    tuning.filter(({ accept }) => !accept.includes("dangerous")).length,
  );
});
