/**
 * Every public export is documented with all its members, its data is readonly, and every entry
 * shows its use: what the entries of a package's exports name has a TSDoc comment that says more
 * than the name, and so have the members of public interfaces, object types and classes; their
 * properties cannot be assigned; and one export of each entry has an `@example`, which the check
 * `snippets` compiles. Entries name what they export, one by one. Coverage is printed.
 */
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";
import { packages } from "../workspace.mjs";
import { lineOf } from "./ast.js";
import type { Check } from "./check.js";
import { docstringOf, hasExample, saysNothing } from "./docstring.js";
import { membersOf, writableMembers } from "./public-members.js";

/** A file that a package's exports lead to. */
interface Entry {
  readonly folder: string;
  readonly file: string;
}

/** An export or a member of one, as a reader finds it: `Policy`, or `Policy.rules`. */
interface Documentable {
  readonly name: string;
  readonly at: string;
  readonly docstring: string | undefined;
  readonly isMember: boolean;
}

/** The source files behind the exports of every package. */
function entriesOf(root: string): readonly Entry[] {
  return packages(root).flatMap(({ dir, folder, manifest }) => {
    const targets = [
      ...JSON.stringify(manifest.exports ?? {}).matchAll(/\.\/dist\/([\w/.-]+)\.js/g),
    ].map(([, name]) => String(name));
    return [...new Set(targets)]
      .map((name) => ({ folder, file: join(dir, "src", `${name}.ts`) }))
      .filter(({ file }) => existsSync(file));
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

const placeOf = (root: string, node: ts.Node): string =>
  `${relative(root, node.getSourceFile().fileName)}:${lineOf(node)}`;

/** What an entry exports, each as it was first declared. */
function exportsOf(program: ts.Program, file: string): readonly ts.Symbol[] {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
  return (module === undefined ? [] : checker.getExportsOfModule(module)).map((symbol) =>
    (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol),
  );
}

/** A name that is exported, and its members. */
function documentables(root: string, symbol: ts.Symbol): readonly Documentable[] {
  const declarations = (symbol.declarations ?? []).filter((node) => !ts.isSourceFile(node));
  const [first] = declarations;
  if (first === undefined) return [];
  const docstring = declarations.map(docstringOf).find((text) => text !== undefined);
  const own = { name: symbol.name, at: placeOf(root, first), docstring, isMember: false };
  const members = declarations.flatMap(membersOf).map((member) => ({
    name: `${symbol.name}.${member.name?.getText() ?? ""}`,
    at: placeOf(root, member),
    docstring: docstringOf(member),
    isMember: true,
  }));
  return [own, ...members];
}

function docProblem({ name, at, docstring }: Documentable): readonly string[] {
  if (docstring === undefined) return [`${at}: "${name}" is exported without a comment`];
  return saysNothing(docstring, [name])
    ? [`${at}: the comment of "${name}" says no more than its name: "${docstring}"`]
    : [];
}

const readonlyProblems = (root: string, symbol: ts.Symbol): readonly string[] =>
  (symbol.declarations?.slice(0, 1) ?? [])
    .flatMap(writableMembers)
    .map(
      (member) =>
        `${placeOf(root, member)}: "${symbol.name}.${member.name.getText()}" is not readonly`,
    );

/** `export *` lines, which hide what is public. */
function starProblems(root: string, source: ts.SourceFile | undefined): readonly string[] {
  const stars =
    source?.statements.filter(
      (statement) => ts.isExportDeclaration(statement) && statement.exportClause === undefined,
    ) ?? [];
  return stars.map((star) => `${placeOf(root, star)}: exports *, which hides what is public`);
}

/** An entry that exports something that runs, and shows nowhere how. */
function exampleProblems(root: string, file: string, symbols: readonly ts.Symbol[]): string[] {
  const isCallable = (symbol: ts.Symbol): boolean =>
    (symbol.flags & (ts.SymbolFlags.Function | ts.SymbolFlags.Class)) !== 0;
  const hasOne = symbols.some((symbol) => symbol.declarations?.some(hasExample) === true);
  return symbols.some(isCallable) && !hasOne
    ? [`${relative(root, file)}: no export of this entry has an @example`]
    : [];
}

const percent = (part: number, whole: number): string =>
  `${part} of ${whole} (${Math.floor((100 * part) / Math.max(whole, 1))} %)`;

/** What a package is missing, and how much is there. */
interface Coverage {
  readonly problems: readonly string[];
  readonly note: string;
}

function coverageOf(root: string, program: ts.Program, entries: readonly Entry[]): Coverage {
  const folder = entries[0]?.folder ?? "";
  const perEntry = entries.map(({ file }) => ({ file, symbols: exportsOf(program, file) }));
  const symbols = [...new Set(perEntry.flatMap((entry) => entry.symbols))];
  const all = symbols.flatMap((symbol) => documentables(root, symbol));
  const good = all.filter((each) => docProblem(each).length === 0);
  const examples = perEntry.flatMap((entry) => exampleProblems(root, entry.file, entry.symbols));
  const count = (isMember: boolean): string =>
    percent(
      good.filter((each) => each.isMember === isMember).length,
      all.filter((each) => each.isMember === isMember).length,
    );
  return {
    problems: [
      ...perEntry.flatMap(({ file }) => starProblems(root, program.getSourceFile(file))),
      ...all.flatMap(docProblem),
      ...symbols.flatMap((symbol) => readonlyProblems(root, symbol)),
      ...examples,
    ],
    note:
      `${folder}: documented: exports ${count(false)}, members ${count(true)}; ` +
      `entries with an example: ${percent(entries.length - examples.length, entries.length)}`,
  };
}

export const publicDocs: Check = {
  name: "public docs",
  remedy:
    "Say in TSDoc what the name alone does not (what, units, errors thrown, source); add `readonly`; name each export; show its use in an @example",
  run({ root }) {
    const entries = entriesOf(root);
    const program = programOf(
      root,
      entries.map(({ file }) => file),
    );
    const folders = [...new Set(entries.map(({ folder }) => folder))];
    const found = folders.map((folder) =>
      coverageOf(
        root,
        program,
        entries.filter((entry) => entry.folder === folder),
      ),
    );
    return {
      problems: found.flatMap(({ problems }) => problems),
      notes: found.map(({ note }) => note),
    };
  },
};
