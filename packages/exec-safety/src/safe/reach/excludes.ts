/**
 * Excludes: the options with which a program leaves out every file that usually holds credentials,
 * to be put into a command. The names are data of guard/secret-globs.ts.
 */
import { SECRET_FILES, SECRET_FOLDERS } from "../../secrets/secret-globs.js";
import type { Argument } from "../argument.js";
import type { JudgedCall } from "../../tables/judged-call.js";
import type { Edit } from "../../findings.js";
import { BRACE_WORDS_MAX } from "../../config/limits.js";

/** What the shell would read as more than letters. */
const quoted = (name: string): string => (/^[\w.-]+$/.test(name) ? name : `'${name}'`);

/** `--exclude={'*.pem',…}`, in words that the shell makes several of. */
function inBraces(option: string, names: readonly string[]): readonly string[] {
  const words: string[] = [];
  for (let at = 0; at < names.length; at += BRACE_WORDS_MAX)
    words.push(
      `${option}{${names
        .slice(at, at + BRACE_WORDS_MAX)
        .map(quoted)
        .join(",")}}`,
    );
  return words;
}

/**
 * An ending in letters of either case, for programs whose globs know one: `server.PEM` is a key
 * too.
 */
const inAnyCase = (name: string): string =>
  /^\*\.[a-z0-9]+$/.test(name)
    ? name.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`)
    : name;

const FILES: readonly string[] = SECRET_FILES.map(inAnyCase);
const GREP = [...inBraces("--exclude-dir=", SECRET_FOLDERS), ...inBraces("--exclude=", FILES)].join(
  " ",
);

/** By program. */
const OPTIONS: Readonly<Record<string, string>> = {
  grep: GREP,
  egrep: GREP,
  fgrep: GREP,
  // In any case, and behind all that `-g` takes in.
  rg: inBraces("--iglob='!'", [...SECRET_FOLDERS, ...SECRET_FILES]).join(" "),
  diff: inBraces("--exclude=", [...SECRET_FOLDERS, ...FILES]).join(" "),
};

/**
 * The edit that makes a call leave out what is secret; undefined where its program has no such
 * options. Behind what the call chooses itself: the last word counts.
 */
export function excludesFor(
  { program, name, span }: JudgedCall,
  last: Argument | undefined,
): readonly Edit[] | undefined {
  const options = program === name && Object.hasOwn(OPTIONS, name) ? OPTIONS[name] : undefined;
  if (options === undefined) return undefined;
  return last === undefined
    ? [{ at: span.start + program.length, behind: program, text: ` ${options}` }]
    : [{ at: last.span.end, behind: last.raw, text: ` ${options}` }];
}

/** The tests with which `find` leaves out what is secret. */
export const FIND_EXCLUDES: string = `-not \\( ${[
  ...SECRET_FOLDERS.map((name) => `-ipath '*/${name}/*'`),
  ...SECRET_FILES.map((name) => `-iname ${quoted(name)}`),
].join(" -o ")} \\)`;
