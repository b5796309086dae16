/**
 * Find's choice: whether the names that `find` prints may be those of secrets, and the edit that
 * takes these out. Tests of names and paths are tried on secret names; every other test may go
 * either way.
 */
import { matchesGlob } from "../../secrets/name-glob.js";
import { SECRET_PROBES } from "../../secrets/secret-globs.js";
import type { Edit } from "../../findings.js";
import type { Word } from "../../parse/tree.js";
import { isInSecretFolder } from "./choice.js";
import { FIND_EXCLUDES } from "./excludes.js";

/** What an expression can come to for one file. */
interface Chance {
  readonly yes: boolean;
  readonly no: boolean;
  /** Whether the file may be printed on the way. */
  readonly prints: boolean;
}

interface Reader {
  readonly args: readonly string[];
  readonly path: string;
  at: number;
}

const MAYBE: Chance = { yes: true, no: true, prints: false };
const DONE: Chance = { yes: true, no: false, prints: false };
/** Tests and options with a value of their own. */
const VALUED =
  /^-(?:amin|anewer|atime|cmin|cnewer|ctime|fstype|gid|group|ilname|inum|iregex|links|lname|maxdepth|mindepth|mmin|mtime|newer..|newer|perm|regex|regextype|samefile|size|type|uid|used|user|xtype|context)$/;
const PRINTS = /^-print0?$/;

/** Whether `find` with these arguments prints no secret name. */
export function findLeavesNoSecret(args: readonly string[]): boolean {
  const tests = expressionOf(args);
  // Behind `find secrets` every path lacks what `-path '*/secrets/*'` looks for.
  if (args.slice(0, args.length - tests.length).some(isInSecretFolder)) return false;
  const hasAction = tests.some((arg) => PRINTS.test(arg));
  return !SECRET_PROBES.some((probe) => {
    const reader: Reader = { args: tests, path: `./${probe}`, at: 0 };
    const { yes, prints } = tests.length === 0 ? MAYBE : readList(reader);
    return reader.at < tests.length || (hasAction ? prints : yes);
  });
}

