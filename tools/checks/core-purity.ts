/**
 * Core, the shell engine below it and the rules suggested beside it are pure: no clock, randomness,
 * timers, console, process, network or Node module outside the two files that inject them.
 */
import { join } from "node:path";
import ts from "typescript";
import { gitFiles } from "../workspace.mjs";
import { importsOf, lineOf, parseFile, walk } from "./ast.js";
import type { Check } from "./check.js";

/** The files that may touch the outside: time and randomness are injected from here. */
const DOORS = [
  "packages/core/src/system.ts",
  "packages/core/src/crypto/node.ts",
  "packages/core/src/crypto/portable.ts",
];

const FORBIDDEN = new Set(
  [
    "process console performance globalThis global Buffer require crypto eval Function",
    "setTimeout setInterval setImmediate clearTimeout clearInterval clearImmediate",
    "fetch WebSocket EventSource BroadcastChannel MessageChannel Worker navigator",
  ].flatMap((line) => line.split(" ")),
);

const FORBIDDEN_MEMBERS = new Set([
  "Date.now",
  "Math.random",
  "AbortSignal.timeout",
  "Atomics.wait",
]);

/** A name that is read as a value: not a member name, a property key, a declared name or a type. */
function isFreeName(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent) || ts.isQualifiedName(parent))
    return "expression" in parent && parent.expression === node;
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node;
  if (ts.isShorthandPropertyAssignment(parent)) return true;
  if (ts.isTypeNode(parent) || ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent))
    return false;
  return !("name" in parent && parent.name === node);
}

/** Names that the file binds itself: a parameter called `fetch` is an argument, not the network. */
function namesBoundIn(source: ts.SourceFile): ReadonlySet<string> {
  const names = new Set<string>();
  walk(source, (node) => {
    const binds =
      ts.isParameter(node) ||
      ts.isVariableDeclaration(node) ||
      ts.isBindingElement(node) ||
      ts.isFunctionDeclaration(node);
    if (binds && node.name !== undefined && ts.isIdentifier(node.name)) names.add(node.name.text);
  });
  return names;
}

/** What a node reaches for, or undefined. */
function reach(node: ts.Node, bound: ReadonlySet<string>): string | undefined {
  if (
    ts.isIdentifier(node) &&
    FORBIDDEN.has(node.text) &&
    !bound.has(node.text) &&
    isFreeName(node)
  )
    return node.text;
  if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression)) {
    const member = `${node.expression.text}.${node.name.text}`;
    return FORBIDDEN_MEMBERS.has(member) ? member : undefined;
  }
  const isDate =
    (ts.isNewExpression(node) || ts.isCallExpression(node)) &&
    ts.isIdentifier(node.expression) &&
    node.expression.text === "Date";
  if (isDate && (ts.isCallExpression(node) || (node.arguments ?? []).length === 0))
    return "the current Date";
  return undefined;
}

function problemsIn(root: string, file: string): string[] {
  const source = parseFile(join(root, file));
  const problems = importsOf(source)
    .filter(({ specifier }) => specifier.startsWith("node:") || specifier === "process")
    .map(({ specifier, line }) => `${file}:${line}: imports ${specifier}`);
  const bound = namesBoundIn(source);
  walk(source, (node) => {
    const what = reach(node, bound);
    if (what !== undefined) problems.push(`${file}:${lineOf(node)}: uses ${what}`);
  });
  return problems;
}

export const corePurity: Check = {
  name: "core purity",
  remedy:
    "Take time, ids and randomness as arguments (Clock, Ids); what waits on the outside belongs in an adapter",
  run({ root }) {
    const files = gitFiles(root).filter(
      (file) =>
        /^packages\/(?:core|exec-safety|suggest)\/src\/.*(?<!\.test)(?<!\.test-d)\.ts$/.test(
          file,
        ) && !DOORS.includes(file),
    );
    return { problems: files.flatMap((file) => problemsIn(root, file)) };
  },
};
