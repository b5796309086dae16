/**
 * Names: scripts that print names of the project's files and nothing else, so that what reads them
 * stays inside the project. Whether their commands are safe is judged elsewhere; this is only about
 * what they print.
 */
import type { ArgumentValue } from "./argument.js";
import { isOfSystem } from "./paths.js";
import { findEdits, findNulEdits } from "./reach/find-choice.js";
import { choosesNoSecret, keepsSourceNames } from "./reach/listing.js";
import type { Edit } from "../findings.js";
import { takeApart } from "./torn-names.js";
import type { Command, Node, Redirect, Script, Word } from "../parse/tree.js";

/** Words that aim a search at credentials: who lists such files reads them next. */
const AIMED =
  /env|ssh|aws|pem|key|cred|secret|rsa|ed25519|history|netrc|npmrc|pypirc|passw|token|kube|gnupg|docker/i;

/** Programs by name, each with whether its arguments make it one of the kind. */
type Table = Readonly<Record<string, (args: readonly string[]) => boolean>>;

/** The arguments with which a program prints names only. */
const LISTERS: Table = {
  ls: (args) => args.every((arg) => !arg.startsWith("-") || /^-[1trS]+$/.test(arg)),
  find: (args) => args.every((arg) => !/^-(?:f?printf|f?ls|fprint0?|exec|ok|delete)/.test(arg)),
  fd: (args) =>
    args.every(
      (arg) =>
        !/^-(?:[A-Za-z0-9]*[lxXHIu]|-exec|-format|-list|-hidden|-no-ignore|-unrestricted|-base|-strip)/.test(
          arg,
        ),
    ),
  rg: (args) =>
    args.some((arg) => /^(?:--files|-l|--files-with-matches)$/.test(arg)) &&
    args.every((arg) => isPlainSearch(arg) && !/^-[a-z]*r/.test(arg)),
  grep: (args) =>
    args.some((arg) => /^-[A-Za-z]*l|^--files-with-matches$/.test(arg)) &&
    args.every(isPlainSearch),
  git: ([verb, ...args]) =>
    verb === "ls-files"
      ? args.every((arg) => !/^-(?:[A-Za-z]*[stfv]|-stage|-format|-debug|-eol)/.test(arg))
      : verb === "grep"
        ? args.some((arg) => /^(?:-l|--files-with-matches|--name-only)$/.test(arg)) &&
          args.every(isPlainSearch)
        : (verb === "diff" || verb === "ls-tree") &&
          args.includes("--name-only") &&
          args.every((arg) => !/^--(?:stat|patch|format)|^-[pu]$/.test(arg)),
};

/** Options that choose among files, and none that changes how a name is printed. */
function isPlainSearch(arg: string): boolean {
  return (
    !arg.startsWith("-") ||
    /^-[rilLEFPwvxseSgt0Zz]+$|^--(?:files|files-with-matches|null|(?:include|exclude|exclude-dir|glob|type)(?:=.*)?)$|^--$/.test(
      arg,
    )
  );
}

/** The arguments with which a program prints some of its input's lines, unchanged. */
const SELECTORS: Table = {
  grep: isLineFilter,
  egrep: isLineFilter,
  fgrep: isLineFilter,
  head: isCount,
  tail: isCount,
  sort: (args) => args.every((arg) => /^-[rufnVz]+$/.test(arg)),
  uniq: (args) => args.every((arg) => arg === "-z"),
  tr: (args) => args.length === 2 && args[0] === "\\n" && args[1] === "\\0",
  cat: (args) => args.length === 0,
};

function isLineFilter(args: readonly string[]): boolean {
  return args.filter((arg) => !/^-[viEFPwxz]+$/.test(arg)).length === 1;
}

function isCount(args: readonly string[]): boolean {
  return args.every(
    (arg, index) =>
      /^-(?:n?\d{1,9}|n|z)$/.test(arg) || (args[index - 1] === "-n" && /^\d{1,9}$/.test(arg)),
  );
}

