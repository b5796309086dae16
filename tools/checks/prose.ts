/**
 * Pages, READMEs of packages and help texts hold no phrase of the list below: what no reader
 * expects, and British spellings. A phrase may go over a line break. Code, what a link leads to,
 * and decisions (docs/adr) are not read.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gitFiles } from "../workspace.mjs";
import type { Check } from "./check.js";

const PAGE =
  /^(?:(?:README|SECURITY|CONTRIBUTING|VERSIONING)|docs\/(?!adr\/).*|packages\/[^/]+\/README)\.md$/;
const HELP = /^packages\/cli\/src\/(?:table\/[^/]+|options)\.ts$/;

/** Fenced code, code in a line, and what a link leads to. */
const NOT_PROSE = /^(```|~~~)[\s\S]*?^\1[^\n]*$|`[^`\n]+`|\]\([^)\s]+\)/gm;

/**
 * What to find, and what to write instead. A pattern is of whole words, in either case; a space in
 * it is any white space. Where a phrase is right somewhere, make its pattern narrower rather than
 * the page odd.
 */
const PHRASES: readonly (readonly [pattern: string, instead: string])[] = [
  ["is no (?:compiled )?policy", "is not a policy"],
  ["is no auditsink", "is not an AuditSink"],
  ["a no takes", "you can deny without"],
  ["read on by", "the verb for what the reader does"],
  ["whether nobody", "true if no"],
  ["what is not understood", "a key or value that ACP does not understand"],
  ["as ever", "as usual"],
  ["yeses", "approvals"],
  ["the no", "the denial"],
  ["nothing of ours", "none of our packages"],
  ["belongs? into", "belongs in"],
  ["handed in", "passed in"],
  ["hears of it", "gets a notification"],
  ["behaviours?", "behavior"],
  ["licences?", "license"],
  [
    "(?:recogn|author|organ|normal|optim|initial|serial|summar)is(?:e[ds]?|ing|ation)",
    "the spelling with z",
  ],
  ["cancell(?:ed|ing)", "canceled, canceling"],
  ["catalogues?", "catalog"],
  ["centres?", "center"],
  ["favour(?:s|ed|ing|able|ite)?", "favor"],
  ["neighbour(?:s|ing)?", "neighbor"],
  ["defences?", "defense"],
  ["artefacts?", "artifact"],
  ["analys(?:e|ed|ing)", "analyze"],
  ["grey", "gray"],
  ["towards", "toward"],
  ["whilst", "while"],
];

const PATTERNS = PHRASES.map(([pattern, instead]) => ({
  instead,
  pattern: new RegExp(`\\b(?:${pattern.replaceAll(" ", "\\s+")})\\b`, "gi"),
}));

/** The text with everything that is not prose blanked, each character in its place. */
const proseOf = (text: string): string =>
  text.replaceAll(NOT_PROSE, (code) => code.replaceAll(/[^\n]/g, "\0"));

function problemsIn(file: string, text: string): readonly string[] {
  const prose = proseOf(text);
  const found = PATTERNS.flatMap(({ pattern, instead }) =>
    [...prose.matchAll(pattern)].map(({ 0: phrase, index }) => ({ phrase, index, instead })),
  );
  return found
    .sort((a, b) => a.index - b.index)
    .map(({ phrase, index, instead }) => {
      const line = prose.slice(0, index).split("\n").length;
      return `${file}:${line}: "${phrase.replaceAll(/\s+/g, " ")}": write "${instead}"`;
    });
}

export const prose: Check = {
  name: "prose",
  remedy: "Say it as the list in tools/checks/prose.ts proposes, or in other plain words",
  run({ root }) {
    const files = gitFiles(root).filter((file) => PAGE.test(file) || HELP.test(file));
    return {
      problems: files.flatMap((file) => problemsIn(file, readFileSync(join(root, file), "utf8"))),
    };
  },
};
