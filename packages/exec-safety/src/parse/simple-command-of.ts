/**
 * Examples of an allowlist's entry: a line of text as the one simple command that it is, if it is
 * one.
 */
import { SAFETY_LIMITS } from "../config/limits.js";
import { parseShell } from "./parse-shell.js";
import { checkText } from "./text-gate.js";
import type { Node } from "./tree.js";

/**
 * The program and the arguments of a line that is one simple command whose words are known before
 * it runs; `undefined` for any other line.
 */
export function simpleCommandOf(line: string): readonly string[] | undefined {
  if (checkText(line, SAFETY_LIMITS) !== undefined) return undefined;
  const parsed = parseShell(line, SAFETY_LIMITS);
  return "script" in parsed ? argvOf(parsed.script.body) : undefined;
}

function argvOf(node: Node): readonly string[] | undefined {
  if (node.type === "sequence") {
    const [only, ...more] = node.items;
    return only === undefined || more.length > 0 ? undefined : argvOf(only);
  }
  if (node.type !== "command" || node.assignments.length > 0 || node.redirects.length > 0)
    return undefined;
  const argv = node.words.map(({ text }) => text).filter((text) => text !== undefined);
  return argv.length === 0 || argv.length < node.words.length ? undefined : argv;
}
