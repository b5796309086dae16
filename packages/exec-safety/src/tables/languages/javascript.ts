/**
 * JavaScript: whether a script for `node -e` only computes and prints, and which files it reads.
 * Read token by token: every name is listed or the script's own, no property leads to a constructor
 * or a prototype, and nothing is chosen by a name that is computed. What is not understood is
 * reviewed. `require('./x.json')` is: a folder `x.json` with an `index.js` would run.
 */
import { CHARS_MAX, DEPTH_MAX, STRANGE, words } from "./script.js";
import type { Reads } from "./script.js";

/** Words of the language; of the others, `this` is the global object, and `while` may not end. */
const KEYWORDS = words(`
  break case catch const continue default delete else false finally for function if in instanceof let new null return switch throw true try
  typeof undefined var void NaN Infinity of`);
const GLOBALS = words(`
  Array BigInt Boolean Date JSON Map Math Number RegExp Set String isFinite isNaN parseFloat parseInt encodeURIComponent decodeURIComponent
  encodeURI decodeURI structuredClone`);
/** Objects of which only these members are without harm. */
const MEMBERS: Readonly<Record<string, ReadonlySet<string>>> = {
  console: words("log error info warn table debug"),
  process: words("argv version versions platform arch exit uptime"),
  Object: words("keys values entries fromEntries freeze assign is hasOwn"),
};
/** Members that lead to a constructor, a prototype, or to what called the script. */
const REFUSED = words(`
  constructor prototype caller callee arguments getPrototypeOf setPrototypeOf getOwnPropertyDescriptor getOwnPropertyDescriptors defineProperty
  defineProperties prepareStackTrace captureStackTrace getThis getFunction mainModule binding`);
/**
 * Names that a script may give a meaning of its own, but not these, which may still be meant where
 * that does not hold.
 */
const AMBIENT = words(`
  this eval Function globalThis global window self process console Object Reflect Proxy Symbol Error require module exports import export fetch WebAssembly
  Buffer queueMicrotask setTimeout setInterval setImmediate Atomics SharedArrayBuffer WebSocket EventSource Worker navigator performance crypto
  with class extends super async await yield while do debugger enum static get set arguments
  assert async_hooks buffer child_process cluster constants dgram diagnostics_channel dns domain events fs http http2 https inspector net os path
  perf_hooks punycode querystring readline repl sea sqlite stream string_decoder sys test timers tls trace_events tty url util v8 vm
  wasi worker_threads zlib
  Promise Iterator Storage localStorage sessionStorage BroadcastChannel MessageChannel MessagePort Blob File URL Request Response Headers FormData
  WeakRef FinalizationRegistry AsyncFunction`);

type Kind = "name" | "number" | "operator" | "pattern" | "string";

interface Token {
  readonly kind: Kind;
  /** Of a string without escapes what it says; undefined for any other string. */
  readonly text: string | undefined;
}

/** What a script of JavaScript reads. */
export function javascriptReads(script: string): Reads {
  if (script.length > CHARS_MAX || /[\r\0\f\v\u2028\u2029\uFEFF]|<!--|-->/.test(script))
    return STRANGE;
  const tokens = tokensOf(script, 0);
  return tokens === undefined ? STRANGE : readsOf(tokens);
}

const SPACE = /[ \t\n]+|\/\/[^\n]*|\/\*(?:[^*]|\*(?!\/))*\*\//y;
const NAME = /[A-Za-z_$][\w$]*/y;
const NUMBER =
  /(?:0[xX][\da-fA-F]+|0[bB][01]+|0[oO][0-7]+|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)n?(?![\w$])/y;
