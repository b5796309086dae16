/**
 * An allowlist of patterns that are a program with `**` behind it, or a whole command. How others
 * are read is tested beside their compiler.
 */
import type { Allowlist } from "../src/index.js";

export function allowlistOf(...patterns: readonly string[]): Allowlist {
  const takes = (pattern: string, argv: readonly string[]): boolean =>
    pattern.endsWith(" **") ? pattern === `${argv[0] ?? ""} **` : pattern === argv.join(" ");
  return {
    entries: patterns.map((pattern) => ({ pattern })),
    find: (argv) => patterns.find((pattern) => takes(pattern, argv)),
  };
}
