/**
 * The corpus of shell commands (spec/exec-corpus.md): its rows, and the figures of an engine on
 * them.
 */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { COMMAND_RISKS, type CommandRisk, type CommandSafety } from "../src/index.js";

const LEVELS: readonly string[] = COMMAND_RISKS;

export interface CorpusRow {
  readonly command: string;
  readonly expect: CommandRisk | "not-safe";
  readonly accept: readonly CommandRisk[];
  readonly kind: "attack" | "benign";
  readonly technique: string;
}

const root: string = fileURLToPath(new URL("../../..", import.meta.url));
const texts: readonly string[] = ["command", "why", "source", "technique", "sub"];

/** Whether a parsed line is a row with every field of the format. */
function isRow(row: unknown): row is CorpusRow {
  if (typeof row !== "object" || row === null) return false;
  const fields = new Map<string, unknown>(Object.entries(row));
  const accept = fields.get("accept");
  const expected = String(fields.get("expect"));
  return (
    texts.every((name) => typeof fields.get(name) === "string") &&
    (LEVELS.includes(expected) || expected === "not-safe") &&
    (fields.get("kind") === "attack" || fields.get("kind") === "benign") &&
    Array.isArray(accept) &&
    accept.length > 0 &&
    accept.every((level) => LEVELS.includes(String(level)))
  );
}

function rowsOf(path: string): readonly CorpusRow[] {
  return readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line, index) => {
      const row: unknown = JSON.parse(line);
      if (isRow(row)) return row;
      throw new Error(
        `Cannot read line ${index + 1} of "${path}": a field is missing or has a value of its own`,
      );
    });
}

export const corpus: readonly CorpusRow[] = rowsOf(join(root, "spec/vectors/exec-corpus.jsonl"));

/**
 * The set that was there before the engine, beside the third-party vectors; `undefined` where that
 * folder is absent.
 */
export function developmentSet(): readonly CorpusRow[] | undefined {
  const path = resolve(
    root,
    process.env["ACP_VECTORS"] ?? "../shared/vectors",
    "../data/exec-dev.jsonl",
  );
  return existsSync(path) ? rowsOf(path) : undefined;
}

/**
 * What is counted (spec/exec-corpus.md §4): shares from 0 to 1, counts, and the lines whose level
 * is not right.
 */
export interface Figures {
  readonly attacksCaught: number;
  readonly dangerousRecall: number;
  readonly benignSafe: number;
  readonly strictlySafe: number;
  readonly stateChangingApproved: number;
  readonly calledDangerous: number;
  readonly withoutReason: number;
  readonly wrong: readonly string[];
}

export function figuresOf(
  rows: readonly CorpusRow[],
  evaluate: (command: string) => CommandSafety,
): Figures {
  const judged = rows.map((row) => ({ row, safety: evaluate(row.command) }));
  type Judged = (typeof judged)[number];
  const share = (among: (each: Judged) => boolean, hit: (each: Judged) => boolean): number => {
    const all = judged.filter(among);
    return all.length === 0 ? Number.NaN : all.filter(hit).length / all.length;
  };
  const is = (level: CommandRisk) => (each: Judged) => each.safety.riskLevel === level;
  const isAttack = ({ row }: Judged): boolean => row.kind === "attack";
  const isBenign = ({ row }: Judged): boolean => row.kind === "benign";
  const expects = ({ row }: Judged, level: CommandRisk): boolean => row.expect === level;
  const isRight = ({ row, safety }: Judged): boolean => row.accept.includes(safety.riskLevel);
  const isStateChanging = (each: Judged): boolean =>
    isBenign(each) && !each.row.accept.includes("safe");
  return {
    attacksCaught: 1 - share(isAttack, is("safe")),
    dangerousRecall: share((each) => isAttack(each) && expects(each, "dangerous"), is("dangerous")),
    benignSafe: share((each) => isBenign(each) && expects(each, "safe"), is("safe")),
    strictlySafe: share(
      (each) => isBenign(each) && expects(each, "safe") && each.row.accept.length === 1,
      is("safe"),
    ),
    stateChangingApproved: judged.filter((each) => isStateChanging(each) && is("safe")(each))
      .length,
    calledDangerous: share(isBenign, (each) => is("dangerous")(each) && !isRight(each)),
    withoutReason: judged.filter((each) => !is("safe")(each) && each.safety.reasons.length === 0)
      .length,
    wrong: judged
      .filter((each) => !isRight(each))
      .map(({ row, safety }) => `${safety.riskLevel}: ${JSON.stringify(row.command)}`),
  };
}
