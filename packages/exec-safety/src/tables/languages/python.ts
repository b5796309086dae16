/**
 * Python: whether a script only computes and prints, and which files it reads. Read token by token:
 * every name, attribute and module is listed, so that nothing leads to what runs, writes or dials.
 * What is not understood is reviewed.
 */
import {
  ATTRIBUTES,
  BUILTINS,
  KEYWORDS,
  MODULES,
  OTHER_BUILTINS,
  REFUSED,
} from "./python-names.js";
import { CHARS_MAX, DEPTH_MAX, STRANGE } from "./script.js";
import type { Reads } from "./script.js";

type Token =
  | { readonly kind: "name" | "operator" | "number" | "line"; readonly text: string }
  /** A string; `text` is known where it has neither escapes nor a prefix. */
  | { readonly kind: "string"; readonly text: string | undefined };

/** What a script of Python reads. */
export function pythonReads(script: string): Reads {
  if (
    script.length > CHARS_MAX ||
    /[\r\0\f\u2028\u2029]/.test(script) ||
    /#[^\n]*coding[:=]/.test(script)
  )
    return STRANGE;
  const tokens = tokensOf(script, 0);
  return tokens === undefined ? STRANGE : readsOf(tokens);
}

const SPACE = /[ \t]+|#[^\n]*/y;
/**
 * Letters right before a quote are a prefix, and of one that is not known nobody says what it does.
 */
const NAME = /[A-Za-z_]\w*(?![\w'"])/y;
const NUMBER =
  /(?:0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][-+]?\d+)?[jJ]?)(?![A-Za-z_])/y;
