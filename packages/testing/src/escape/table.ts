/** Table: a report of the escape kit as text, an aspect a line. */
import type { SandboxAspect } from "@acp/core";
import type { EscapeReport, EscapeResult } from "./attempt.js";

const GATE = "the proxy itself";
const LINE_MAX = 100;

const count = (results: readonly EscapeResult[], outcome: EscapeResult["outcome"]): number =>
  results.filter((result) => result.outcome === outcome).length;

/** Words in lines that fit a terminal. */
function wrap(words: readonly string[]): readonly string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length > LINE_MAX) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/**
 * A report as text: one line per aspect, then every broken promise, every other escape, and what
 * could not be tried.
 */
export function formatEscapeReport({
  sandbox,
  claims,
  results,
  brokenPromises,
  strays,
}: EscapeReport): string {
  const aspects = [...new Set(results.flatMap((result) => result.aspects))];
  const line = (name: string, claim: string, these: readonly EscapeResult[]): string =>
    [
      `  ${name.padEnd(18)} ${claim.padEnd(9)}`,
      ...(["blocked", "escaped", "skipped"] as const).map((outcome) =>
        String(count(these, outcome)).padStart(8),
      ),
    ].join("");
  const of = (aspect: SandboxAspect): readonly EscapeResult[] =>
    results.filter((result) => result.aspects.includes(aspect));
  const gate = results.filter((result) => result.aspects.length === 0);
  const escapes = results.filter(({ outcome }) => outcome === "escaped");
  const unclaimed = escapes.filter(({ isPromised }) => !isPromised).map(({ id }) => id);
  const skips = results.filter(({ outcome }) => outcome === "skipped");
  return [
    `${sandbox}: ${results.length} attempts, ${count(results, "blocked")} blocked, ${escapes.length} escaped (${brokenPromises.length} against a claim), ` +
      `${skips.length} skipped, ${strays.length} strays`,
    `  ${"aspect".padEnd(18)} ${"claim".padEnd(9)} blocked escaped skipped`,
    ...aspects.map((aspect) => line(aspect, claims[aspect] ?? "none", of(aspect))),
    ...(gate.length === 0 ? [] : [line(GATE, "enforced", gate)]),
    ...brokenPromises.map(({ id, detail }) => `  BROKEN  ${id}: ${detail}`),
    ...wrap(unclaimed).map((ids) => `  open    ${ids}`),
    ...skips.map(({ id, detail }) => `  skipped ${id}: ${detail}`),
    ...strays.map(({ listener, address, text }) => `  stray   ${listener} ${address} ${text}`),
  ].join("\n");
}
