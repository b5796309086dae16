/**
 * Nodes: every kind of the parser's nodes into ours. A kind that is not listed does not compile.
 */
import type {
  ArithmeticExpression,
  Command as ParserCommand,
  CommandNode,
  CompoundList,
  Pipeline,
  Statement,
  SyntaxNode,
} from "unbash";
import type {
  AndOr,
  Assignment as ParserAssignment,
  Redirection,
  Word as ParserWord,
} from "unbash";
import type { Assignment, Command, Node, Span, Word } from "./tree.js";
import {
  deeper,
  refuse,
  requireGap,
  spanOf,
  stop,
  stopAtDepth,
  type Conversion,
} from "./conversion.js";
import { convertComparisons } from "./comparisons.js";
import { convertRedirects } from "./redirects.js";
import { scriptsBelow } from "./scripts.js";
import { addWords, assignmentWord, listWords, makeWord, oneWord, unknownWord } from "./words.js";

const BRACKET = /(?:[ \t]|\\\n)*\(/y;
const DOUBLE = /\((?:\\\n)*\(/y;

function startsAt({ source }: Conversion, pattern: RegExp, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(source);
}

/** Statements, one after the other. */
export function convertList(
  state: Conversion,
  list: { readonly pos: number; readonly end: number; readonly commands: readonly Statement[] },
): Node {
  const items = list.commands.map((statement) => convertStatement(state, statement));
  return sequence({ span: spanOf(state, list), items, operators: items.slice(1).map(() => ";") });
}

function sequence(parts: {
  readonly span: Span;
  readonly items: readonly Node[];
  readonly operators: readonly string[];
}): Node {
  const [only] = parts.items;
  return only !== undefined && parts.items.length === 1 ? only : { type: "sequence", ...parts };
}

function convertStatement(state: Conversion, statement: Statement): Node {
  const body = convertNode(state, statement.command);
  return statement.background === true
    ? { type: "group", span: spanOf(state, statement), kind: "background", body }
    : body;
}

function convertNode(state: Conversion, node: CommandNode | Pipeline | AndOr | CompoundList): Node {
  const span = spanOf(state, node);
  switch (node.type) {
    case "Command":
      return convertCommand(state, node);
    case "CompoundList":
      return convertList(state, node);
    case "AndOr":
      return sequence({
        span,
        items: node.commands.map((part) => convertNode(state, part)),
        operators: node.operators,
      });
    case "Pipeline":
      return convertPipeline(state, node);
    default:
      return (
        deeper(state, span, () => convertCompound(state, node)) ?? {
          type: "sequence",
          span,
          items: [],
          operators: [],
        }
      );
  }
}

function convertCompound(state: Conversion, node: Exclude<CommandNode, ParserCommand>): Node {
  const span = spanOf(state, node);
  const convert = (inner: CommandNode | CompoundList): Node => convertNode(state, inner);
  switch (node.type) {
    case "Redirected":
      return {
        type: "redirected",
        span,
        body: convert(node.command),
        redirects: convertRedirects(state, node.redirects),
      };
    case "Subshell":
      // Bash first reads `((` as arithmetic, and loses here-documents when it reads it again.
      if (startsAt(state, DOUBLE, node.pos))
        refuse(state, { ruleId: "shell.unparsable", span, message: "`((` that is not arithmetic" });
      return { type: "group", span, kind: "subshell", body: convert(node.body) };
    case "BraceGroup":
      return { type: "group", span, kind: "braces", body: convert(node.body) };
    case "If": {
      const branches = [node, ...node.elif].flatMap(({ clause, then }) => [clause, then]);
      return {
        type: "if",
        span,
        parts: [...branches, ...(node.else === undefined ? [] : [node.else])].map(convert),
      };
    }
    case "While":
      return {
        type: "while",
        span,
        keyword: node.kind,
        condition: convert(node.clause),
        body: convert(node.body),
      };
    case "For":
      return convertFor(state, node);
    case "Case":
      return {
        type: "case",
        span,
        word: oneWord(state, node.word, "start"),
        patterns: node.items.flatMap(({ pattern }) =>
          pattern.map((word) => oneWord(state, word, "start")),
        ),
        bodies: node.items.map(({ body }) => convert(body)),
      };
    case "TestCommand":
      return { type: "test", span, comparisons: convertComparisons(state, node.expression) };
    default:
      return convertRefused(state, node);
  }
}

type Refused = Extract<
  CommandNode,
  { type: "Function" | "Coproc" | "Select" | "ArithmeticFor" | "ArithmeticCommand" }
>;

function convertRefused(state: Conversion, node: Refused): Node {
  const span = spanOf(state, node);
  const frame = { type: "refused", span } as const;
  switch (node.type) {
    case "Function": {
      const body = [convertNode(state, node.body)];
      return {
        ...frame,
        what: "a function definition",
        construct: "function",
        ...named(node.name),
        body,
        words: [],
      };
    }
    case "Coproc":
      return {
        ...frame,
        what: "a coprocess",
        construct: "coproc",
        ...named(node.name),
        body: [convertNode(state, node.body)],
        words: [],
      };
    case "Select": {
      const words = listWords(state, node.wordlist ?? []);
      return {
        ...frame,
        what: "a menu",
        construct: "select",
        ...named(node.name),
        body: [convertNode(state, node.body)],
        words,
      };
    }
    case "ArithmeticFor": {
      const words = [arithmeticWord(state, node, [node.initialize, node.test, node.update])];
      return {
        ...frame,
        what: "a counting loop",
        construct: "arithmetic-for",
        body: [convertNode(state, node.body)],
        words,
      };
    }
    case "ArithmeticCommand":
      return {
        ...frame,
        what: "an arithmetic command",
        construct: "arithmetic",
        body: [],
        words: [arithmeticWord(state, node, [node.expression])],
      };
    default:
      return node satisfies never;
  }
}

function named(name: ParserWord | undefined): { readonly name?: string } {
  return name === undefined ? {} : { name: name.text };
}

function arithmeticWord(
  state: Conversion,
  node: SyntaxNode,
  expressions: readonly (ArithmeticExpression | undefined)[],
): Word {
  const scripts = scriptsBelow(
    state,
    expressions.filter((expression) => expression !== undefined),
  );
  return makeWord({ span: spanOf(state, node), raw: "" }, [
    { kind: "other", what: "arithmetic", scripts },
  ]);
}

function convertFor(state: Conversion, node: Extract<CommandNode, { type: "For" }>): Node {
  const words = node.wordlist === undefined ? undefined : listWords(state, node.wordlist);
  return {
    type: "for",
    span: spanOf(state, node),
    name: node.name.text,
    ...(words === undefined ? {} : { words }),
    body: convertNode(state, node.body),
  };
}

function convertPipeline(state: Conversion, node: Pipeline): Node {
  const span = spanOf(state, node);
  const stages = node.commands.map((command) => convertNode(state, command));
  const [only] = stages;
  // `! ! ! …` nests as well.
  if (node.prefixes.length > state.limits.nestingMax) stopAtDepth(state, span);
  if (only === undefined)
    refuse(state, {
      ruleId: "shell.unparsable",
      span,
      message: "a `!` or `time` without a command",
    });
  let body: Node =
    only === undefined
      ? { type: "sequence", span, items: [], operators: [] }
      : stages.length === 1
        ? only
        : { type: "pipeline", span, stages, mergesErrors: node.operators.includes("|&") };
  for (const prefix of node.prefixes.toReversed()) {
    body = { type: "prefixed", span, prefix: prefix.type === "Time" ? "time" : "!", body };
  }
  return body;
}

function convertCommand(state: Conversion, node: ParserCommand): Command {
  const span = spanOf(state, node);
  if (++state.commands > state.limits.commandsMax) {
    stop(state, {
      ruleId: "shell.too-many-commands",
      span,
      message: `more than ${state.limits.commandsMax} commands`,
    });
  }
  if (state.isOver) return { type: "command", span, assignments: [], words: [], redirects: [] };
  // The parser lets a function definition pass that the text does not finish.
  if (startsAt(state, BRACKET, node.end))
    refuse(state, { ruleId: "shell.unparsable", span, message: "a bracket behind a command" });
  const assignments: Assignment[] = [];
  const words: Word[] = [];
  const redirects: Redirection[] = [];
  let end: number | undefined;
  const add = (item: ParserWord | ParserAssignment | Redirection, isPrefix: boolean): void => {
    if (item.type === "Word") addWords(state, item, words);
    else if (item.type !== "Assignment") redirects.push(item);
    else if (isPrefix) assignments.push(convertAssignment(state, item));
    else words.push(assignmentWord(state, item));
    // `2\⏎>f` is `2>f`, and the parser takes the `2` for a word.
    if (
      item.type === "Word" ||
      item.type === "Assignment" ||
      state.source.startsWith("\\\n", item.pos - 2)
    )
      requireGap(state, item, end);
    ({ end } = item);
  };
  for (const item of node.prefix) add(item, true);
  if (node.name !== undefined) add(node.name, false);
  for (const item of node.suffix) add(item, false);
  return {
    type: "command",
    span,
    assignments,
    words,
    redirects: convertRedirects(state, redirects),
  };
}

function convertAssignment(state: Conversion, node: ParserAssignment): Assignment {
  const { append, index, name, value } = node;
  const start = { span: spanOf(state, node), name };
  const others = index === undefined ? [] : [oneWord(state, index, "start")];
  if (value.type === "ArrayValue") {
    return { ...start, isPlain: false, others: [...others, ...listWords(state, value.elements)] };
  }
  if (value.text.startsWith("(")) {
    refuse(state, {
      ruleId: "shell.unparsable",
      span: start.span,
      message: "text that touches an array",
    });
    return { ...start, isPlain: false, others: [...others, unknownWord(state, value, "an array")] };
  }
  return {
    ...start,
    value: oneWord(state, value, "assignment"),
    isPlain: append !== true && index === undefined,
    others,
  };
}
