/**
 * Every public export is documented and its data is readonly: what the entries of a package's
 * exports name has a TSDoc comment, and the properties of public interfaces and object types cannot
 * be assigned. Entries name what they export, one by one.
 */
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";
import { packages } from "../workspace.mjs";
import { lineOf, walk } from "./ast.js";
import type { Check } from "./check.js";

/** The source files behind the exports of every package. */
function entryFiles(root: string): readonly string[] {
  return packages(root).flatMap(({ dir, manifest }) => {
    const targets = [
      ...JSON.stringify(manifest.exports ?? {}).matchAll(/\.\/dist\/([\w/.-]+)\.js/g),
    ].map(([, name]) => String(name));
    return [...new Set(targets)]
      .map((name) => join(dir, "src", `${name}.ts`))
      .filter((file) => existsSync(file));
  });
}

/** A program over the entries; without libraries, since only our own symbols are looked at. */
function programOf(root: string, files: readonly string[]): ts.Program {
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    noLib: true,
    types: [],
    paths: { "@acp/*": [`${root}/packages/*/src/index.ts`] },
  };
  return ts.createProgram(files, options);
}

function isDocumented(node: ts.Node): boolean {
  const owner = ts.isVariableDeclaration(node) ? node.parent.parent : node;
  return ts
    .getJSDocCommentsAndTags(owner)
    .some((doc) => ts.isJSDoc(doc) && (doc.comment !== undefined || doc.tags !== undefined));
}

/** Properties that could be assigned. */
function writableMembers(declaration: ts.Node): readonly ts.PropertySignature[] {
  if (!ts.isInterfaceDeclaration(declaration) && !ts.isTypeAliasDeclaration(declaration)) return [];
  const found: ts.PropertySignature[] = [];
  walk(declaration, (node) => {
    const isReadonly =
      ts.isPropertySignature(node) &&
      node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ReadonlyKeyword) === true;
    if (ts.isPropertySignature(node) && !isReadonly) found.push(node);
  });
  return found;
}

function problemsAt(root: string, symbol: ts.Symbol): string[] {
  const [declaration] = symbol.declarations ?? [];
  if (declaration === undefined || ts.isSourceFile(declaration)) return [];
  const at = (node: ts.Node): string =>
    `${relative(root, node.getSourceFile().fileName)}:${lineOf(node)}`;
  const undocumented = (symbol.declarations ?? []).some(isDocumented)
    ? []
    : [`${at(declaration)}: "${symbol.name}" is exported without a comment`];
  const writable = writableMembers(declaration).map(
    (member) => `${at(member)}: "${symbol.name}.${member.name.getText()}" is not readonly`,
  );
  return [...undocumented, ...writable];
}

/** `export *` lines, which hide what is public. */
function starProblems(root: string, source: ts.SourceFile | undefined): string[] {
  const stars =
    source?.statements.filter(
      (statement) => ts.isExportDeclaration(statement) && statement.exportClause === undefined,
    ) ?? [];
  return stars.map(
    (star) =>
      `${relative(root, star.getSourceFile().fileName)}:${lineOf(star)}: exports *, which hides what is public`,
  );
}

export const publicDocs: Check = {
  name: "public docs",
  remedy: "Say in one TSDoc sentence what the export is or does; add `readonly`; name each export",
  run({ root }) {
    const files = entryFiles(root);
    const program = programOf(root, files);
    const checker = program.getTypeChecker();
    const symbols = files.flatMap((file) => {
      const source = program.getSourceFile(file);
      const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
      return module === undefined ? [] : checker.getExportsOfModule(module);
    });
    const originals = symbols.map((symbol) =>
      (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol),
    );
    const stars = files.flatMap((file) => starProblems(root, program.getSourceFile(file)));
    return {
      problems: [
        ...stars,
        ...[...new Set(originals)].flatMap((symbol) => problemsAt(root, symbol)),
      ],
    };
  },
};
