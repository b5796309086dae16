/**
 * Words: what is below a word or a node. visitCommands() reaches every command of a tree, wherever
 * it stands.
 */
import type { Command, Comparison, Node, Piece, Redirect, Script, Word } from "./tree.js";

/** The letters a word is known to start with; quotes do not count. */
export function leadingText({ pieces, text }: Word): string {
  if (text !== undefined) return text;
  let leading = "";
  for (const piece of pieces) {
    if (piece.kind !== "text") break;
    leading += piece.text;
  }
  return leading;
}

/**
 * Every script below a word, those in operands and arithmetic included; scripts inside them are
 * theirs.
 */
export function scriptsOf(word: Word): readonly Script[] {
  if (word.text !== undefined) return [];
  return word.pieces.flatMap(scriptsOfPiece);
}

function scriptsOfPiece(piece: Piece): readonly Script[] {
  switch (piece.kind) {
    case "text":
    case "glob":
    case "home":
      return [];
    case "variable":
      return piece.operands.flatMap(scriptsOf);
    case "script":
      return [piece.script];
    case "arithmetic":
    case "other":
      return piece.scripts;
    default:
      return piece satisfies never;
  }
}

/**
 * Every word of a node itself, operands of expansions not included; words of the nodes below it are
 * theirs.
 */
export function wordsOf(node: Node): readonly Word[] {
  switch (node.type) {
    case "command":
      return [
        ...node.assignments.flatMap(assignmentWords),
        ...node.words,
        ...redirectWords(node.redirects),
      ];
    case "redirected":
      return redirectWords(node.redirects);
    case "for":
      return node.words ?? [];
    case "case":
      return [node.word, ...node.patterns];
    case "test":
      return node.comparisons.flatMap(({ words }: Comparison) => words);
    case "refused":
      return node.words;
    case "sequence":
    case "pipeline":
    case "prefixed":
    case "group":
    case "if":
    case "while":
      return [];
    default:
      return node satisfies never;
  }
}

function assignmentWords({ value, others }: Command["assignments"][number]): readonly Word[] {
  return value === undefined ? others : [...others, value];
}

function redirectWords(redirects: readonly Redirect[]): readonly Word[] {
  return redirects.flatMap(({ body, target }) =>
    [target, body].filter((word) => word !== undefined),
  );
}

/** The nodes directly below a node; those in its words are not among them. */
export function nodesOf(node: Node): readonly Node[] {
  switch (node.type) {
    case "command":
    case "test":
      return [];
    case "sequence":
      return node.items;
    case "pipeline":
      return node.stages;
    case "prefixed":
    case "group":
    case "redirected":
    case "for":
      return [node.body];
    case "if":
      return node.parts;
    case "while":
      return [node.condition, node.body];
    case "case":
      return node.bodies;
    case "refused":
      return node.body;
    default:
      return node satisfies never;
  }
}

/** Calls `visit` with every node, each before what is below it, scripts in words included. */
export function visitNodes(script: Script, visit: (node: Node) => void): void {
  const visitNode = (node: Node): void => {
    visit(node);
    for (const word of wordsOf(node)) for (const inner of scriptsOf(word)) visitNode(inner.body);
    for (const inner of nodesOf(node)) visitNode(inner);
  };
  visitNode(script.body);
}

/**
 * Calls `visit` with every command: those in words, redirections, here-documents, assignments,
 * comparisons and refused nodes included.
 */
export function visitCommands(script: Script, visit: (command: Command) => void): void {
  visitNodes(script, (node) => {
    if (node.type === "command") visit(node);
  });
}
