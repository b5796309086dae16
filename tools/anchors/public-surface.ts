/** What a project's packages export, with its members, and whether each has a docstring. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { docstringOf, saysNothing } from "../checks/docstring.js";
import { membersOf } from "../checks/public-members.js";
import { sourcesOf } from "./project.js";
import type { Package, Project } from "./project.js";

/** An export, or a member of one. */
export interface Surface {
  readonly isMember: boolean;
  /** Whether its docstring says more than its name. */
  readonly isDocumented: boolean;
}

/**
 * The source behind a built file: `dist/types/jwt/sign.js` is `src/jwt/sign.ts`, whatever folders
 * the build puts between.
 */
function sourceOf(dir: string, target: string): string | undefined {
  const segments = target
    .replace(/^(?:\.\/)?dist\//, "")
    .replace(/\.[cm]?js$/, "")
    .split("/");
  const paths = segments.flatMap((_, index) => {
    const path = segments.slice(index).join("/");
    return ["src", "lib"].flatMap((folder) => [`${folder}/${path}.ts`, `${folder}/${path}.tsx`]);
  });
  return paths.map((path) => join(dir, path)).find((path) => existsSync(path));
}

/** The sources behind everything that a manifest's exports, or its main, lead to. */
function entriesOf({ dir, manifest }: Package, sources: readonly string[]): readonly string[] {
  const named = JSON.stringify(manifest.exports ?? [manifest["main"] ?? "./dist/index.js"]);
  const targets = [...named.matchAll(/"([^"]*\.[cm]?js)"/g)].map(([, target = ""]) => target);
  return targets.flatMap((target) => {
    if (!target.includes("*")) return sourceOf(dir, target) ?? [];
    const [before = ""] = target.replace(/^(?:\.\/)?dist\//, "").split("*");
    return sources.filter((file) => file.startsWith(join(dir, "src", before)));
  });
}

function surfaceOf(symbol: ts.Symbol): readonly Surface[] {
  const declarations = (symbol.declarations ?? []).filter((node) => !ts.isSourceFile(node));
  if (declarations.length === 0) return [];
  const isDocumented = (nodes: readonly ts.Node[], name: string): boolean =>
    nodes.map(docstringOf).some((text) => text !== undefined && !saysNothing(text, [name]));
  return [
    { isMember: false, isDocumented: isDocumented(declarations, symbol.name) },
    ...declarations.flatMap(membersOf).map((member) => ({
      isMember: true,
      isDocumented: isDocumented([member], `${symbol.name}.${member.name?.getText() ?? ""}`),
    })),
  ];
}

/** Everything that programs can import, each once. */
export function publicSurface(project: Project): readonly Surface[] {
  const sources = sourcesOf(project);
  const entries = project.packages.flatMap((each) => entriesOf(each, sources));
  const program = ts.createProgram([...new Set(entries)], {
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    allowImportingTsExtensions: true,
    jsx: ts.JsxEmit.Preserve,
    noLib: true,
    noEmit: true,
    types: [],
  });
  const checker = program.getTypeChecker();
  const symbols = entries.flatMap((file) => {
    const source = program.getSourceFile(file);
    const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
    return module === undefined ? [] : checker.getExportsOfModule(module);
  });
  const originals = symbols.map((symbol) =>
    (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol),
  );
  return [...new Set(originals)].flatMap(surfaceOf);
}