/** The arguments with which a program prints one word that is no path outside and no flag. */
const PRINTERS: Table = {
  git: ([verb, ...args]) =>
    verb === "rev-list" || verb === "log"
      ? (verb === "rev-list" || args.some((arg) => /^--(?:format|pretty)=%[hH]$/.test(arg))) &&
        args.every(isPlainCount)
      : (verb === "rev-parse" || verb === "merge-base") &&
        !args.includes("--abbrev-ref") &&
        args.every(isPlainRevision),
  date: (args) =>
    args.every(
      (arg) => /^-u$|^\+%[YGCymdgHIMSsjuwFTDRaAbBhN][A-Za-z%:_.-]*$/.test(arg) && !BREAKS.test(arg),
    ),
  nproc: (args) => args.length === 0,
  whoami: (args) => args.length === 0,
  uname: (args) => args.every((arg) => /^-[smr]$/.test(arg)),
  arch: (args) => args.length === 0,
};

/** `%n` and `%t`, behind which another word begins, and a `%%` that could hide one. */
const BREAKS = /%[_:.-]*[nt%]/;

/**
 * The arguments with which git prints a name of the repository's, whose tags and branches may begin
 * like a flag.
 */
const REFERENCES: Table = {
  git: ([verb, ...args]) =>
    verb === "branch"
      ? args.length === 1 && args[0] === "--show-current"
      : (verb === "describe" || verb === "rev-parse") && args.every(isPlainRevision),
};

/** A revision, a range, or how many commits. */
function isPlainCount(arg: string): boolean {
  return /^(?:-n|-n?\d{1,9}|--max-count=\d{1,9}|--all|--reverse|--no-merges|--merges|--(?:format|pretty)=%[hH]|\d{1,9}|[A-Za-z_@][\w.@{}^~/-]*)$/.test(
    arg,
  );
}

/** A revision without `..` and flags that only change how one is printed. */
function isPlainRevision(arg: string): boolean {
  return (
    /^--(?:short(?:=\d+)?|verify|abbrev-ref|quiet|tags|always|abbrev=\d+|dirty)$|^-q$/.test(arg) ||
    /^(?!.*\.\.)[A-Za-z0-9_@][\w.@{}^~/-]*$/.test(arg)
  );
}

/** What lines of a text can be: names of the project's files, or a word that is as harmless. */
export type Names = readonly ArgumentValue[];

/** Any names and paths, one of which might begin with a dash. */
const ANY: Names = [
  { text: "*", isGlob: true },
  { text: "*/*", isGlob: true },
];
/** Names that begin with a folder. */
const BELOW: Names = [{ text: "./*", isGlob: true }];
/** One word; its first letter stands for any letter or digit. */
const WORD: Names = [{ text: "x*", isGlob: true, ends: "word" }];

/** One word that begins with anything. */
const REFERENCE: Names = ANY.map((name) => ({ ...name, ends: "word" }));

/** Whether a script prints the current directory, and so means what `$PWD` means. */
export function printsPlace({ body }: Script): boolean {
  return (
    body.type === "command" &&
    body.words.length === 1 &&
    body.words[0]?.text === "pwd" &&
    body.assignments.length + body.redirects.length === 0
  );
}

/**
 * What a script prints, where that is nothing but names of the project's files, or one word such as
 * a branch, a revision or a date.
 */
export function printedNames({ body }: Script): Names | undefined {
  const listed = listedNames(body);
  if (listed !== undefined) return listed;
  if (isOneOf(body, PRINTERS)) return WORD;
  if (isOneOf(body, REFERENCES)) return REFERENCE;
  return printsLine(body) ? NUMBER : undefined;
}

/** The number of a line, of which any other would lead to the same, or nothing. */
const NUMBER: Names = [
  { text: "1", isGlob: false },
  { text: "", isGlob: false },
];

