/**
 * Releases: all packages move together in one fixed group, and every changeset names packages that
 * exist and says something.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gitFiles, packages, readJson } from "../workspace.mjs";
import type { Check } from "./check.js";

const CONFIG = ".changeset/config.json";

const WANTED: Readonly<Record<string, unknown>> = {
  fixed: [["@acp/*"]],
  access: "public",
  changelog: false,
  ignore: [],
};

function configProblems(root: string): string[] {
  if (!existsSync(join(root, CONFIG))) return [`${CONFIG}: is missing`];
  const config = readJson(join(root, CONFIG));
  return Object.entries(WANTED)
    .filter(([key, want]) => JSON.stringify(config[key]) !== JSON.stringify(want))
    .map(([key, want]) => `${CONFIG}: "${key}" must be ${JSON.stringify(want)}`);
}

function changesetProblem(text: string, known: ReadonlySet<string>): string | undefined {
  const [, head, body] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text) ?? [];
  if (head === undefined || body === undefined)
    return "must begin with the packages between two lines of ---";
  const named = [...head.matchAll(/^"([^"]+)": (patch|minor|major)$/gm)].map(
    ([, name]) => name ?? "",
  );
  if (named.length === 0 || named.length !== head.split("\n").length)
    return 'every line of its head must read "@acp/name": patch, minor or major';
  const unknown = named.find((name) => !known.has(name));
  if (unknown !== undefined) return `names "${unknown}", which is no package of ours`;
  return body.trim() === "" ? "says nothing to the user" : undefined;
}

export const changesets: Check = {
  name: "changesets",
  remedy: "See CONTRIBUTING.md, Changesets",
  run({ root }) {
    const known = new Set(packages(root).map(({ manifest }) => manifest.name));
    const files = gitFiles(root).filter((file) => /^\.changeset\/(?!README)[^/]+\.md$/.test(file));
    const problems = files.flatMap((file) => {
      const problem = changesetProblem(readFileSync(join(root, file), "utf8"), known);
      return problem === undefined ? [] : [`${file}: ${problem}`];
    });
    return { problems: [...configProblems(root), ...problems] };
  },
};
