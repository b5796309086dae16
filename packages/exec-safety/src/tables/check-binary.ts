/** Check binary: what a table from outside has to hold before the engine may use it. */
import { BINARIES } from "./binaries.js";
import { grammarOf } from "./grammar.js";
import type { Binary } from "./table.js";

/** Whether the engine knows a program by itself, so that no table from outside replaces it. */
export function isBuiltIn(program: string): boolean {
  return Object.hasOwn(BINARIES, program) || program === "test";
}

/** Reads an entry of a table as the engine will: {@link TableError} says why it cannot be read. */
export function checkBinary(binary: Binary): void {
  grammarOf(binary);
}
