/**
 * Expansion: what a variable of the line stands for, with what is done to it. What cannot be told
 * is {@link UNKNOWN}; what the line never set is {@link UNSET}.
 */
import type { Variable, Word } from "../parse/tree.js";
import type { Field } from "./call.js";
import { TEXT_CHARS_MAX, UNKNOWN, UNSET } from "./feed.js";
import type { Shell, Value } from "./search.js";

/** Reads the words of an operator. */
type ReadWords = (words: readonly Word[]) => readonly Field[];

const known = (text: string): Value => ({ texts: [text], lead: "text", isSecret: false });
const UNKNOWN_VALUE: Value = { texts: [UNKNOWN], lead: "program", isSecret: false };
const UNSET_VALUE: Value = { texts: [UNSET], lead: "program", isSecret: false };

/** Variables that every shell has, and what they hold as far as that says something. */
const USUAL: ReadonlyMap<string, (shell: Shell) => string> = new Map<
  string,
  (shell: Shell) => string
>([
  ["HOME", ({ site }) => site.home],
  ["PWD", ({ site }) => site.directory ?? UNKNOWN],
  ["SHELL", () => "/bin/bash"],
  ["BASH", () => "/bin/bash"],
  ["IFS", () => " \t\n"],
  ["TMPDIR", () => "/tmp"],
  ["PATH", () => "/usr/bin:/bin"],
  ["ZDOTDIR", ({ site }) => site.home],
  ["XDG_CONFIG_HOME", ({ site }) => `${site.home}/.config`],
  ["0", () => "bash"],
  ["#", () => "0"],
]);
const SURELY_SET = new Set(
  "OLDPWD USER LOGNAME LANG TERM HOSTNAME UID EUID PPID RANDOM SECONDS LINENO ? $ ! - _ BASH_VERSION HOSTTYPE OSTYPE EDITOR".split(
    " ",
  ),
);
/** Names of variables with credentials. */
const SECRET_NAME =
  /(?:TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|PRIVATE_?KEY|CREDENTIALS?|ACCESS_?KEY)/;

/** What `$v` or `${v…}` stands for. */
export function expand(variable: Variable, shell: Shell, read: ReadWords): Value {
  const operands =
    variable.operands.length === 0 ? [] : read(variable.operands).map(({ text }) => text);
  const value = valueOf(variable.name, shell);
  if (variable.operator === undefined) return value;
  const changed = operate({
    operator: variable.operator,
    operands,
    value,
    shell,
    name: variable.name,
  });
  return { ...changed, isSecret: changed.isSecret || value.isSecret };
}

function valueOf(name: string, shell: Shell): Value {
  const found = shell.variables.get(name);
  if (found !== undefined) return found;
  const usual = USUAL.get(name);
  if (usual !== undefined) return known(usual(shell));
  if (name === "@" || name === "*") return { ...known(""), elements: [] };
  if (SURELY_SET.has(name)) return UNKNOWN_VALUE;
  return SECRET_NAME.test(name) ? { ...UNSET_VALUE, isSecret: true } : UNSET_VALUE;
}

interface Operation {
  readonly operator: string;
  readonly operands: readonly string[];
  readonly value: Value;
  readonly shell: Shell;
  readonly name: string;
}

function operate(operation: Operation): Value {
  const { operator, operands, value, shell, name } = operation;
  const isUnset = value === UNSET_VALUE || value.texts[0] === UNSET;
  const [first = ""] = operands;
  switch (operator) {
    case ":-":
    case "-":
    case ":=":
    case "=": {
      if (!isUnset && value.texts[0] !== "") return value;
      const chosen = known(operands.join(" "));
      if (operator.endsWith("=")) shell.variables.set(name, chosen);
      return chosen;
    }
    case ":+":
    case "+":
      return known(operands.join(" "));
    case ":?":
    case "?":
      return isUnset ? UNKNOWN_VALUE : value;
    case "!":
      return isUnset ? UNKNOWN_VALUE : valueOf(value.texts[0] ?? "", shell);
    case "@":
    case "@E":
    case "@P":
    case "@Q":
      return value;
    case "[":
      return elementOf(value, first);
    case "length":
      return UNKNOWN_VALUE;
    default:
      return isUnset
        ? UNKNOWN_VALUE
        : { ...value, texts: value.texts.map((text) => change(text, operator, operands)) };
  }
}

function elementOf(value: Value, index: string): Value {
  if (value.elements === undefined) return value;
  if (index === "@" || index === "*") return value;
  const element = value.elements.at(Number(index));
  return element === undefined ? UNKNOWN_VALUE : known(element);
}

function change(text: string, operator: string, operands: readonly string[]): string {
  const [first = "", second = ""] = operands;
  switch (operator) {
    case ":": {
      const start = Number(first);
      const length = operands.length > 1 ? Number(second) : text.length;
      if (Number.isNaN(start) || Number.isNaN(length)) return UNKNOWN;
      const from = start < 0 ? text.length + start : start;
      return text.slice(from, length < 0 ? length : from + length);
    }
    case "#":
    case "##":
      return isPattern(first) ? UNKNOWN : text.startsWith(first) ? text.slice(first.length) : text;
    case "%":
    case "%%":
      return isPattern(first)
        ? UNKNOWN
        : text.endsWith(first)
          ? text.slice(0, text.length - first.length)
          : text;
    case "/":
      return isPattern(first) || first === "" ? UNKNOWN : text.replace(first, () => second);
    case "//":
      return isPattern(first) || first === "" || second.length * text.length > TEXT_CHARS_MAX
        ? UNKNOWN
        : text.replaceAll(first, () => second);
    case "^^":
      return text.toUpperCase();
    case ",,":
      return text.toLowerCase();
    case "^":
      return text.charAt(0).toUpperCase() + text.slice(1);
    case ",":
      return text.charAt(0).toLowerCase() + text.slice(1);
    default:
      return UNKNOWN;
  }
}

const isPattern = (text: string): boolean =>
  /[*?[\]\\]/.test(text) || text.includes(UNKNOWN) || text.includes(UNSET);
