/** Report: what was found, as text for a person and as JSON for a program. Pure. */
import { escapeText } from "@acp/core";
import type { JsonObject } from "@acp/core";
import type { Printer, Tone } from "../printer.js";
import type { Examined } from "./examine.js";
import { isWell } from "./examine.js";
import type { Finding } from "./finding.js";
import type { Mended } from "./fix.js";

/** What a report is made of. */
export interface ReportParts {
  readonly home: string;
  readonly all: readonly Examined[];
  readonly mended: readonly Mended[];
}

/** The JSON of spec/schemas/doctor.schema.json. */
export function reportJson({ home, all, mended }: ReportParts): JsonObject {
  return {
    version: "1",
    home,
    ok: isOk({ home, all, mended }),
    examinations: all.map(({ id, looksAt, level, found, notes }) => ({
      id,
      looks_at: looksAt,
      level,
      findings: found.map(({ finding }) => ({ ...finding })),
      ...(notes !== undefined && { notes: [...notes] }),
    })),
    fixed: mended.map((each) => ({ ...each })),
  };
}

/** Whether there is no error, and everything that was to be mended is. */
export function isOk({ all, mended }: ReportParts): boolean {
  return isWell(all) && mended.every(({ is_done: isDone }) => isDone);
}

const TONES: Readonly<Record<Examined["level"], Tone>> = {
  ok: "green",
  warning: "yellow",
  error: "red",
  skipped: "dim",
};
const LEVEL_WIDTH = 8;
const ID_WIDTH = 9;

/** Lines for a person. */
export function reportLines(parts: ReportParts, print: Pick<Printer, "tone">): readonly string[] {
  const { all, mended } = parts;
  const findings = all.flatMap(({ found }) => found.map(({ finding }) => finding));
  return [
    ...mended.map((each) => mendedLine(each, print)),
    ...(mended.length === 0 ? [] : [""]),
    ...all.flatMap((examined) => examinedLines(examined, print)),
    "",
    summary(findings, all),
  ];
}

function mendedLine(
  { code, is_done: isDone, text }: Mended,
  { tone }: Pick<Printer, "tone">,
): string {
  const word = isDone ? tone("green", "fixed") : tone("red", "not fixed");
  return `${word} ${code}: ${escapeText(text)}`;
}

function examinedLines(
  { id, looksAt, level, found, notes = [] }: Examined,
  print: Pick<Printer, "tone">,
): readonly string[] {
  const word = print.tone(TONES[level], level.padEnd(LEVEL_WIDTH));
  const rest =
    level === "skipped" ? "not examined, because there is no home to look into" : looksAt;
  return [
    `${word} ${id.padEnd(ID_WIDTH)} ${print.tone("dim", rest)}`,
    ...notes.map((note) => `  ${print.tone("dim", escapeText(note))}`),
    ...found.flatMap(({ finding }) => findingLines(finding, print)),
  ];
}

function findingLines(
  { code, level, found, path, why, command, can_fix: canFix }: Finding,
  { tone }: Pick<Printer, "tone">,
): readonly string[] {
  const place = path === undefined ? "" : `${escapeText(path)}: `;
  const own = `acp doctor --fix ${code}`;
  const fixes = canFix && command !== own ? [command, own] : [command];
  return [
    `  ${tone(TONES[level], code)} ${place}${escapeText(found)}`,
    `    ${escapeText(why)}`,
    ...fixes.map((each) => `    ${tone("cyan", "fix:")} ${escapeText(each)}`),
  ];
}

function summary(findings: readonly Finding[], all: readonly Examined[]): string {
  const count = (level: string): number => findings.filter((each) => each.level === level).length;
  const [errors, warnings] = [count("error"), count("warning")];
  const skipped = all.filter(({ level }) => level === "skipped").length;
  const words = [
    plural(errors, "error"),
    plural(warnings, "warning"),
    ...(skipped === 0 ? [] : [`${plural(skipped, "examination")} skipped`]),
  ];
  const canFix = findings.some((each) => each.can_fix);
  return `${words.join(", ")}${canFix ? "; acp doctor --fix repairs what it can" : ""}`;
}

const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? "" : "s"}`;
