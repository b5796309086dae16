/**
 * Probe table: what the sandboxes of a host enforce, for a person.
 */
import type { Enforcement, SandboxItem, SandboxReport } from "@acp/core";
import type { Printer, Tone } from "../printer.js";

const TONES: Readonly<Record<Enforcement, Tone>> = {
  enforced: "green",
  partial: "yellow",
  none: "red",
};
const GAP = "  ";

/** A cell: its text, and how it looks. */
interface Cell {
  readonly text: string;
  readonly tone?: Tone;
}

/** Lines: one row a sandbox, one row an aspect, and why what is not enforced is not. */
export function renderReports(
  reports: readonly SandboxReport[],
  { tone }: Pick<Printer, "tone">,
): readonly string[] {
  const open = reports.filter(({ isAvailable }) => isAvailable);
  return [
    ...table([["sandbox", "level", "can start"].map(plain), ...reports.map(summaryRow)], tone),
    "",
    ...reports.flatMap(({ sandbox, reason, fix }) => explain(sandbox, reason, fix)),
    "",
    ...table([["", ...open.map(({ sandbox }) => sandbox)].map(plain), ...aspectRows(open)], tone),
    ...open.flatMap(gaps),
  ];
}

function plain(text: string): Cell {
  return { text };
}

function summaryRow({ sandbox, level, isAvailable }: SandboxReport): readonly Cell[] {
  const holds: Tone =
    level === "none" ? "red" : level === "advisory" || level === "partial" ? "yellow" : "green";
  return [plain(sandbox), { text: level, tone: holds }, plain(isAvailable ? "yes" : "no")];
}

/** The rows of what can be enforced at all; those that cannot start enforce nothing. */
function aspectRows(reports: readonly SandboxReport[]): readonly (readonly Cell[])[] {
  const aspects = [...new Set(reports.flatMap(({ items }) => items.map(({ aspect }) => aspect)))];
  return aspects.map((aspect) => [
    plain(aspect.replaceAll("_", " ")),
    ...reports.map(({ items }) => {
      const enforcement = items.find((item) => item.aspect === aspect)?.enforcement ?? "none";
      return { text: enforcement, tone: TONES[enforcement] };
    }),
  ]);
}

/**
 * Aspects that are open for one reason are one line; a fix that the sandbox as a whole has is not
 * said again.
 */
function gaps({ sandbox, items, fix: ofAll }: SandboxReport): readonly string[] {
  const open = new Map<string, SandboxItem[]>();
  for (const item of items.filter(({ enforcement }) => enforcement !== "enforced")) {
    const key = JSON.stringify([item.enforcement, item.reason, item.fix]);
    open.set(key, [...(open.get(key) ?? []), item]);
  }
  if (open.size === 0) return [];
  const lines = [...open.values()].flatMap((alike) => {
    const [first] = alike;
    if (first === undefined) return [];
    const aspects = alike.map(({ aspect }) => aspect.replaceAll("_", " ")).join(", ");
    return explain(
      `${aspects} (${first.enforcement})`,
      first.reason,
      first.fix === ofAll ? undefined : first.fix,
    );
  });
  return ["", `What ${sandbox} does not hold:`, ...lines.map((line) => `${GAP}${line}`)];
}

function explain(what: string, reason: string, fix: string | undefined): readonly string[] {
  return [`${what}: ${reason}`, ...(fix === undefined ? [] : [`${GAP}fix: ${fix}`])];
}

/** Columns as wide as their widest cell; colour is no width. */
function table(rows: readonly (readonly Cell[])[], tone: Printer["tone"]): readonly string[] {
  const width = (column: number): number =>
    Math.max(...rows.map((row) => row[column]?.text.length ?? 0));
  const paint = ({ text, tone: how }: Cell, column: number): string =>
    `${how === undefined ? text : tone(how, text)}${" ".repeat(width(column) - text.length)}`;
  return rows.map((row) => row.map(paint).join(GAP).trimEnd());
}
