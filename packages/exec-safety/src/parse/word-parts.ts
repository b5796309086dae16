/**
 * Word parts: one part of a word, as the parser sees it, into pieces. What is not certain is `other`,
 * with the scripts inside it.
 */
import type {
  ArithmeticExpansionPart,
  CommandExpansionPart,
  DoubleQuotedChild,
  ParameterExpansionPart,
} from "unbash";
import type { ProcessSubstitutionPart, SimpleExpansionPart, WordPart } from "unbash";
import type { Piece } from "./tree.js";
import { refuse, spanOf, type Conversion } from "./conversion.js";
import { bareText, escapedText, quotedText } from "./literal.js";
import { scriptOf, scriptsBelow } from "./scripts.js";

/** What a backslash hides inside double quotes. */
const QUOTE_ESCAPES = '$`"\\';
/** What a backslash hides in the body of a here-document. */
const BODY_ESCAPES = "$`\\";
/** Digits and operators only: no name, so that nothing is evaluated a second time. */
const PLAIN_ARITHMETIC = /^(?:\$\(\(|\$\[)[\s0-9+\-*/%()<>=!&|^~?:,]*(?:\)\)|\])$/;
const CONTINUED = "\\\n";

/** A part outside quotes; braces are the caller's. */
export function bareParts(state: Conversion, part: WordPart): readonly Piece[] {
  switch (part.type) {
    case "Literal":
      return bareText(part.text) ?? [other(state, "text that can be read in two ways", part)];
    case "Glob":
      if (
        part.kind !== "bracket" ||
        part.parts.every((inner) => inner.type === "Literal" && inner.text === inner.value)
      ) {
        return [{ kind: "glob", text: part.text }];
      }
      return [other(state, "an expansion in a pattern", part)];
    case "SingleQuoted":
      return [{ kind: "text", text: part.value, quoted: true }];
    case "AnsiCQuoted":
      return [
        escapedText(part.text) === part.value
          ? { kind: "text", text: part.value, quoted: true }
          : other(state, "unusual characters in $'…'", part),
      ];
    case "DoubleQuoted":
      if (part.parts.length === 0) return [{ kind: "text", text: "", quoted: true }];
      return quotedParts(state, part.parts, QUOTE_ESCAPES);
    case "LocaleString":
      return [other(state, 'a translated text $"…"', part)];
    case "SimpleExpansion":
    case "ParameterExpansion":
    case "CommandExpansion":
    case "ArithmeticExpansion":
      return [expansion(state, part, false)];
    case "ProcessSubstitution":
      return [
        scriptPiece(state, part, { form: part.operator === "<" ? "read" : "write", quoted: false }),
      ];
    case "ExtendedGlob":
      return [other(state, "an extended pattern", part)];
    case "BraceExpansion":
      return [other(state, "braces", part)];
    default:
      return part satisfies never;
  }
}

/** Parts inside double quotes, or of the body of a here-document. */
export function quotedParts(
  state: Conversion,
  parts: readonly WordPart[],
  escapes: string = BODY_ESCAPES,
): readonly Piece[] {
  return parts.map((part, at) => {
    switch (part.type) {
      case "Literal": {
        const text =
          at > 0 && part.text.startsWith(CONTINUED) ? undefined : quotedText(part.text, escapes);
        return text === undefined
          ? other(state, "text that can be read in two ways", part)
          : { kind: "text", text, quoted: true };
      }
      case "SimpleExpansion":
      case "ParameterExpansion":
      case "CommandExpansion":
      case "ArithmeticExpansion":
        return expansion(state, part, true);
      default:
        return other(state, "text that can be read in two ways", part);
    }
  });
}

