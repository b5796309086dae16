/** Check binary: what a table from outside has to hold before the engine may use it. */
import { BINARIES } from "./binaries.js";
import { grammarOf } from "./grammar.js";
import type { Binary } from "./table.js";

/** Whether the engine knows a program by itself; then a table from outside cannot replace it. */
export function isBuiltIn(program: string): boolean {
  return Object.hasOwn(BINARIES, program) || program === "test";
}

/**
 * Checks an entry of a table of programs.
 *
 * @throws TableError that says why it cannot be read.
 */
export function checkBinary(binary: Binary): void {
  grammarOf(binary);
}