const STRING = /'(?:[^'\\\n]|\\[^\n])*'|"(?:[^"\\\n]|\\[^\n])*"/y;
const PATTERN = /\/(?:[^/\\[\n]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n])*\])+\/[dgimsuvy]*(?![\w$])/y;
const OPERATOR =
  /=>|\.\.\.|[=!]==?|\?\?=?|\?\.(?!\d)|\*\*=?|&&=?|\|\|=?|<<=?|>>>?=?|\+\+|--|[-+*%&|^<>]=|[-+*%&|^~!<>=?:;,.(){}[\]]/y;
/**
 * Behind one of these a `/` begins a pattern; behind a name, a number or `]` it divides; elsewhere
 * it is not understood.
 */
const BEFORE_PATTERN = words("( , = : [ ! && || ?? ? { ; => == === != !== + return typeof");

function tokensOf(script: string, depth: number): Token[] | undefined {
  if (depth > DEPTH_MAX) return undefined;
  const tokens: Token[] = [];
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(script)?.[0];
    at += found?.length ?? 0;
    return found;
  };
  const add = (kind: Kind, text: string | undefined): boolean =>
    text !== undefined && tokens.push({ kind, text }) > 0;
  while (at < script.length) {
    if (take(SPACE) !== undefined) continue;
    if (script.charAt(at) === "`") {
      const template = templateAt(script, at, depth);
      if (template === undefined) return undefined;
      tokens.push({ kind: "string", text: undefined }, ...template.tokens);
      at = template.end;
      continue;
    }
    const string = take(STRING);
    if (string !== undefined) {
      tokens.push({
        kind: "string",
        text: string.includes("\\") ? undefined : string.slice(1, -1),
      });
      continue;
    }
    if (add("name", take(NAME)) || add("number", take(NUMBER)) || add("operator", take(OPERATOR)))
      continue;
    const before = tokens.at(-1);
    // Behind a dot, a word of the language is a name: `a.return / 2`.
    const isMember = before?.kind === "name" && isDot(tokens.at(-2));
    if (
      before === undefined ||
      (before.kind !== "string" && !isMember && BEFORE_PATTERN.has(before.text ?? ""))
    ) {
      if (add("pattern", take(PATTERN))) continue;
    } else if ((isMember || isOperand(before)) && script.charAt(at) === "/") {
      at += 1;
      tokens.push({ kind: "operator", text: "/" });
      continue;
    }
    return undefined;
  }
  return tokens;
}

/** A name that is no word of the language, a number, or `]`: what a `/` behind it divides. */
function isOperand({ kind, text = "" }: Token): boolean {
  return (
    kind === "number" ||
    (kind === "name" && !KEYWORDS.has(text) && !AMBIENT.has(text)) ||
    (kind === "operator" && text === "]")
  );
}

