/**
 * Every line that a table calls safe, run among traps: a row without such a run is a claim. The
 * quick set takes what starts at once, many in one run; `npm run test:deep` takes all, and once
 * more with a hostile text to read. Where a program is not here, the run says so with why; in CI
 * one without a reason is a failure.
 */
import { effectsNeed, type EffectWorld, makeEffectWorld } from "@acp/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isDeep } from "../../../tools/deep.js";
import { evaluateCommandSafety } from "../src/index.js";
import { corpus } from "./corpus-kit.js";
import { findEffects, NO_RUN, partsOf, ROWS } from "./effects-kit.js";
import { KNOWN_FAULTS, LONG, SLOW } from "./effects-known.js";
import { LINES } from "./effects-lines.js";
import { NOT_IN_CI_WHY } from "./effects-programs.js";

const need = effectsNeed();
const HERE = ROWS.filter(({ line, runs }) => runs !== undefined && !LONG.has(line));
const linesOf = (rows: typeof ROWS): readonly string[] => [
  ...new Set(rows.map(({ line, runs = line }) => runs)),
];
const ABSENT = ROWS.filter(({ runs }) => runs === undefined);
const PROVEN = HERE.filter(({ line }) => !KNOWN_FAULTS.has(line));
const FAST = PROVEN.filter(({ program }) => !SLOW.has(program));
/** One of ten, from every table. */
const QUICK = FAST.filter((_, at) => at % 10 === 0);

/** For whoever takes its input for commands: a shell, Tcl, Python, Erlang, a pager. */
const HOSTILE_TEXT =
  'exec touch pwned\ntouch pwned\nimport os; os.system("touch pwned")\nos:cmd("touch pwned").\n!touch pwned\n';

describe.skipIf(!need.run)(
  `safe rows in a world of traps${need.run ? "" : ` (skipped: ${need.reason})`}`,
  () => {
    let world: EffectWorld;
    beforeAll(async () => {
      world = await makeEffectWorld();
    });
    afterAll(() => world[Symbol.asyncDispose]());

    const parts = partsOf(linesOf(isDeep ? PROVEN : QUICK), isDeep ? 8 : 40);
    it.each(parts.map((lines) => [lines[0], lines] as const))(
      "have no effect, from `%s` on",
      async (_first, lines) => {
        expect(Object.fromEntries(await findEffects(lines, world, { cpuSecondsMax: 60 }))).toEqual(
          {},
        );
      },
    );

    it.each(LINES)("`%s` is such a line: the engine calls it safe", (line) => {
      expect(evaluateCommandSafety(line, { cwd: "/work/app" }).reasons).toEqual([]);
    });

    it("are enough to say something", () => {
      expect(FAST.length).toBeGreaterThan(600);
    });

    it("all have their program here, or a reason why CI may be without it", () => {
      for (const program of new Set(ABSENT.map((row) => row.program))) {
        const rows = ABSENT.filter((row) => row.program === program).map(
          ({ line }) => `\`${line}\``,
        );
        process.stdout.write(
          `not run here: ${rows.join(", ")} (${NOT_IN_CI_WHY.get(program) ?? "no reason"})\n`,
        );
      }
      if (process.env["CI"] === "true")
        expect(ABSENT.filter(({ program }) => !NOT_IN_CI_WHY.has(program))).toEqual([]);
      const programs = new Set(ROWS.map(({ program }) => program));
      expect([...NOT_IN_CI_WHY.keys()].filter((program) => !programs.has(program))).toEqual([]);
    });
  },
);

if (isDeep) describeDeep();

function describeDeep(): void {
  describe.skipIf(!need.run)(
    `safe rows in a world of traps, to the end${need.run ? "" : ` (skipped: ${need.reason})`}`,
    () => {
      let world: EffectWorld;
      beforeAll(async () => {
        world = await makeEffectWorld();
      });
      afterAll(() => world[Symbol.asyncDispose]());

      const known = HERE.filter(({ line }) => KNOWN_FAULTS.has(line));
      it.each(linesOf(known))(
        "`%s` is still at fault; delete it from the known ones where it is not",
        async (line) => {
          const effects = (await findEffects([line], world, { cpuSecondsMax: 60 })).get(line) ?? [];
          expect(effects.map((effect) => effect.split(":", 1)[0])).toContain(
            KNOWN_FAULTS.get(line)?.effect,
          );
        },
      );

      it("knows no fault of a row that is gone", () => {
        const lines = new Set(linesOf(ROWS));
        expect([...KNOWN_FAULTS.keys()].filter((line) => !lines.has(line))).toEqual([]);
      });

      // The labels too: no line of the corpus that expects safe, or is called safe, does anything.
      // Where its program is not here nothing is known.
      const called = (command: string): boolean =>
        evaluateCommandSafety(command).riskLevel === "safe";
      const labelled = corpus
        .filter(
          ({ command, expect: level }) =>
            !LONG.has(command) && (level === "safe" || called(command)),
        )
        .map(({ command }) => command);
      it.each(partsOf(labelled, 12).map((lines) => [lines[0], lines] as const))(
        "of the corpus have no effect: `%s`",
        async (_first, lines) => {
          const found = await findEffects(lines, world, { cpuSecondsMax: 60 });
          expect([...found].filter(([, effects]) => !effects.includes(NO_RUN))).toEqual([]);
        },
      );

      const readers = new Set(["tclsh --version", "erl --version"]);
      const piped = partsOf(
        linesOf(PROVEN).filter((line) => !readers.has(line)),
        8,
      );
      it.each(piped.map((lines) => [lines[0], lines] as const))(
        "have no effect with a hostile text to read, from `%s` on",
        async (_first, lines) => {
          expect(
            Object.fromEntries(
              await findEffects(lines, world, {
                cpuSecondsMax: 60,
                stdin: { piped: HOSTILE_TEXT },
              }),
            ),
          ).toEqual({});
        },
      );
    },
  );
}
