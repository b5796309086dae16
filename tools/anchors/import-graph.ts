/** Which files of a list import which, type imports included. */
import { dirname, join } from "node:path";
import { importsOf, parseFile } from "../checks/ast.js";

const ENDINGS = [".ts", ".tsx", "/index.ts", "/index.tsx"];

/** The graph of the files' relative imports, however their endings are written. */
export function importGraph(files: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const known = new Set(files);
  const targetOf = (file: string, specifier: string): readonly string[] => {
    const path = join(dirname(file), specifier);
    const bare = path.replace(/\.[cm]?[jt]sx?$/, "");
    const tried = [path, ...[path, bare].flatMap((each) => ENDINGS.map((ending) => each + ending))];
    return tried.filter((each) => known.has(each)).slice(0, 1);
  };
  return new Map(
    files.map((file) => [
      file,
      importsOf(parseFile(file))
        .filter(({ specifier }) => specifier.startsWith("."))
        .flatMap(({ specifier }) => targetOf(file, specifier)),
    ]),
  );
}
