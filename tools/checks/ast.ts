/** Reading TypeScript sources: parse a file, list what it imports. */
import { readFileSync } from "node:fs";
import ts from "typescript";

/** One import or re-export of a file. */
export interface ImportLine {
  readonly specifier: string;
  readonly line: number;
  /** Erased by the compiler, so it loads nothing at run time. */
  readonly isTypeOnly: boolean;
}

/** Parses one file, without types. */
export function parseFile(path: string): ts.SourceFile {
  return ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true);
}

/** Line of a node, from 1. */
export function lineOf(node: ts.Node): number {
  const file = node.getSourceFile();
  return file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
}

/** Calls `visit` for the node and everything below it. */
export function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}

/** Everything a file imports: static, re-exported, dynamic and `import("…")` types. */
export function importsOf(file: ts.SourceFile): readonly ImportLine[] {
  const found: ImportLine[] = [];
  const add = (node: ts.Node | undefined, isTypeOnly: boolean): void => {
    if (node !== undefined && ts.isStringLiteralLike(node))
      found.push({ specifier: node.text, line: lineOf(node), isTypeOnly });
  };
  walk(file, (node) => {
    if (ts.isImportDeclaration(node))
      add(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword);
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly);
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
      add(node.argument.literal, true);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], false);
  });
  return found;
}
