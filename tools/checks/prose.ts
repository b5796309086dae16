/**
 * Pages, READMEs of packages and texts of programs (string literals in `packages/<package>/src`)
 * hold no phrase of the list below: what no reader expects, and British spellings. A phrase may go
 * over a line break. Code, comments, and what a link leads to are not read.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { gitFiles } from "../workspace.mjs";
import { parseFile, walk } from "./ast.js";
import type { Check } from "./check.js";

const PAGE =
  /^(?:(?:README|SECURITY|CONTRIBUTING|VERSIONING)|docs\/.*|packages\/[^/]+\/README)\.md$/;
const SOURCE = /^packages\/[^/]+\/src\/(?!.*\.test\.ts$).*\.ts$/;
/** Tables of other programs' flags. */
const NOT_OURS = /^packages\/exec-safety\/src\/tables\//;

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
  ["colour(?:s|ed|ing)?", "color"],
  ["synchronis(?:e[ds]?|ing|ation)", "synchronize"],
  ["honour(?:s|ed|ing)?", "honor"],
  ["dial(?:led|ling)", "connected, connecting"],
  ["telephones?", "phone"],
  ["time-outs?", "timeout"],
  ["set-ups?", "setup, configuration"],
  ["any more", "anymore, no longer"],
  ["anew", "again"],
  ["besides", "also, in addition to"],
  ["in the place of", "instead of"],
  ["everybody else", "all others"],
  ["what nobody", "what no one, or a passive"],
  ["a yes takes", "approving needs"],
  ["takes? a passkey", "needs a passkey"],
  ["(?:is|are|as) a no", "denies, counts as a denial"],
  ["your yes/no", "your decision"],
  ["after a yes", "after approval"],
  ["says? (?:yes|no)", "approves, denies"],
  ["hold nobody", "the verb for what happens"],
  ["count no more", "no longer count"],
  ["go(?:es)? on with", "continue with"],
  ["has to tell", "must say"],
  ["cannot be had", "is not available"],
  ["no way around", "cannot be bypassed"],
  ["is no sandbox", "is not a sandbox"],
  ["grey", "gray"],
  ["towards", "toward"],
  ["whilst", "while"],
  ["spelt", "spelled"],
  ["stands? twice", "appears twice"],
  ["(?:is|are) not a text(?! file)", "is not a string"],
  ["expected a text", "expected a string"],
  ["said (?:yes|no)", "approved, denied"],
  ["all the same", "still"],
  ["cannot go on", "cannot continue"],
  ["is none of (?:the|our|those)", "is not one of"],
  ["others may (?:read|write|enter)", "other users can"],
  ["in the order of their times", "in ascending order of, and the key"],
  ["whatever (?:it|he|she) says", "whatever its value"],
];

/** The same for texts of programs alone, which name what is wrong and say what to do. */
const TEXT_PHRASES: typeof PHRASES = [
  ["an? yes", "approval, approving"],
  ["taken back", "withdrawn"],
  ["mend(?:s|ed|ing)?", "fix, repair"],
  ["in vain", "pointless, or what happens"],
  ["reading (?:it|them) threw", "reading it failed"],
  ["outside of", "outside"],
  [
    "(?:it|this|that|which|who) is no (?!longer|more|less|different|other|way)[a-z]+",
    "is not a, is not the",
  ],
];

/** What a phrase is right in, and why. */
const ALLOWED: readonly (readonly [file: string, phrase: string, why: string])[] = [
  ["packages/core/src/approval/text.ts", "a yes", "people sign this text as it is"],
  [
    "packages/exec-safety/src/safe/reach/secret-lines.ts",
    "authorisation",
    "a word that commands search for",
  ],
];

const compiled = (
  phrases: typeof PHRASES,
): readonly { readonly instead: string; readonly pattern: RegExp }[] =>
  phrases.map(([pattern, instead]) => ({
    instead,
    pattern: new RegExp(`\\b(?:${pattern.replaceAll(" ", "\\s+")})\\b`, "gi"),
  }));

const PATTERNS = compiled(PHRASES);
const TEXT_PATTERNS = [...PATTERNS, ...compiled(TEXT_PHRASES)];

const ANY = new RegExp(TEXT_PATTERNS.map(({ pattern }) => pattern.source).join("|"), "i");

/** The text with everything that is not prose blanked, each character in its place. */
const proseOf = (text: string): string =>
  text.replaceAll(NOT_PROSE, (code) => code.replaceAll(/[^\n]/g, "\0"));

/**
 * The string literals of a source file that have several words, each character in its place; all
 * else blanked. One word is a code or a key.
 */
function literalsOf(path: string): string {
  const file = parseFile(path);
  let prose = "";
  const keep = (node: ts.Node): void => {
    const start = node.getStart(file);
    prose += file.text.slice(prose.length, start).replaceAll(/[^\n]/g, "\0");
    prose += file.text.slice(start, node.getEnd());
  };
  walk(file, (node) => {
    const isText =
      ts.isStringLiteralLike(node) ||
      ts.isTemplateHead(node) ||
      ts.isTemplateMiddle(node) ||
      ts.isTemplateTail(node);
    if (isText && node.text.includes(" ")) keep(node);
  });
  return prose;
}

const isAllowed = (file: string, phrase: string): boolean =>
  ALLOWED.some(([where, what]) => where === file && what === phrase.toLowerCase());

function problemsIn(
  file: string,
  prose: string,
  patterns: typeof PATTERNS = PATTERNS,
): readonly string[] {
  const found = patterns.flatMap(({ pattern, instead }) =>
    [...prose.matchAll(pattern)].map(({ 0: phrase, index }) => ({ phrase, index, instead })),
  );
  return found
    .filter(({ phrase }) => !isAllowed(file, phrase))
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
    const files = gitFiles(root);
    const pages = files.filter((file) => PAGE.test(file));
    const sources = files
      .filter((file) => SOURCE.test(file) && !NOT_OURS.test(file))
      .filter((file) => ANY.test(readFileSync(join(root, file), "utf8"))); // parsing takes long
    return {
      problems: [
        ...pages.flatMap((file) =>
          problemsIn(file, proseOf(readFileSync(join(root, file), "utf8"))),
        ),
        ...sources.flatMap((file) => problemsIn(file, literalsOf(join(root, file)), TEXT_PATTERNS)),
      ],
    };
  },
};
