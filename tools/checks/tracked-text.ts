/**
 * What no tracked file may hold: the address of a package registry, a path of somebody's machine, a
 * conflict marker; and no lock file any address at all.
 */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { gitFiles } from "../workspace.mjs";
import type { Check } from "./check.js";

const BINARY = /\.(png|jpe?g|gif|webp|ico|woff2?|pdf|cast)$/;
const LOCK = /(^|\/)(pnpm-lock\.yaml|package-lock\.json)$/;
/** The places that hold bad samples on purpose. */
const EXEMPT = /^(tools\/checks\/tracked-text(\.test)?\.ts)$/;

interface Pattern {
  readonly what: string;
  readonly pattern: RegExp;
  readonly files: RegExp;
}

/** A folder of this machine as a pattern; undefined for one that is too short to mean anything. */
function folderPattern(folder: string): RegExp | undefined {
  return folder.split("/").length < 3
    ? undefined
    : new RegExp(`${folder.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\w-])`);
}

function patternsFor(root: string): readonly Pattern[] {
  const all = /(?:)/;
  const folders = [folderPattern(root), folderPattern(homedir())].filter(
    (pattern) => pattern !== undefined,
  );
  return [
    {
      what: "a registry address",
      pattern:
        /\b(registry\.(npmjs\.org|yarnpkg\.com)|npm\.pkg\.github\.com|registry\.npmmirror\.com)\b/,
      files: all,
    },
    { what: "a registry setting", pattern: /^\s*(@[\w-]+:)?registry\s*=/, files: /(^|\/)\.npmrc$/ },
    { what: "an address in a lock file", pattern: /\bhttps?:\/\/|\btarball:|\bgit\+/, files: LOCK },
    {
      what: "a path of a machine",
      pattern: /(?<![\w.])\/root\/|\bC:\\Users\\/,
      files: /^(?!.*\.test\.ts$|spec\/vectors\/)/,
    },
    ...folders.map((pattern) => ({ what: "a path of this machine", pattern, files: all })),
    { what: "a conflict marker", pattern: /^(<{7}|>{7}) /, files: all },
  ];
}

/** npm's lock file may name the page where to fund an author. */
const isFunding = (line: string): boolean =>
  /^\s*"url": "https:\/\/opencollective\.com\//.test(line);

function problemsIn(root: string, file: string, patterns: readonly Pattern[]): string[] {
  const mine = patterns.filter(({ files }) => files.test(file));
  const lines = readFileSync(join(root, file), "utf8").split("\n");
  return lines.flatMap((line, index) => {
    const hit = mine.find(({ pattern }) => pattern.test(line));
    return hit === undefined || isFunding(line) ? [] : [`${file}:${index + 1}: ${hit.what}`];
  });
}

export const trackedText: Check = {
  name: "tracked text",
  remedy:
    "Take the address or path out; a lock file is written without addresses by the pinned pnpm and npm",
  run({ root }) {
    const patterns = patternsFor(root);
    const files = gitFiles(root).filter((file) => !BINARY.test(file) && !EXEMPT.test(file));
    return { problems: files.flatMap((file) => problemsIn(root, file, patterns)) };
  },
};
