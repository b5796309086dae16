/**
 * File length: more than 300 lines is a note, more than 400 a problem. Line length: at most 2 % of
 * all lines have more than 100 columns, which leaves room for texts and tables that nothing can
 * break. Functions and parameters are counted by the linter.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gitFiles } from "../workspace.mjs";
import type { Check } from "./check.js";

const LINES_AIM = 300;
const LINES_MAX = 400;
const COLUMNS_MAX = 100;
const WIDE_PERCENT_MAX = 2;

export const size: Check = {
  name: "size",
  remedy: "Split the file by what it does; each part gets the name of its main export",
  run({ root }) {
    const files = gitFiles(root)
      .filter((file) => /\.(ts|mjs|cjs|js|css|c|h)$/.test(file))
      .map((file) => {
        const text = readFileSync(join(root, file), "utf8").trimEnd().split("\n");
        const wide = text.filter(({ length }) => length > COLUMNS_MAX).length;
        return { file, lines: text.length, wide };
      });
    const lines = files.reduce((sum, file) => sum + file.lines, 0);
    const wide = files.reduce((sum, file) => sum + file.wide, 0);
    const percent = (100 * wide) / Math.max(lines, 1);
    const columns = `${percent.toFixed(2)} % of ${lines} lines have more than ${COLUMNS_MAX} columns`;
    const problems: string[] = [];
    const notes = [columns];
    if (percent > WIDE_PERCENT_MAX) problems.push(`${columns}, at most ${WIDE_PERCENT_MAX} %`);
    for (const { file, lines: count } of files) {
      if (count > LINES_MAX) problems.push(`${file}: ${count} lines, at most ${LINES_MAX}`);
      else if (count > LINES_AIM) notes.push(`${file}: ${count} lines, aim for ${LINES_AIM}`);
    }
    return { problems, notes };
  },
};