function expansion(
  state: Conversion,
  part: Exclude<DoubleQuotedChild, { type: "Literal" }>,
  quoted: boolean,
): Piece {
  switch (part.type) {
    case "SimpleExpansion":
      return simple(state, part, quoted);
    case "ParameterExpansion":
      return parameter(state, part, quoted);
    case "ArithmeticExpansion":
      return arithmetic(state, part);
    case "CommandExpansion":
      if (!/^(?:`|\$\((?!\\\n|\())/.test(part.text))
        return other(state, "a command in ${ …; } or $((…) …)", part);
      // Bash looks for braces before it looks for backquotes, and takes the quotes between them for
      // the end of these; and it joins lines even inside single quotes there.
      if (
        part.text.startsWith("`") &&
        (part.text.includes(CONTINUED) || (quoted && /["{]/.test(part.text)))
      ) {
        return other(state, "quotes, braces or joined lines in backquotes", part);
      }
      return scriptPiece(state, part, { form: "command", quoted });
    default:
      return part satisfies never;
  }
}

type ScriptForm = Omit<Extract<Piece, { kind: "script" }>, "kind" | "script">;

function scriptPiece(
  state: Conversion,
  part: CommandExpansionPart | ProcessSubstitutionPart,
  form: ScriptForm,
): Piece {
  const { commands, hereDocuments } = state;
  const script = scriptOf(state, part);
  if (script === undefined) return { kind: "other", what: "a command", scripts: [] };
  // Bash writes the commands of a substitution anew before it runs them, and joins the wrong ones
  // behind a here-document.
  if (state.hereDocuments > hereDocuments && state.commands > commands + 1) {
    return {
      kind: "other",
      what: "a here-document among other commands in a substitution",
      scripts: [script],
    };
  }
  return { kind: "script", ...form, script };
}

function simple(state: Conversion, part: SimpleExpansionPart, quoted: boolean): Piece {
  const name = part.text.slice(1);
  if (name === "HOME") return { kind: "home", quoted };
  if (!/^(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])$/.test(name))
    return other(state, "a variable whose name is not plain", part);
  return { kind: "variable", name, quoted, operands: [] };
}

/** The parser closes silently what is left open in the body of a here-document. */
function requireEnd(state: Conversion, part: WordPart, end: string): void {
  if (part.text.endsWith(end)) return;
  refuse(state, {
    ruleId: "shell.unparsable",
    span: spanOf(state, part),
    message: "an expansion without its end",
  });
}

function arithmetic(state: Conversion, part: ArithmeticExpansionPart): Piece {
  requireEnd(state, part, part.text.startsWith("$[") ? "]" : "))");
  const isPlain = PLAIN_ARITHMETIC.test(part.text);
  const { expression } = part;
  return {
    kind: "arithmetic",
    span: spanOf(state, part),
    isPlain,
    scripts: expression === undefined ? [] : scriptsBelow(state, [expression]),
  };
}

function parameter(state: Conversion, part: ParameterExpansionPart, quoted: boolean): Piece {
  const { parameter: name, prefix, index, operation } = part;
  requireEnd(state, part, "}");
  const modifiers = [prefix, index, operation].filter((modifier) => modifier !== undefined).length;
  if (name === "" || modifiers > 1 || part.text.includes(CONTINUED))
    return other(state, "an expansion with more than one modifier", part);
  if (prefix !== undefined)
    return {
      kind: "variable",
      name,
      quoted,
      operator: prefix === "!" ? "!" : "length",
      operands: [],
    };
  if (index !== undefined)
    return {
      kind: "variable",
      name,
      quoted,
      operator: "[",
      operands: [state.convertOperand(index)],
    };
  if (operation === undefined)
    return name === "HOME"
      ? { kind: "home", quoted }
      : { kind: "variable", name, quoted, operands: [] };
  if (operation.type === "Unknown")
    return other(state, "an expansion that the shell may not know", part);
  const operands = operandsOf(operation);
  // Quotes and escapes of an operand mean other things inside quotes and here-documents, and
  // parsers get them wrong.
  if (quoted && operands.some((operand) => /["'\\]/.test(operand.text)))
    return other(state, "quotes inside an expansion", part);
  return {
    kind: "variable",
    name,
    quoted,
    operator: operation.operator,
    operands: operands.map((operand) => state.convertOperand(operand)),
  };
}

type Operation = Exclude<NonNullable<ParameterExpansionPart["operation"]>, { type: "Unknown" }>;
type Operand = Parameters<Conversion["convertOperand"]>[0];

function operandsOf(operation: Operation): readonly Operand[] {
  switch (operation.type) {
    case "Default":
    case "Remove":
    case "Transform":
      return [operation.operand];
    case "CaseModification":
      return operation.operand === undefined ? [] : [operation.operand];
    case "Replace":
      return [operation.pattern, operation.replacement];
    case "Slice":
      return operation.length === undefined
        ? [operation.offset]
        : [operation.offset, operation.length];
    case "Names":
      return [];
    default:
      return operation satisfies never;
  }
}

/** A piece that is never safe, with every script inside it. */
export function other(state: Conversion, what: string, part: WordPart): Piece {
  return { kind: "other", what, scripts: scriptsBelow(state, [part]) };
}
