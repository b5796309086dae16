/** Table: reports of the manager kit as text, a class a line. */
import { MANAGER_CLASSES, type ManagerReport, type ManagerResult } from "./attempt.js";

const count = (results: readonly ManagerResult[], outcome: ManagerResult["outcome"]): number =>
  results.filter((result) => result.outcome === outcome).length;

/**
 * A report as text: one line per class, then every broken promise, every other success, and what
 * could not be tried.
 */
export function formatManagerReport({
  manager,
  claims,
  results,
  brokenPromises,
}: ManagerReport): string {
  const outcomes = ["blocked", "told", "escaped", "skipped"] as const;
  const line = (name: string, these: readonly ManagerResult[]): string =>
    `  ${name.padEnd(16)}${outcomes.map((outcome) => String(count(these, outcome)).padStart(9)).join("")}`;
  const open = results.filter(({ outcome, isPromised }) => outcome === "escaped" && !isPromised);
  return [
    `${manager}: ${results.length} attempts, ${count(results, "blocked")} blocked, ${count(results, "told")} told, ` +
      `${count(results, "escaped")} escaped (${brokenPromises.length} against a claim), ${count(results, "skipped")} skipped`,
    `  ${"class".padEnd(16)}${outcomes.map((outcome) => outcome.padStart(9)).join("")}`,
    ...MANAGER_CLASSES.map((name) =>
      line(
        claims.includes(name) ? name : `(${name})`,
        results.filter((result) => result.class === name),
      ),
    ),
    ...brokenPromises.map(({ id, detail }) => `  BROKEN  ${id}: ${detail}`),
    ...open.map(({ id, detail }) => `  open    ${id}: ${detail}`),
    ...results
      .filter(({ outcome }) => outcome === "skipped")
      .map(({ id, detail }) => `  skipped ${id}: ${detail}`),
  ].join("\n");
}

/**
 * Several reports as a Markdown table: how many attempts of each class succeeded without a warning.
 */
export function managerTable(reports: readonly ManagerReport[]): string {
  const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const [first] = reports;
  if (first === undefined) return "";
  const cell = (
    { claims, results }: ManagerReport,
    name: (typeof MANAGER_CLASSES)[number],
  ): string => {
    const escaped = count(
      results.filter((result) => result.class === name),
      "escaped",
    );
    return claims.includes(name) ? String(escaped) : `*${escaped}*`;
  };
  return [
    row(["class", "attempts", ...reports.map(({ manager }) => manager)]),
    row(["---", "---", ...reports.map(() => "---")]),
    ...MANAGER_CLASSES.map((name) =>
      row([
        name.replaceAll("_", " "),
        String(first.results.filter((result) => result.class === name).length),
        ...reports.map((report) => cell(report, name)),
      ]),
    ),
    row([
      "all",
      String(first.results.length),
      ...reports.map(({ results }) => String(count(results, "escaped"))),
    ]),
  ].join("\n");
}