/** Everything behind the places that are searched. */
function expressionOf(args: readonly string[]): readonly string[] {
  const at = args.findIndex(
    (arg, index) => /^[-(!,]/.test(arg) && !(index === 0 && /^-[HLP]$/.test(arg)),
  );
  return at < 0 ? [] : args.slice(at);
}

/** `a -o b`. */
function readList(reader: Reader): Chance {
  let found = readAll(reader);
  while (/^-o(?:r)?$/.test(reader.args[reader.at] ?? "")) {
    reader.at += 1;
    const next = readAll(reader);
    found = {
      yes: found.yes || (found.no && next.yes),
      no: found.no && next.no,
      prints: found.prints || (found.no && next.prints),
    };
  }
  return found;
}

/** `a b`, `a -a b`. */
function readAll(reader: Reader): Chance {
  let found = readOne(reader);
  for (;;) {
    const next = reader.args[reader.at];
    if (next === undefined || next === ")" || next === "," || /^-o(?:r)?$/.test(next)) return found;
    if (next === "-a" || next === "-and") reader.at += 1;
    const test = readOne(reader);
    found = {
      yes: found.yes && test.yes,
      no: found.no || (found.yes && test.no),
      prints: found.prints || (found.yes && test.prints),
    };
  }
}

function readOne(reader: Reader): Chance {
  const arg = reader.args[reader.at] ?? "";
  reader.at += 1;
  if (arg === "!" || arg === "-not") {
    const { yes, no, prints } = readOne(reader);
    return { yes: no, no: yes, prints };
  }
  if (arg === "(") {
    const inner = readList(reader);
    reader.at += 1;
    return inner;
  }
  if (PRINTS.test(arg)) return { ...DONE, prints: true };
  if (
    /^-(?:prune|true|daystart|depth|mount|xdev|noleaf|follow|warn|nowarn|ignore_readdir_race)$/.test(
      arg,
    )
  )
    return DONE;
  const value = reader.args[reader.at] ?? "";
  if (/^-i?name$/.test(arg))
    return matched(reader, arg, {
      glob: value,
      name: reader.path.slice(reader.path.lastIndexOf("/") + 1),
    });
  if (/^-i?(?:path|wholename)$/.test(arg)) return matchedPath(reader, value);
  if (VALUED.test(arg)) {
    reader.at += 1;
    return /^-(?:max|min)depth$/.test(arg) ? DONE : MAYBE;
  }
  return MAYBE;
}

function matched(
  reader: Reader,
  test: string,
  { glob, name }: { readonly glob: string; readonly name: string },
): Chance {
  reader.at += 1;
  const isMatch = matchesGlob(glob, name);
  // Letters may be of the other case.
  const mayMatch = isMatch || matchesGlob(glob.toLowerCase(), name);
  return { yes: mayMatch, no: !(isMatch || (test.startsWith("-i") && mayMatch)), prints: false };
}

/**
 * A path starts where the search does, which may be anywhere: only folders at any depth are told
 * for sure.
 */
function matchedPath(reader: Reader, glob: string): Chance {
  reader.at += 1;
  return /^\*\/[^*?[\]/]+\/\*$/.test(glob) && matchesGlob(glob, reader.path) ? DONE : MAYBE;
}

/** Where the tests of a `find` stand, and what they are; depths come before them. */
function testsOf(
  words: readonly Word[],
): { readonly behind: Word; readonly last: Word; readonly needsGroup: boolean } | undefined {
  const args = words.slice(1);
  const isExpression = ({ text }: Word, index: number): boolean =>
    /^[-(!,]/.test(text ?? "") && !(index === 0 && /^-[HLP]$/.test(text ?? ""));
  let from = args.findIndex(isExpression);
  const last = words.at(-1);
  let behind = (from < 0 ? last : words[from]) ?? last;
  while (from >= 0 && /^-(?:max|min)depth$/.test(args[from]?.text ?? "")) {
    from += 2;
    behind = words[from] ?? last;
  }
  if (behind === undefined || last === undefined) return undefined;
  const rest = from < 0 ? [] : args.slice(from);
  return {
    behind,
    last,
    needsGroup: rest.some(({ text }) => text === "-o" || text === "-or" || text === ","),
  };
}

/**
 * The edits that take secrets out of what a `find` prints; none where it starts among them. Its own
 * `-o` gets parentheses.
 */
export function findEdits(words: readonly Word[]): readonly Edit[] | undefined {
  const args = words.slice(1).map(({ text }) => text ?? "*");
  if (args.slice(0, args.length - expressionOf(args).length).some(isInSecretFolder))
    return undefined;
  const tests = testsOf(words);
  if (tests === undefined) return [];
  const { behind, last, needsGroup } = tests;
  const first: Edit = {
    at: behind.span.end,
    behind: behind.raw,
    text: ` ${FIND_EXCLUDES}${needsGroup ? " \\(" : ""}`,
  };
  return needsGroup ? [first, { at: last.span.end, behind: last.raw, text: " \\)" }] : [first];
}

/**
 * The edits that make a `find` end each name with NUL; undefined where it prints in more ways than
 * one.
 */
export function findNulEdits(words: readonly Word[], reason: string): readonly Edit[] | undefined {
  const printing = words.filter(({ text }) => /^-print0?$/.test(text ?? ""));
  if (printing.length > 0)
    return printing.every(({ raw }) => raw === "-print")
      ? printing.map(({ span }) => ({ at: span.end, behind: "-print", text: "0", reason }))
      : undefined;
  const tests = testsOf(words);
  if (tests === undefined) return undefined;
  const { behind, last, needsGroup } = tests;
  const print: Edit = {
    at: last.span.end,
    behind: last.raw,
    text: `${needsGroup ? " \\)" : ""} -print0`,
    reason,
  };
  return needsGroup
    ? [{ at: behind.span.end, behind: behind.raw, text: " \\(", reason }, print]
    : [print];
}
