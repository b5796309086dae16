/**
 * The figures of one checkout. Source is every .ts and .tsx file in `src` or `lib` of a published
 * package, without its tests; nothing is installed, built or run there.
 */
import { readFileSync } from "node:fs";
import ts from "typescript";
import { publicSurface } from "./public-surface.js";
import { projectAt, sourcesOf, testsOf } from "./project.js";
import type { Project } from "./project.js";
import { importGraph } from "./import-graph.js";
import { parseFile, walk } from "../checks/ast.js";
import { circlesOf } from "../checks/circles.js";

const FUNCTION_LINES_MAX = 60;
const COLUMNS_MAX = 100;

/** What one row of the table says about one project. */
export type Row = readonly [title: string, value: string];

const linesIn = (file: string): readonly string[] =>
  readFileSync(file, "utf8").trimEnd().split("\n");

/** The value at a share of a sorted list, from 0 to 1. */
const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

const percent = (part: number, whole: number): string =>
  `${((100 * part) / Math.max(whole, 1)).toFixed(1)} %`;

/** The lines of each function that has a body in braces, one within another counted in both. */
function functionLines(files: readonly string[]): readonly number[] {
  const found: number[] = [];
  for (const file of files) {
    const source = parseFile(file);
    const lineAt = (position: number): number =>
      source.getLineAndCharacterOfPosition(position).line;
    walk(source, (node) => {
      const hasBody =
        ts.isFunctionLike(node) &&
        "body" in node &&
        node.body !== undefined &&
        ts.isBlock(node.body);
      if (hasBody) found.push(lineAt(node.getEnd()) - lineAt(node.getStart(source)) + 1);
    });
  }
  return found.sort((a, b) => a - b);
}

function sizeRows(files: readonly string[], tests: readonly string[]): readonly Row[] {
  const texts = files.map(linesIn);
  const lengths = texts.map(({ length }) => length).sort((a, b) => a - b);
  const lines = lengths.reduce((sum, length) => sum + length, 0);
  const testLines = tests.reduce((sum, file) => sum + linesIn(file).length, 0);
  const wide = texts.flat().filter(({ length }) => length > COLUMNS_MAX).length;
  const functions = functionLines(files);
  const long = functions.filter((length) => length > FUNCTION_LINES_MAX).length;
  return [
    ["source files", `${files.length}`],
    ["source lines", `${lines}`],
    [
      "lines per file: median, 95 %, largest",
      `${at(lengths, 0.5)}, ${at(lengths, 0.95)}, ${at(lengths, 1)}`,
    ],
    [
      "lines per function: median, 95 %, largest",
      `${at(functions, 0.5)}, ${at(functions, 0.95)}, ${at(functions, 1)}`,
    ],
    [
      `functions over ${FUNCTION_LINES_MAX} lines`,
      `${long} of ${functions.length} (${percent(long, functions.length)})`,
    ],
    [`lines over ${COLUMNS_MAX} columns`, percent(wide, lines)],
    ["test lines per source line", (testLines / Math.max(lines, 1)).toFixed(2)],
  ];
}

function circleRow(files: readonly string[]): Row {
  const circles = circlesOf(importGraph(files));
  const largest = Math.max(0, ...circles.map(({ length }) => length));
  return ["import circles: number, files in the largest", `${circles.length}, ${largest}`];
}

function docsRows(project: Project): readonly Row[] {
  const surface = publicSurface(project);
  const row = (isMember: boolean): string => {
    const all = surface.filter((each) => each.isMember === isMember);
    const documented = all.filter((each) => each.isDocumented);
    return `${percent(documented.length, all.length)} of ${all.length}`;
  };
  return [
    ["exports with docs", row(false)],
    ["members of exports with docs", row(true)],
  ];
}

/** Measures a checkout. */
export function rowsOf(folder: string): readonly Row[] {
  const project = projectAt(folder);
  const files = sourcesOf(project);
  return [
    ["commit", `${project.commit}, ${project.date}`],
    ["published packages", `${project.packages.length}`],
    ["runtime dependencies", `${project.dependencies.length}`],
    ...sizeRows(files, testsOf(project)),
    circleRow(files),
    ...docsRows(project),
  ];
}
