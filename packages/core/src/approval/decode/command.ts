/**
 * Command: a command line by its parts, for display only. It reads what every POSIX shell reads
 * alike (words, quotes, `|`, `&&`, `||`, `;`, `&`, redirections to a file or a number) and nothing
 * else: where it is not certain, it says so and reads nothing.
 */
import { quoteText } from "@acp/exec-safety/text";
import { showCount, showText } from "../show.js";
import type { Reading } from "./reading.js";

interface Word {
  readonly text: string;
  /**
   * Whether the shell puts something else in its place: a variable, a pattern, a home directory.
   */
  readonly expands: boolean;
  /** What of it is not quoted. */
  readonly bare: string;
}

interface Command {
  /** The operator before it. */
  readonly after: string;
  readonly words: Word[];
  readonly redirects: { readonly operator: string; readonly target: Word }[];
}

interface Cursor {
  readonly text: string;
  at: number;
}

const COMMAND_KEY = /^(?:shell[_-]?)?(?:command|cmd)(?:[_-]?line)?$/i;
const BLANKS = /[ \t]*/y;
const OPERATOR = /\|\||&&|\|(?!&)|&(?!>)|;(?![;&])|\n/y;
const REDIRECT = /[0-9]*(?:>>|>\||<>|[<>]&(?=[0-9]+(?:[ \t\n;|&<>]|$))|>(?![&(])|<(?![<&(]))/y;
/** Words that a shell reads as grammar where a command begins. */
const GRAMMAR: ReadonlySet<string> = new Set(
  "if then else elif fi do done case esac while until for in select function time coproc ! [[ ]] { }".split(
    " ",
  ),
);
const EXPANDS = /[*?]|^~|[=:]~/;

/** A piece of a word: how it looks, what it says, whether it is quoted. */
interface Piece {
  readonly looks: RegExp;
  readonly says: (found: string) => string;
  readonly quoted: boolean;
  readonly expands?: true;
}

const VARIABLE = /\$(?:[A-Za-z_][A-Za-z0-9_]*|\{[A-Za-z_][A-Za-z0-9_]*\}|[0-9?#@*!$-])/;
const same = (found: string): string => found;
const PIECES: readonly Piece[] = [
  {
    looks: /[^\u0000-\u001f\u007f-\u009f '"\\$`|&;<>(){}#]+|(?<=[^ \t\n|&;<>])#|\{\}/y,
    says: same,
    quoted: false,
  },
  { looks: new RegExp(VARIABLE, "y"), says: same, quoted: true, expands: true },
  { looks: /'[^']*'/y, says: (found) => found.slice(1, -1), quoted: true },
  {
    looks: /"(?:[^"\\$`]|\\[^\n])*"/y,
    says: (found) => found.slice(1, -1).replaceAll(/\\(["\\$`])/g, "$1"),
    quoted: true,
  },
  {
    looks: new RegExp(`"(?:[^"\\\\$\`]|${VARIABLE.source})*"`, "y"),
    says: (found) => found.slice(1, -1),
    quoted: true,
    expands: true,
  },
  { looks: /\\[^\n]/y, says: (found) => found.slice(1), quoted: true },
];

const AFTER: ReadonlyMap<string, string> = new Map([
  ["|", ", reading what the one before writes"],
  ["&&", ", if what is before succeeded"],
  ["||", ", if what is before failed"],
  ["&", ", without waiting for what is before"],
]);

/** The readings of a command line; none where the key does not announce one. */
export function readCommand(text: string, key: string): readonly Reading[] {
  if (!COMMAND_KEY.test(key)) return [];
  const cursor: Cursor = { text, at: 0 };
  const commands = readCommands(cursor);
  if (commands === undefined)
    return [
      {
        line: `command line, not decoded: from character ${showCount(cursor.at + 1)} on, only its shell reads it for certain`,
      },
    ];
  return commands.flatMap(showCommand);
}

function showCommand({ after, words, redirects }: Command, index: number): readonly Reading[] {
  const line = `sh command ${index + 1}${AFTER.get(after) ?? ""}: ${words.map(showWord).join(" ")}`;
  const texts = words.filter(({ expands }) => !expands).map(({ text }) => text);
  return [
    { line, texts },
    ...redirects.map(({ operator, target }) => ({
      line: `  redirected ${quoteText(operator).slice(1, -1)} ${showWord(target)}`,
    })),
  ];
}

const showWord = ({ text, expands }: Word): string =>
  `${showText(text)}${expands ? " (expanded)" : ""}`;

function take(cursor: Cursor, looks: RegExp): string | undefined {
  looks.lastIndex = cursor.at;
  const found = looks.exec(cursor.text)?.[0];
  cursor.at += found?.length ?? 0;
  return found;
}

/** All commands, or nothing where one of them is not certain. */
function readCommands(cursor: Cursor): readonly Command[] | undefined {
  const commands: Command[] = [];
  let after = ";";
  for (;;) {
    const command: Command = { after, words: [], redirects: [] };
    if (!fill(cursor, command)) return undefined;
    const isEmpty = command.words.length === 0;
    if (isEmpty && command.redirects.length > 0) return undefined;
    if (!isEmpty) commands.push(command);
    const isOver = cursor.at === cursor.text.length;
    if (isOver)
      return commands.length > 0 && !(isEmpty && /^(?:\||&&|\|\|)$/.test(after))
        ? commands
        : undefined;
    const operator = take(cursor, OPERATOR);
    if (operator === undefined || (isEmpty && operator !== "\n")) return undefined;
    if (!isEmpty) after = operator;
  }
}

/** Reads one simple command up to an operator; false where it is not certain. */
function fill(cursor: Cursor, command: Command): boolean {
  for (;;) {
    take(cursor, BLANKS);
    const operator = take(cursor, REDIRECT);
    const start = cursor.at + (operator === undefined ? 0 : (take(cursor, BLANKS)?.length ?? 0));
    const word = readWord(cursor);
    if (operator !== undefined) {
      if (word === undefined) return false;
      command.redirects.push({ operator, target: word });
      continue;
    }
    if (word === undefined) {
      OPERATOR.lastIndex = cursor.at;
      return cursor.at === cursor.text.length || OPERATOR.test(cursor.text);
    }
    if (command.words.length === 0 && GRAMMAR.has(word.bare)) {
      cursor.at = start;
      return false;
    }
    command.words.push(word);
  }
}

function readWord(cursor: Cursor): Word | undefined {
  let [text, bare, expands] = ["", "", false];
  let found = false;
  for (;;) {
    const start = cursor.at;
    for (const piece of PIECES) {
      const raw = take(cursor, piece.looks);
      if (raw === undefined) continue;
      text += piece.says(raw);
      if (piece.quoted) expands ||= piece.expands === true;
      else bare += raw;
      found = true;
      break;
    }
    if (cursor.at === start) break;
  }
  const isPattern =
    EXPANDS.test(bare) || (bare.includes("[") && bare.lastIndexOf("]") > bare.indexOf("["));
  return found ? { text, bare, expands: expands || isPattern } : undefined;
}
