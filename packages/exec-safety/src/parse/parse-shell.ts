/**
 * Parse a command line into our own tree. The parser is unbash; only this file and the folder
 * beside it know it. Never throws, never guesses: an error at any level refuses the whole text.
 * Cases: spec/vectors/exec-parser.json.
 */
import { parse, type ParsedScript } from "unbash";
import type { Finding } from "../findings.js";
import { deeper, refuse, spanOf, type Conversion } from "./conversion.js";
import { convertList } from "./nodes.js";
import { oneWord } from "./words.js";
import type { SafetyLimits } from "../safety.js";
import type { Script, Span } from "./tree.js";

/**
 * The tree, or why there is none to rely on. `partial` is what could be read nevertheless: bash
 * runs the lines before a mistake, so that a search for what is plainly destructive reads it;
 * nothing may be called safe by it.
 */
export type Parsed =
  | { readonly script: Script }
  | { readonly refused: Finding; readonly partial?: Script };

/** Reads a text that checkText() has let pass: others may take the parser long. */
export function parseShell(text: string, limits: SafetyLimits): Parsed {
  const state: Conversion = {
    limits,
    source: text,
    commands: 0,
    hereDocuments: 0,
    braceWords: 0,
    depth: 0,
    refused: undefined,
    isOver: false,
    fixed: undefined,
    convertScript: (script, span) => convertScript(state, { script, span }),
    convertOperand: (word) => oneWord(state, word, "start"),
  };
  const span = { start: 0, end: text.length };
  try {
    const script = convertScript(state, { script: parse(text), span });
    return state.refused === undefined ? { script } : { refused: state.refused, partial: script };
  } catch {
    // The parser promises not to throw; a promise is no reason to let a text pass that broke it.
    refuse(state, { ruleId: "shell.unparsable", span, message: "the command cannot be read" });
    return state.refused === undefined ? { script: emptyScript(span) } : { refused: state.refused };
  }
}

function convertScript(
  state: Conversion,
  { script, span }: { readonly script: ParsedScript; readonly span: Span },
): Script {
  const { errors, source } = script;
  const outer = { fixed: state.fixed, source: state.source };
  if (source !== undefined) {
    state.fixed ??= span;
    state.source = source;
  }
  const [error] = errors ?? [];
  if (error !== undefined) {
    const place = state.fixed ?? spanOf(state, { pos: error.pos, end: error.pos });
    refuse(state, {
      ruleId: "shell.unparsable",
      span: place,
      message: `not valid in bash: ${oneLine(error.message)}`,
    });
  }
  const converted = deeper(state, span, (): Script => ({ span, body: convertList(state, script) }));
  state.fixed = outer.fixed;
  state.source = outer.source;
  return converted ?? emptyScript(span);
}

function emptyScript(span: Span): Script {
  return { span, body: { type: "sequence", span, items: [], operators: [] } };
}

/** The parser's messages quote the text. */
function oneLine(message: string): string {
  return message.replace(/[^\x20-\x7e]/g, "?").slice(0, 120);
}
