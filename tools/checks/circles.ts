/**
 * No files import each other in a circle, type imports included: what is in a circle can only be
 * read, moved and tested as one.
 */
import { dirname, join, normalize } from "node:path";
import { gitFiles } from "../workspace.mjs";
import { importsOf, parseFile } from "./ast.js";
import type { Check } from "./check.js";

/** What each file imports. */
export type Graph = ReadonlyMap<string, readonly string[]>;

/** Which source files a source file imports; only those of the list. */
function graphOf(root: string): Graph {
  const files = gitFiles(root).filter((file) =>
    /^(?:packages\/[^/]+\/(?:src|test)|tools|examples\/[^/]+)\/.*\.ts$/.test(file),
  );
  const known = new Set(files);
  const targetsOf = (file: string): readonly string[] =>
    importsOf(parseFile(join(root, file)))
      .filter(({ specifier }) => specifier.startsWith("."))
      .map(({ specifier }) => normalize(join(dirname(file), specifier)).replace(/\.js$/, ".ts"))
      .filter((target) => known.has(target));
  return new Map(files.map((file) => [file, targetsOf(file)]));
}

/** Everything that can be reached from a file. */
function reachedFrom(graph: Graph, start: string): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [...(graph.get(start) ?? [])];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    open.push(...(graph.get(file) ?? []));
  }
  return reached;
}

/** Files that reach each other, each group once. */
export function circlesOf(graph: Graph): readonly (readonly string[])[] {
  const reach = new Map([...graph.keys()].map((file) => [file, reachedFrom(graph, file)]));
  const circles = new Map<string, readonly string[]>();
  for (const [file, reached] of reach) {
    if (!reached.has(file)) continue;
    const circle = [...reached].filter((other) => reach.get(other)?.has(file) === true).sort();
    circles.set(circle[0] ?? file, circle);
  }
  return [...circles.values()];
}

export const circles: Check = {
  name: "circles",
  remedy:
    "Move what both sides need into a file below them: usually the type that one of them only hands on",
  run({ root }) {
    return {
      problems: circlesOf(graphOf(root)).map(
        (circle) => `${circle[0]}: in a circle of ${circle.length}: ${circle.join(", ")}`,
      ),
    };
  },
};
