/**
 * Literal: decode text that holds no expansion. `undefined` where bash might read it in another way
 * than it looks.
 */
import type { Piece } from "./tree.js";

/** Everything that the shell may look at in a bare word. */
const SPECIAL = /[\\"'`$<>()|&;*?[\]{}~!# \t\n]/;
/** Operators and quotes that the parser should have read as something else. */
const OPERATOR = /["'`<>()|&; \t\n]/;
/** A `$` that starts nothing stays a letter. */
const STARTS_NOTHING = /[^A-Za-z0-9_{(['"$\\@*#?!`-]/;
/** What a continued line may follow without becoming a part of it. */
const ENDS_NOTHING = /[A-Za-z0-9_./,:%+@^-]/;

function textPiece(text: string, quoted: boolean): Piece {
  return { kind: "text", text, quoted };
}

/** Pieces of a bare text: escapes are quoted, `*` and `?` are globs. */
export function bareText(raw: string): readonly Piece[] | undefined {
  if (!SPECIAL.test(raw)) return [textPiece(raw, false)];
  const pieces: Piece[] = [];
  let plain = "";
  const flush = (): void => {
    if (plain !== "") pieces.push(textPiece(plain, false));
    plain = "";
  };
  for (let at = 0; at < raw.length; at++) {
    const char = raw.charAt(at);
    const next = raw.charAt(at + 1);
    if (char === "\\") {
      if (next === "") return undefined;
      if (next === "\n") {
        if (!isContinued(raw, at)) return undefined;
      } else {
        flush();
        pieces.push(textPiece(next, true));
      }
      at++;
    } else if (char === "*" || char === "?") {
      flush();
      pieces.push({ kind: "glob", text: char });
    } else if (OPERATOR.test(char) || (char === "$" && next !== "" && !STARTS_NOTHING.test(next))) {
      return undefined;
    } else {
      plain += char;
    }
  }
  flush();
  return pieces;
}

/**
 * Whether the backslash before a line end at `at` joins ordinary letters: `$\⏎x` is a variable,
 * `~\⏎/` is a home.
 */
function isContinued(raw: string, at: number): boolean {
  return at === 0
    ? raw.length === 2 || ENDS_NOTHING.test(raw.charAt(2))
    : ENDS_NOTHING.test(raw.charAt(at - 1));
}

/**
 * Text inside double quotes or in the body of a here-document; `escapes` are the letters that a
 * backslash hides there.
 */
export function quotedText(raw: string, escapes: string): string | undefined {
  if (!raw.includes("\\") && !raw.includes("$") && !raw.includes("`")) return raw;
  let text = "";
  for (let at = 0; at < raw.length; at++) {
    const char = raw.charAt(at);
    const next = raw.charAt(at + 1);
    if (
      char === "`" ||
      (char === "$" && next !== "" && next !== '"' && next !== "'" && !STARTS_NOTHING.test(next))
    )
      return undefined;
    if (char !== "\\" || next === "") {
      text += char;
    } else if (next === "\n") {
      at++;
    } else {
      if (!escapes.includes(next)) text += char;
      text += next;
      at++;
    }
  }
  return text;
}

const ESCAPE =
  /\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([nt\\'"?]))|[^\\]/gy;

/**
 * `$'…'`, read a second time: printable ASCII, line ends and tabs. What depends on the locale, ends
 * the text early or is rare has no answer.
 */
export function escapedText(raw: string): string | undefined {
  const inner = raw.slice(2, -1);
  let text = "";
  let end = 0;
  for (const [found, octal, hex, short, long, letter] of inner.matchAll(ESCAPE)) {
    end += found.length;
    const code = octal === undefined ? (hex ?? short ?? long) : undefined;
    if (octal !== undefined) text += String.fromCharCode(Number.parseInt(octal, 8) & 0xff);
    else if (code !== undefined)
      text += String.fromCharCode(Math.min(Number.parseInt(code, 16), 0xffff));
    else text += letter === "n" ? "\n" : letter === "t" ? "\t" : (letter ?? found);
    if (found.length > 1 && !/^[\n\t\x20-\x7e]$/.test(text.slice(-1))) return undefined;
  }
  return end === inner.length ? text : undefined;
}
