/** The table of the architecture decision records, made from their files. Pure. */
import { titleOf } from "../markdown.js";

/** A table with a line for each record. */
export function decisionsTable(
  pages: readonly { readonly file: string; readonly text: string }[],
): string {
  const rows = pages.flatMap(({ file, text }) => {
    const [, place, number] = /^docs\/(adr\/(\d{4})-[^/]+\.md)$/.exec(file) ?? [];
    if (place === undefined || number === undefined) return [];
    const title = (titleOf(text) ?? "").replace(/^(?:ADR )?\d{4}[.:]? */, "");
    return [`| ${number} | [${title}](../${place}) |`];
  });
  return ["| number | decision |", "|---|---|", ...rows].join("\n");
}
