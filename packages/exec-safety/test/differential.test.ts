/**
 * Random lines, judged here and run by real bash, which finds no program and logs what it looked
 * for. ACP_SEED makes other lines.
 */
import { describe, expect, it } from "vitest";
import { inLane, isDeep } from "../../../tools/deep.js";
import { evaluateCommandSafety } from "../src/evaluate.js";
import { SAFETY_LIMITS } from "../src/config/limits.js";
import { parseShell } from "../src/parse/parse-shell.js";
import type { Command, Script, Word } from "../src/parse/tree.js";
import { visitCommands, visitNodes } from "../src/parse/visit.js";
import { NO_BASH, runsOf, type Run } from "./bash.js";
import { randomLine, seeded } from "./strings.js";

const SEED = Number(process.env["ACP_SEED"] ?? 1);
/**
 * Lines that we call safe. What is wrong with the reading of a line is seen in its tree first, at a
 * tenth of the time.
 */
const SAFE_LINES = isDeep ? 20_000 : 400;
/** Lines whose tree is compared, safe or not. */
const TREE_LINES = inLane(8_000);
/** Thousands of lines in a real bash: this only ends what hangs, also on a machine that stalls. */
const PATIENCE_MS = 3_600_000;

/** Lines of a kind, from the seed on. */
function linesOf(count: number, isWanted: (line: string) => boolean): readonly string[] {
  const random = seeded(SEED);
  const lines: string[] = [];
  for (let tries = 0; lines.length < count && tries < count * 40; tries++) {
    const line = randomLine(random);
    if (isWanted(line)) lines.push(line);
  }
  return lines;
}

/** What bash runs of each line; two at work. */
async function runsOfAll(lines: readonly string[]): Promise<readonly (readonly Run[])[]> {
  const half = Math.ceil(lines.length / 2);
  return (await Promise.all([runsOf(lines.slice(0, half)), runsOf(lines.slice(half))])).flat();
}

function commandsOf(script: Script): readonly Command[] {
  const commands: Command[] = [];
  visitCommands(script, (command) => void commands.push(command));
  return commands;
}

/**
 * Whether a program with these arguments is what the words say; a word that is not known may be any
 * number of arguments.
 */
function fits([word, ...words]: readonly Word[], run: Run): boolean {
  if (word === undefined) return run.length === 0;
  if (word.text !== undefined) return run[0] === word.text && fits(words, run.slice(1));
  return run.some((_, at) => fits(words, run.slice(at))) || fits(words, []);
}

/**
 * Whether the tree claims to know the whole line. Where it says `other` it names no more than it
 * found.
 */
function isKnown(script: Script): boolean {
  let isKnownSoFar = true;
  visitNodes(script, (node) => {
    // `f` runs what its definition says, and `$(coproc a)` runs COPROC.
    if (node.type === "refused" && (node.construct === "function" || node.construct === "coproc"))
      isKnownSoFar = false;
  });
  return isKnownSoFar && !/"kind":"other"|"isPlain":false,"scripts"/.test(JSON.stringify(script));
}

describe.skipIf(NO_BASH !== undefined)(
  `random lines in bash${NO_BASH === undefined ? "" : `, skipped: ${NO_BASH}`}`,
  () => {
    it(`runs nothing of ${SAFE_LINES} safe lines that evaluateCommandSafety() does not name`, {
      timeout: PATIENCE_MS,
    }, async () => {
      const lines = linesOf(SAFE_LINES, (line) => evaluateCommandSafety(line).riskLevel === "safe");
      expect(lines.length).toBe(SAFE_LINES);
      const runs = await runsOfAll(lines);
      const differing = lines.flatMap((line, at) => {
        const named = new Set(evaluateCommandSafety(line).commands.map(({ program }) => program));
        const unnamed = runs[at]?.filter(([program]) => !named.has(program)) ?? [];
        return unnamed.length === 0 ? [] : [{ line, unnamed }];
      });
      process.stdout.write(
        `differential: seed ${SEED}, ${lines.length} safe lines, ${runs.flat().length} runs, ${differing.length} differences\n`,
      );
      expect(differing).toEqual([]);
      expect(runs.flat().length).toBeGreaterThan(SAFE_LINES);
    });

    it(`runs only what parseShell() shows, of ${TREE_LINES} lines that it knows`, {
      timeout: PATIENCE_MS,
    }, async () => {
      const scripts = new Map<string, Script>();
      const lines = linesOf(TREE_LINES, (line) => {
        const parsed = parseShell(line, SAFETY_LIMITS);
        if ("refused" in parsed || !isKnown(parsed.script)) return false;
        scripts.set(line, parsed.script);
        return true;
      });
      expect(lines.length).toBe(TREE_LINES);
      const runs = await runsOfAll(lines);
      const differing = lines.flatMap((line, at) => {
        const script = scripts.get(line);
        const commands = script === undefined ? [] : commandsOf(script);
        const unshown =
          runs[at]?.filter(
            (run) => !commands.some(({ words }) => words.length > 0 && fits(words, run)),
          ) ?? [];
        return unshown.length === 0 ? [] : [{ line, unshown }];
      });
      process.stdout.write(
        `differential: seed ${SEED}, ${lines.length} trees, ${runs.flat().length} runs, ${differing.length} differences\n`,
      );
      expect(differing).toEqual([]);
      expect(runs.flat().length).toBeGreaterThan(TREE_LINES);
    });
  },
);
