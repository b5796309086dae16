/**
 * spec/vectors/*.json are our own test vectors: JSON with a list of named cases, none of them
 * twice.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gitFiles } from "../workspace.mjs";
import type { Check } from "./check.js";

/** A case's name; empty where it has none. */
function nameOf(each: unknown): string {
  return typeof each === "object" &&
    each !== null &&
    "name" in each &&
    typeof each.name === "string"
    ? each.name
    : "";
}

function problemOf(text: string): string | undefined {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    return `is not JSON: ${String(error)}`;
  }
  const cases: unknown =
    typeof content === "object" && content !== null && "cases" in content
      ? content.cases
      : undefined;
  if (!Array.isArray(cases) || cases.length === 0)
    return '"cases" must be a list that is not empty';
  const names: readonly string[] = cases.map(nameOf);
  if (names.includes("")) return 'every case needs a "name"';
  const bodies = cases.map((each) => JSON.stringify(each));
  const twice = bodies.findIndex((body, index) => bodies.indexOf(body) !== index);
  return twice === -1 ? undefined : `a case "${names[twice] ?? ""}" is there twice`;
}

export const vectors: Check = {
  name: "vectors",
  remedy: "Mend the file in spec/vectors; tests read each case by its name",
  run({ root }) {
    const files = gitFiles(root).filter((file) => /^spec\/vectors\/.*\.json$/.test(file));
    return {
      problems: files.flatMap((file) => {
        const problem = problemOf(readFileSync(join(root, file), "utf8"));
        return problem === undefined ? [] : [`${file}: ${problem}`];
      }),
    };
  },
};