/** `grep -n x a.ts | head -1 | cut -d: -f1`: the number of one line of one file, or nothing. */
function printsLine(node: Node): boolean {
  if (node.type !== "pipeline" || node.mergesErrors || node.stages.length !== 3) return false;
  const [search = [], ...filters] = node.stages.map((stage) =>
    stage.type === "command" && stage.assignments.length === 0 && hasPlainStreams(stage)
      ? stage.words.map(lettersOf)
      : [],
  );
  const operands = search.slice(1).filter((word) => word?.startsWith("-") !== true);
  const flags = search.slice(1).filter((word) => word?.startsWith("-") === true);
  const numbers =
    search[0] === "grep" &&
    flags.some((flag) => flag?.includes("n") === true) &&
    flags.every((flag) => /^-[nEFiwx]+$/.test(flag ?? ""));
  // A word that is not known may be a flag with which names of files come first.
  const isOneFile =
    operands.length === 2 && !operands.includes(undefined) && !/[*?[]/.test(operands[1] ?? "*");
  const filter = filters.map((words) => words.join(" ")).sort();
  return (
    numbers &&
    isOneFile &&
    /^cut -d ?: -f ?1$/.test(filter[0] ?? "") &&
    /^(?:head|tail) (?:-n ?|-)1$/.test(filter[1] ?? "")
  );
}

/**
 * The names of the project's files that a command or a pipeline prints, where it prints nothing
 * else.
 */
export function listedNames(node: Node): Names | undefined {
  if (node.type === "pipeline") {
    // What lists names does not read what comes before it.
    const last = node.stages.findLastIndex((stage) => !selectsNames(stage));
    const lister = node.stages[last];
    if (node.mergesErrors || lister === undefined) return undefined;
    return node.stages
      .slice(last + 1)
      .reduce((names, stage) => selectNames(stage, names), listedNames(lister));
  }
  if (node.type !== "command" || !isOneOf(node, LISTERS)) return undefined;
  const [name = "", ...args] = node.words.map(lettersOf);
  const ends = endsOf(name, args);
  const toNul = ends === "nul" ? [] : nulEdits(name, node.words);
  const isSifted = choosesNoSecret(name, args);
  const sift = !isSifted && name === "find" ? findEdits(node.words) : undefined;
  return (isAnchored(name, node.words) ? BELOW : ANY).map((each) => ({
    ...each,
    ends,
    ...(isSifted && { isSifted }),
    ...(sift !== undefined && { sift }),
    ...(toNul !== undefined && { toNul }),
  }));
}

const sifted = (names: Names): Names =>
  names.map(({ text, isGlob, ends, isTorn, toNul }) => ({
    text,
    isGlob,
    isSifted: true,
    ...(ends !== undefined && { ends }),
    ...(isTorn !== undefined && { isTorn }),
    ...(toNul !== undefined && { toNul }),
  }));

/**
 * The options with which a program ends each name with NUL; git without it quotes a name that has a
 * line break.
 */
const NUL: Readonly<Record<string, RegExp>> = {
  find: /^-print0$/,
  fd: /^(?:-0|--print0)$/,
  rg: /^(?:-[a-zA-Z]*0[a-zA-Z]*|--null)$/,
  grep: /^(?:-[a-zA-Z]*Z[a-zA-Z]*|--null)$/,
  git: /^(?:-[a-zA-Z]*z[a-zA-Z]*|--null)$/,
};
/** The option that says so, put behind a program's name or behind git's verb. */
const TO_NUL: Readonly<Record<string, readonly [text: string, word: number]>> = {
  fd: [" -0", 0],
  rg: [" --null", 0],
  grep: [" --null", 0],
  git: [" -z", 1],
};
const WHOLE = "ends names with NUL, so that one with blanks or line breaks stays one";

function endsOf(name: string, args: readonly (string | undefined)[]): "nul" | "quoted" | "line" {
  const option = Object.hasOwn(NUL, name) ? NUL[name] : undefined;
  const isNul = option !== undefined && args.some((arg) => option.test(arg ?? ""));
  if (isNul && !(name === "find" && args.includes("-print"))) return "nul";
  return name === "git" ? "quoted" : "line";
}

function nulEdits(name: string, words: readonly Word[]): readonly Edit[] | undefined {
  if (name === "find") return findNulEdits(words, WHOLE);
  const [text, at] = (Object.hasOwn(TO_NUL, name) ? TO_NUL[name] : undefined) ?? [];
  const word = at === undefined ? undefined : words[at];
  return text === undefined || word === undefined
    ? undefined
    : [{ at: word.span.end, behind: word.raw, text, reason: WHOLE }];
}

/** A folder of the project, written out. */
const FOLDER = /^[A-Za-z0-9_.][\w./-]*$/;

/**
 * Whether all names begin with a folder that was written out, so that none is a flag: those of
 * `find`, and of a search in `src`.
 */
function isAnchored(name: string, words: readonly Word[]): boolean {
  if (name === "find") return true;
  if (name !== "grep" && name !== "rg") return false;
  const args = words.slice(1).map(({ text }) => text);
  // An option whose value stands apart would leave it open which word is the pattern.
  if (
    args.some(
      (arg) =>
        arg === undefined ||
        /^-[A-Za-z]*[egtf]$|^--(?:$|[a-z-]+$)/.test(
          arg.replace(/^--(?:files|files-with-matches|null)$/, ""),
        ),
    )
  )
    return false;
  const operands = args.filter((arg) => arg?.startsWith("-") !== true);
  const folders = args.includes("--files") ? operands : operands.slice(1);
  return folders.length > 0 && folders.every((folder) => FOLDER.test(folder ?? ""));
}

/** Whether a stage of a pipeline passes names on as they are. */
export function selectsNames(node: Node): boolean {
  return isOneOf(node, SELECTORS);
}

/** What a stage passes on of the names that go into it; undefined where it prints anything else. */
export function selectNames(node: Node, names: Names | undefined): Names | undefined {
  if (node.type !== "command" || names === undefined || !selectsNames(node)) return undefined;
  const words = node.words.map(lettersOf);
  const [program = "", ...args] = words;
  if (program === "cat") return names;
  const cut = args.some((arg) => /^-[a-zA-Z]*z[a-zA-Z]*$/.test(arg ?? "")) ? "nul" : "line";
  const toNul = stageToNul(names, { program, word: node.words[0] });
  // A few lines of the start hold the first name's beginning, and those of the end the last one's
  // end.
  const isBeside =
    program === "tail" ||
    (program === "head" && Number(/\d+$/.exec(args.at(-1) ?? "10")?.[0]) <= FEW_LINES);
  // Whole, they need nothing where they were chosen.
  const sift = names.every((name) => name.isSifted === true) ? [] : names[0]?.sift;
  const lines = takeApart(names, cut).map(
    ({ text, isGlob, isSifted, ends, isTorn, hasCompany }) => ({
      text,
      isGlob,
      ends: program === "tr" || ends === "nul" ? ("nul" as const) : ("quoted" as const),
      ...(isSifted !== undefined && { isSifted }),
      ...(sift !== undefined && { sift }),
      ...(isTorn !== undefined && { isTorn }),
      ...(hasCompany !== undefined && isBeside && { hasCompany }),
      ...(toNul !== undefined && { toNul }),
    }),
  );
  return keepsSourceNames(words) ? sifted(lines) : lines;
}

/** The edits with which a stage passes on names that end with NUL, where they came so. */
function stageToNul(
  names: Names,
  { program, word }: { readonly program: string; readonly word: Word | undefined },
): readonly Edit[] | undefined {
  const before = names[0]?.toNul;
  if (before === undefined || word === undefined || program === "tr") return undefined;
  return [...before, { at: word.span.end, behind: word.raw, text: " -z", reason: WHOLE }];
}

/** Lines of names that go into one call of `xargs`, however long they are. */
const FEW_LINES = 30;

function isOneOf(node: Node, table: Table): boolean {
  if (node.type !== "command" || node.assignments.length > 0 || !hasPlainStreams(node))
    return false;
  const [name, ...args] = node.words.map(lettersOf);
  if (name === undefined || args.includes(undefined) || !Object.hasOwn(table, name)) return false;
  const known = args.filter((arg) => arg !== undefined);
  if (table === LISTERS && known.some(isOfSystem)) return false;
  if (table[name]?.(known) !== true) return false;
  return (
    !aimsOf(table, name, known).some((arg) => AIMED.test(arg)) ||
    (table === LISTERS && choosesNoSecret(name, known))
  );
}

/** The arguments that choose among names; what a search looks for in files is none of them. */
function aimsOf(table: Table, name: string, args: readonly string[]): readonly string[] {
  const isSearch =
    table === LISTERS &&
    (name === "grep" || name === "rg" || args[0] === "grep") &&
    !args.includes("--files");
  const pattern = isSearch
    ? args.findIndex((arg, index) => !arg.startsWith("-") && !(name === "git" && index === 0))
    : -1;
  return args.filter((_, index) => index !== pattern);
}

/** A word's letters, where all of them are written there: globs are. */
function lettersOf({ text, pieces }: Word): string | undefined {
  if (text !== undefined) return text;
  return pieces.every(({ kind }) => kind === "text" || kind === "glob")
    ? pieces.map((piece) => ("text" in piece ? piece.text : "")).join("")
    : undefined;
}

/** Nothing but its errors goes elsewhere, and they do not get among the names. */
const hasPlainStreams = ({ redirects }: Command): boolean =>
  redirects.every(
    (redirect) => redirect.descriptor === 2 && redirect.operator === ">" && !changesInput(redirect),
  );

/** Whether a redirection gives a command another input. */
export function changesInput({ operator, descriptor }: Redirect): boolean {
  return descriptor === 0 || (descriptor === undefined && operator.startsWith("<"));
}
