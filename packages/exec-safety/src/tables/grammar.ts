/**
 * Grammar: an entry of a table, read once into what scanning needs. The text forms are described in
 * table.ts.
 */
import { nearest } from "../text/nearest.js";
import { quote } from "../text/quote.js";
import { isKind, KINDS } from "./kinds.js";
import type { Kind } from "./kinds.js";
import { flagNames } from "./names-as-flags.js";
import type { Flag, Grammar, Operands } from "./flag.js";
import { TOPICS } from "./table.js";
import type { Binary, Why } from "./table.js";

const FLAG_NAME = /^(?:--?[A-Za-z0-9@.][\w.+=-]*|[A-Za-z()!,]|-[#+])$/;
const compiled = new WeakMap<Binary, Grammar>();

/** Thrown for an entry of a table of programs that cannot be read. */
export class TableError extends Error {
  override readonly name = "TableError";
}

/**
 * The grammar of an entry; made once. Throws a {@link TableError} where the entry cannot be read.
 */
export function grammarOf(binary: Binary): Grammar {
  const known = compiled.get(binary);
  if (known !== undefined) return known;
  const grammar = compileGrammar(binary);
  compiled.set(binary, grammar);
  return grammar;
}

function compileGrammar(binary: Binary): Grammar {
  const flags = new Map<string, Flag>();
  for (const word of wordsOf(binary.flags)) addFlag(flags, word, undefined);
  for (const [word, why] of Object.entries(binary.reviewFlags ?? {}))
    addFlag(flags, word, readWhy(why));
  const takesNumbers = flags.delete("-#");
  const operands = readOperands(binary.operands);
  const operandsWith = new Map<Flag, Operands>();
  for (const [names, others] of Object.entries(binary.operandsWith ?? {}))
    for (const flag of flagsNamed(flags, names)) operandsWith.set(flag, readOperands(others));
  return {
    binary,
    flags,
    takesNumbers,
    operands,
    operandsWith,
    alone: new Set(wordsOf(binary.alone)),
    requires: new Set(flagsNamed(flags, binary.requires ?? "")),
    names: flagNames(flags, { style: binary.style, operands }),
    ...(binary.review === undefined ? {} : { review: readWhy(binary.review) }),
    ...(binary.excess === undefined ? {} : { excess: readWhy(binary.excess) }),
    ...(binary.otherwise === undefined ? {} : { otherwise: readWhy(binary.otherwise) }),
  };
}

/** `write: puts its result into a file`. */
export function readWhy(text: string): Why {
  const [word, ...rest] = text.split(": ");
  const topic = TOPICS.find((each) => each === word);
  if (topic === undefined || rest.length === 0)
    throw problem("reason", text, `it must start with one of ${TOPICS.join(", ")} and a colon`);
  return { topic, text: rest.join(": ") };
}

function addFlag(flags: Map<string, Flag>, word: string, why: Why | undefined): void {
  const [names = "", ...kindNames] = word.split(":");
  const isAttached = names.endsWith("?") && kindNames.length > 0;
  const [kind = "text", ...others] = kindNames.map((name) => readKind(name, word));
  const flag: Flag = {
    value: kindNames.length === 0 ? "none" : isAttached ? "attached" : "needed",
    kinds: [kind, ...others],
    ...(why === undefined ? {} : { why }),
  };
  for (const name of (isAttached ? names.slice(0, -1) : names).split(/,(?=-|.,|.$)/)) {
    if (!FLAG_NAME.test(name)) throw problem("flag", word, `${quote(name)} is no flag`);
    if (flags.has(name)) throw problem("flag", word, `${quote(name)} is there already`);
    flags.set(name, flag);
  }
}

function readKind(name: string, word: string): Kind {
  if (isKind(name)) return name;
  const suggestion = nearest(name, KINDS);
  throw problem(
    "kind",
    word,
    `there is no kind ${quote(name)}${suggestion === undefined ? "" : `; did you mean ${suggestion}?`}`,
  );
}

function flagsNamed(flags: ReadonlyMap<string, Flag>, names: string): readonly Flag[] {
  return names.split(/[\s,]+/).flatMap((name) => {
    if (name === "") return [];
    const flag = flags.get(name);
    if (flag === undefined) throw problem("flag", name, `it is not among the entry's flags`);
    return [flag];
  });
}

/** `pattern path*`. */
function readOperands(text: string | undefined): Operands {
  const first: Kind[] = [];
  let rest: Kind | undefined;
  let min = 0;
  for (const word of wordsOf(text)) {
    const many = /[?*+]$/.exec(word)?.[0] ?? "";
    const kind = readKind(many === "" ? word : word.slice(0, -1), word);
    if (rest !== undefined || (many === "" && min < first.length))
      throw problem("operand", word, "it stands behind one that may be absent");
    if (many === "" || many === "+") min += 1;
    if (many !== "*") first.push(kind);
    if (many === "*" || many === "+") rest = kind;
  }
  return { first, min, ...(rest === undefined ? {} : { rest }) };
}

function wordsOf(text: string | undefined): readonly string[] {
  return text === undefined || text.trim() === "" ? [] : text.trim().split(/\s+/);
}

function problem(what: string, text: string, why: string): TableError {
  return new TableError(`Cannot read ${what} ${quote(text)} of a program's entry: ${why}`);
}