/** A template with the code in it, in brackets of its own. */
function templateAt(
  script: string,
  from: number,
  depth: number,
): { readonly tokens: readonly Token[]; readonly end: number } | undefined {
  const tokens: Token[] = [];
  let at = from + 1;
  while (at < script.length) {
    const letter = script.charAt(at);
    if (letter === "`") return { tokens, end: at + 1 };
    if (letter === "\\") at += 1;
    else if (script.startsWith("${", at)) {
      const end = script.indexOf("}", at);
      // What could hold a brace of its own is not taken.
      const code = end < 0 ? "{" : script.slice(at + 2, end);
      const inner = /[{`\\/]/.test(code) ? undefined : tokensOf(code, depth + 1);
      if (inner === undefined) return undefined;
      tokens.push({ kind: "operator", text: "(" }, ...inner, { kind: "operator", text: ")" });
      at = end;
    }
    at += 1;
  }
  return undefined;
}

function readsOf(tokens: readonly Token[]): Reads {
  const brackets = bracketsOf(tokens);
  if (brackets === undefined) return STRANGE;
  const own = ownNames(tokens, brackets);
  // A word of the language as a name would mean two things.
  if ([...own].some((name) => KEYWORDS.has(name))) return STRANGE;
  const files: string[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (
      token?.kind === "name" &&
      (token.text === "require" || token.text === "fs") &&
      !isKey(tokens, at)
    ) {
      const read = readOf(tokens, at);
      if (read === undefined) return STRANGE;
      if (read.file !== undefined) files.push(read.file);
      at = read.end - 1;
    } else if (!isHarmless(tokens, at, own)) return STRANGE;
  }
  return files;
}

function isHarmless(tokens: readonly Token[], at: number, own: ReadonlySet<string>): boolean {
  const token = tokens[at];
  const { text = "" } = token ?? {};
  switch (token?.kind) {
    case "name":
      if (REFUSED.has(text) || text.startsWith("_")) return false;
      if (isKey(tokens, at)) return true;
      if (!isWord(tokens, at)) return false;
      if (Object.hasOwn(MEMBERS, text))
        return (
          isOperator(tokens[at + 1], ".") && MEMBERS[text]?.has(tokens[at + 2]?.text ?? "") === true
        );
      return !AMBIENT.has(text) && (KEYWORDS.has(text) || GLOBALS.has(text) || own.has(text));
    case "string":
      return !isOperator(tokens[at + 1], ":") || isPlainKey(token);
    case "operator":
      // `{ [name]: value }` takes a member by a name that is computed.
      if (text === "]" && isOperator(tokens[at + 1], ":")) return false;
      return text !== "[" || !isValue(tokens[at - 1]) || isPlainIndex(tokens, at);
    default:
      return true;
  }
}

/** Whether a name is a member's: behind a dot, or a key. */
function isKey(tokens: readonly Token[], at: number): boolean {
  const before = tokens[at - 1];
  if (isDot(before)) return true;
  return isOperator(tokens[at + 1], ":") && (isOperator(before, "{") || isOperator(before, ","));
}

const isPlainKey = ({ text }: Token): boolean =>
  text !== undefined && !REFUSED.has(text) && !text.startsWith("_");

const DECLARES = /^(?:const|let|var)$/;

const isOperator = (token: Token | undefined, text: string): boolean =>
  token?.kind === "operator" && token.text === text;

/** A dot, and not a text of one. */
const isDot = (token: Token | undefined): boolean =>
  isOperator(token, ".") || isOperator(token, "?.");

/**
 * Whether `let` and `of` are words of the language where they stand. They can be variables as well:
 * `for (of of [f]) of[k]`, `[let, b] = [f]`. A place that sets one is none of these.
 */
function isWord(tokens: readonly Token[], at: number): boolean {
  const [before, token, behind] = [tokens[at - 1], tokens[at], tokens[at + 1]];
  if (token?.text === "let")
    return behind?.kind === "name" || isOperator(behind, "[") || isOperator(behind, "{");
  if (token?.text !== "of") return true;
  return (
    (before?.kind === "name" && !KEYWORDS.has(before.text ?? "")) ||
    isOperator(before, "]") ||
    isOperator(before, "}")
  );
}

/** Whether a `[` behind it chooses a member. */
function isValue(token: Token | undefined): boolean {
  if (token === undefined) return false;
  if (token.kind !== "operator")
    return token.kind !== "name" || !/^(?:return|of|in|const|let|var)$/.test(token.text ?? "");
  return /^(?:\)|\]|\}|\?\.)$/.test(token.text ?? "");
}

/** `[0]` or `["name"]`. */
function isPlainIndex(tokens: readonly Token[], at: number): boolean {
  const [index, end] = tokens.slice(at + 1, at + 3);
  if (index === undefined || !isOperator(end, "]")) return false;
  if (index.kind === "number") return true;
  return index.kind === "string" && isPlainKey(index);
}

/** Where the bracket stands that belongs to each; undefined where one belongs to none. */
function bracketsOf(tokens: readonly Token[]): ReadonlyMap<number, number> | undefined {
  const pairs = new Map<number, number>();
  const open: number[] = [];
  for (const [at, { kind, text = "" }] of tokens.entries()) {
    if (kind !== "operator") continue;
    if (/^[([{]$/.test(text)) open.push(at);
    if (!/^[)\]}]$/.test(text)) continue;
    const from = open.pop();
    if (from === undefined || !/^(?:\(\)|\[\]|\{\})$/.test(`${tokens[from]?.text}${text}`))
      return undefined;
    pairs.set(from, at).set(at, from);
  }
  return open.length === 0 ? pairs : undefined;
}

/**
 * Names that the script itself declares: behind `const`, `let`, `var` and `function`, in their
 * patterns, as parameters, and what it sets.
 */
function ownNames(
  tokens: readonly Token[],
  brackets: ReadonlyMap<number, number>,
): ReadonlySet<string> {
  const own = new Set<string>();
  const addName = (at: number): void => {
    const { kind, text } = tokens[at] ?? {};
    if (kind === "name" && text !== undefined) own.add(text);
  };
  const addWithin = (one: number): void => {
    const other = brackets.get(one) ?? one;
    for (let at = Math.min(one, other) + 1; at < Math.max(one, other); at += 1) addName(at);
  };
  for (const [at, token] of tokens.entries()) {
    if (token.kind === "name") {
      if (isOperator(tokens[at + 1], "=") && !isKey(tokens, at)) addName(at);
      if (!/^(?:const|let|var|function|catch)$/.test(token.text ?? "")) continue;
      addName(at + 1);
      addWithin(token.text === "function" && tokens[at + 1]?.kind === "name" ? at + 2 : at + 1);
    } else if (isOperator(token, "=>")) {
      addName(at - 1);
      if (isOperator(tokens[at - 1], ")")) addWithin(at - 1);
    }
  }
  return own;
}

interface Read {
  readonly file?: string;
  readonly end: number;
}

const MODULE: ReadonlySet<string | undefined> = new Set(["fs", "node:fs"]);

/**
 * What `fs` or `require("fs")` at a place reads; nothing, where it is `const fs = require("fs")`.
 * Undefined for anything else.
 */
function readOf(tokens: readonly Token[], at: number): Read | undefined {
  if (tokens[at]?.text === "require")
    return isModule(tokens, at) ? readAt(tokens, at + 4) : undefined;
  if (!isOperator(tokens[at + 1], "=")) return readAt(tokens, at + 1);
  const declares = tokens[at - 1];
  const behind = tokens[at + 6];
  const ends =
    behind === undefined ||
    behind.kind === "name" ||
    isOperator(behind, ";") ||
    isOperator(behind, ",");
  return declares?.kind === "name" &&
    DECLARES.test(declares.text ?? "") &&
    isModule(tokens, at + 2) &&
    ends
    ? { end: at + 6 }
    : undefined;
}

/** `require("fs")`: a module of Node's own, whatever the folder holds. */
function isModule(tokens: readonly Token[], at: number): boolean {
  const [require, open, name, close] = tokens.slice(at, at + 4);
  if (
    require?.kind !== "name" ||
    require.text !== "require" ||
    !isOperator(open, "(") ||
    !isOperator(close, ")")
  )
    return false;
  return name?.kind === "string" && MODULE.has(name.text);
}

/** `.readFileSync("name", "utf8")`. */
function readAt(tokens: readonly Token[], at: number): Read | undefined {
  const [dot, member, open, name, comma, encoding] = tokens.slice(at, at + 6);
  if (!isOperator(dot, ".") || member?.text !== "readFileSync" || !isOperator(open, "("))
    return undefined;
  if (name?.kind !== "string" || name.text === undefined) return undefined;
  if (isOperator(comma, ")")) return { file: name.text, end: at + 5 };
  const isPlain =
    isOperator(comma, ",") &&
    encoding?.kind === "string" &&
    /^(?:utf-?8|latin1|ascii)$/i.test(encoding.text ?? "");
  return isPlain && isOperator(tokens[at + 6], ")") ? { file: name.text, end: at + 7 } : undefined;
}
