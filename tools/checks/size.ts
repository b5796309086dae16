/**
 * File length: more than 300 lines is a note, more than 400 a problem. Functions and parameters are counted by the linter.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gitFiles } from "../workspace.mjs";
import type { Check } from "./check.js";

const LINES_AIM = 300;
const LINES_MAX = 400;

export const size: Check = {
  name: "size",
  remedy: "Split the file by what it does; each part gets the name of its main export",
  run({ root }) {
    const long = gitFiles(root)
      .filter((file) => /\.(ts|mjs|cjs|js|css|c|h)$/.test(file))
      .map((file) => ({ file, lines: readFileSync(join(root, file), "utf8").trimEnd().split("\n").length }))
      .filter(({ lines }) => lines > LINES_AIM);
    const say = ({ file, lines }: { file: string; lines: number }): string => `${file}: ${lines} lines`;
    return {
      problems: long.filter(({ lines }) => lines > LINES_MAX).map((each) => `${say(each)}, at most ${LINES_MAX}`),
      notes: long.filter(({ lines }) => lines <= LINES_MAX).map((each) => `${say(each)}, aim for ${LINES_AIM}`),
    };
  },
};
