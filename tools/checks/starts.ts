/**
 * Who may start a process: the packages that ship start programs through @acp/host alone, which
 * looks at who could have written them. Nothing else imports child_process or what starts processes
 * behind it.
 */
import { join } from "node:path";
import { gitFiles } from "../workspace.mjs";
import { importsOf, lineOf, parseFile, walk } from "./ast.js";
import type { Check } from "./check.js";
import ts from "typescript";

/** The one place. The kit of tests starts what it tests. */
const DOOR = "packages/host/src/start-program.ts";
/** Runs in a sandbox and nowhere else: whatever it starts is in there too. */
const INSIDE = "packages/cli/inside/npm-steps.cjs";
const SHIPPED =
  /^packages\/(?!testing\/)[^/]+\/(?:src|bin|inside)\/.*(?<!\.test)(?<!\.test-d)\.(?:ts|mjs|cjs|js)$/;
const STARTERS = new Set(["node:child_process", "child_process", "node:cluster", "cluster"]);

function problemsIn(root: string, file: string): readonly string[] {
  const source = parseFile(join(root, file));
  const imported = importsOf(source).filter(
    ({ specifier, isTypeOnly }) => STARTERS.has(specifier) && !isTypeOnly,
  );
  const lines = imported.map(({ specifier, line }) => `${file}:${line}: imports ${specifier}`);
  walk(source, (node) => {
    const [first] = ts.isCallExpression(node) ? node.arguments : [];
    const isRequired =
      first !== undefined && ts.isStringLiteralLike(first) && STARTERS.has(first.text);
    if (
      isRequired &&
      ts.isCallExpression(node) &&
      node.expression.kind !== ts.SyntaxKind.ImportKeyword
    )
      lines.push(`${file}:${lineOf(node)}: loads ${first.text}`);
  });
  return lines;
}

export const starts: Check = {
  name: "starts",
  remedy:
    "Find the program with trustedProgram() and start it with startProgram() or runProgram() of @acp/host; see docs/adr on trusted programs",
  run({ root }) {
    const files = gitFiles(root).filter(
      (file) => SHIPPED.test(file) && file !== DOOR && file !== INSIDE,
    );
    return { problems: files.flatMap((file) => problemsIn(root, file)) };
  },
};
