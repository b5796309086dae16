/**
 * Measures checkouts of TypeScript projects with the same code, so that ours can be set beside
 * others: `node --import tsx tools/anchors.ts FOLDER …` prints one Markdown table with a column per
 * folder. CONTRIBUTING.md has the table.
 */
import { basename, resolve } from "node:path";
import { rowsOf } from "./anchors/measure.js";

const folders = process.argv.slice(2).map((folder) => resolve(folder));
if (folders.length === 0) throw new Error("Cannot measure: name at least one folder");
const columns = folders.map((folder) => new Map(rowsOf(folder)));
console.log(`| | ${folders.map((folder) => basename(folder)).join(" | ")} |`);
console.log(`|---|${folders.map(() => "---|").join("")}`);
for (const title of columns[0]?.keys() ?? [])
  console.log(`| ${title} | ${columns.map((column) => column.get(title) ?? "").join(" | ")} |`);