const STRING = /(?:[bB]?[rR]?|[rR][bB]|[uU])(?:'''|"""|'|")/y;
const FORMATTED = /(?:[fF][rR]?|[rR][fF])(?:'''|"""|'|")/y;
const OPERATOR =
  /\*\*=|\/\/=|>>=|<<=|->|:=|\*\*|\/\/|<<|>>|<=|>=|==|!=|[-+*/%@&|^]=|[-+*/%@&|^~<>()[\]{},:;.=!]/y;

function tokensOf(script: string, depth: number): readonly Token[] | undefined {
  if (depth > DEPTH_MAX) return undefined;
  const tokens: Token[] = [];
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(script)?.[0];
    at += found?.length ?? 0;
    return found;
  };
  while (at < script.length) {
    if (script.charAt(at) === "\n") {
      tokens.push({ kind: "line", text: "\n" });
      at += 1;
      continue;
    }
    if (take(SPACE) !== undefined) continue;
    const formatted = take(FORMATTED);
    const opening = formatted ?? take(STRING);
    if (opening !== undefined) {
      const quote = opening.replace(/^[A-Za-z]*/, "");
      const end = endOfString(script, at, quote);
      if (end === undefined) return undefined;
      const body = script.slice(at, end);
      at = end + quote.length;
      const inner = formatted === undefined ? [] : fieldsOf(body, depth);
      if (inner === undefined) return undefined;
      tokens.push(
        { kind: "string", text: opening === quote && !body.includes("\\") ? body : undefined },
        ...inner,
      );
      continue;
    }
    const name = take(NAME);
    const number = name === undefined ? take(NUMBER) : undefined;
    const text = name ?? number ?? take(OPERATOR);
    if (text === undefined) return undefined;
    tokens.push({
      kind: name !== undefined ? "name" : number !== undefined ? "number" : "operator",
      text,
    });
  }
  return tokens;
}

/** Where the quote that ends a string stands. */
function endOfString(script: string, from: number, quote: string): number | undefined {
  for (let at = from; at < script.length; at += 1) {
    if (script.charAt(at) === "\\") at += 1;
    else if (script.startsWith(quote, at)) return at;
    else if (script.charAt(at) === "\n" && quote.length === 1) return undefined;
  }
  return undefined;
}

/**
 * The code in the fields of a formatted string, in brackets of its own. Versions of Python disagree
 * about quotes, backslashes and comments in a field: none of them is taken where it could end the
 * field or the string.
 */
function fieldsOf(body: string, depth: number): readonly Token[] | undefined {
  const tokens: Token[] = [];
  let at = 0;
  while (at < body.length) {
    const letter = body.charAt(at);
    if (letter === "\\") {
      at += 1;
      // It hides no brace: what is behind `\{` is code.
      if (/[{}]/.test(body.charAt(at))) return undefined;
    } else if ((letter === "{" || letter === "}") && body.charAt(at + 1) === letter) at += 1;
    else if (letter === "}") return undefined;
    else if (letter === "{") {
      const end = endOfField(body, at);
      const field = end === undefined ? "\\" : body.slice(at + 1, end);
      if (end === undefined || /[\\#\n]|\{\{|\}\}/.test(field)) return undefined;
      const inner = tokensOf(field.replace(FORMAT, ""), depth + 1);
      if (inner === undefined) return undefined;
      tokens.push({ kind: "operator", text: "(" }, ...inner, { kind: "operator", text: ")" });
      at = end;
    }
    at += 1;
  }
  return tokens;
}

/** `>10.2f` behind a field, which calls nothing, whatever it is. */
const FORMAT = /:[ \w.,<>=^+%-]*$/;

function endOfField(body: string, from: number): number | undefined {
  let open = 0;
  for (let at = from; at < body.length; at += 1) {
    if (body.charAt(at) === "{") open += 1;
    else if (body.charAt(at) === "}") open -= 1;
    if (open === 0) return at;
  }
  return undefined;
}

function readsOf(tokens: readonly Token[]): Reads {
  const files: string[] = [];
  let isStart = true;
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token?.kind === "name") {
      const before = lastBefore(tokens, at);
      if (before === ".") {
        if (!ATTRIBUTES.has(token.text) && token.text !== "__name__" && !isPlainFormat(tokens, at))
          return STRANGE;
      } else if (token.text === "import" || (token.text === "from" && isStart)) {
        const end = isStart ? endOfImport(tokens, at) : undefined;
        if (end === undefined) return STRANGE;
        at = end - 1;
      } else if (token.text === "open") {
        const read = readOf(tokens, at + 1);
        if (read === undefined) return STRANGE;
        files.push(read);
      } else if (!isHarmless(token.text)) return STRANGE;
    }
    isStart = token?.kind === "line" || token?.text === ";" || token?.text === ":";
  }
  return files;
}

/** Whether a name means nothing, or something without harm, wherever it stands. */
function isHarmless(name: string): boolean {
  if (KEYWORDS.has(name) || BUILTINS.has(name) || name === "_" || name === "__name__") return true;
  return (
    !name.startsWith("_") && !name.includes("__") && !REFUSED.has(name) && !OTHER_BUILTINS.has(name)
  );
}

/** Whether it is `format` of a string that reads no attributes by their names. */
function isPlainFormat(tokens: readonly Token[], at: number): boolean {
  const string = tokens[at - 2];
  if (tokens[at]?.text !== "format" || string?.kind !== "string") return false;
  let before = at - 3;
  while (tokens[before]?.kind === "line") before -= 1;
  // Two strings side by side are one, over ends of lines as well; the last field of a formatted one
  // ends with a bracket.
  const { kind, text } = tokens[before] ?? {};
  if (kind === "string" || (kind === "operator" && text === ")")) return false;
  return string.text !== undefined && !/\{[^}]*[.[{]/.test(string.text);
}

/** The operator before a token, over ends of lines. */
function lastBefore(tokens: readonly Token[], at: number): string | undefined {
  let index = at - 1;
  while (tokens[index]?.kind === "line") index -= 1;
  const before = tokens[index];
  return before?.kind === "operator" ? before.text : undefined;
}

/** Where `import a, b.c as d` or `from a import b as c, d` ends, where all of it is listed. */
function endOfImport(tokens: readonly Token[], start: number): number | undefined {
  let at = start;
  const next = (): Token | undefined => tokens[at++];
  const dotted = (): string => {
    let name = next()?.text ?? "";
    while (tokens[at]?.text === "." && tokens[at]?.kind === "operator")
      name += `${next()?.text}${next()?.text}`;
    return name;
  };
  const isFrom = next()?.text === "from";
  if (isFrom && (!MODULES.has(dotted()) || next()?.text !== "import")) return undefined;
  const isBracketed = isFrom && tokens[at]?.text === "(" && tokens[at]?.kind === "operator";
  if (isBracketed) at += 1;
  for (;;) {
    const name = isFrom ? (next()?.text ?? "") : dotted();
    if (!(isFrom ? ATTRIBUTES : MODULES).has(name)) return undefined;
    if (tokens[at]?.text === "as") {
      at += 1;
      const alias = next();
      if (alias?.kind !== "name" || !isHarmless(alias.text)) return undefined;
    }
    const behind = tokens[at];
    if (behind?.text === "," && behind.kind === "operator") at += 1;
    else break;
  }
  if (isBracketed && next()?.text !== ")") return undefined;
  const behind = tokens[at];
  return behind === undefined || behind.kind === "line" || behind.text === ";" ? at : undefined;
}

const ENCODINGS: ReadonlySet<string> = new Set([
  "utf-8",
  "utf8",
  "utf-8-sig",
  "ascii",
  "latin-1",
  "latin1",
]);
const VALUES: Readonly<Record<string, RegExp>> = {
  mode: /^rb?t?$/,
  errors: /^(?:ignore|replace|strict|backslashreplace)$/,
  newline: /^$/,
};

const isValue = (name: string, text: string): boolean =>
  Object.hasOwn(VALUES, name) && VALUES[name]?.test(text) === true;

/** The file that `("name")`, with at most how it is read, opens; undefined for anything else. */
function readOf(tokens: readonly Token[], start: number): string | undefined {
  const [bracket, name] = tokens.slice(start, start + 2);
  if (
    bracket?.kind !== "operator" ||
    bracket.text !== "(" ||
    name?.kind !== "string" ||
    name.text === undefined
  )
    return undefined;
  let at = start + 2;
  for (;;) {
    const token = tokens[at];
    if (token?.kind === "operator" && token.text === ")") return name.text;
    if (token?.kind !== "operator" || token.text !== ",") return undefined;
    const [key, equals] = tokens.slice(at + 1, at + 3);
    const isNamed = key?.kind === "name" && equals?.text === "=" && equals.kind === "operator";
    const value = tokens[at + (isNamed ? 3 : 1)];
    const what = isNamed ? key.text : at === start + 2 ? "mode" : "";
    if (value?.kind !== "string" || value.text === undefined) return undefined;
    if (what === "encoding" ? !ENCODINGS.has(value.text.toLowerCase()) : !isValue(what, value.text))
      return undefined;
    at += isNamed ? 4 : 2;
  }
}
