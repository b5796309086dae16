/** Flag: an entry of a table as scanning reads it. Types only; grammar.ts makes them. */
import type { Kind } from "./kinds.js";
import type { Binary, Why } from "./table.js";

/** One flag under all its names. */
export interface Flag {
  readonly value: "none" | "needed" | "attached";
  /** Of its value; several where it takes several arguments. */
  readonly kinds: readonly [Kind, ...Kind[]];
  /** Why a person has to see it; absent for one without harm. */
  readonly why?: Why;
}

/** Operands in order; `rest` is what all further ones are. */
export interface Operands {
  readonly first: readonly Kind[];
  readonly rest?: Kind;
  readonly min: number;
}

/** An entry that is ready for scanning. */
export interface Grammar {
  readonly binary: Binary;
  readonly flags: ReadonlyMap<string, Flag>;
  /** `-20` is a flag. */
  readonly takesNumbers: boolean;
  readonly operands: Operands;
  readonly operandsWith: ReadonlyMap<Flag, Operands>;
  readonly requires: ReadonlySet<Flag>;
  readonly alone: ReadonlySet<string>;
  readonly review?: Why;
  readonly excess?: Why;
  readonly otherwise?: Why;
  /** Names of files that would be flags to be seen. */
  readonly names: FlagNames;
}

/** The names that set a harmful flag, as globs. */
export interface FlagNames {
  /** Of flags that run, write, change or show secrets. */
  readonly harmful: readonly string[];
  /**
   * Of flags that read a file of their own and may show it: `--file=.env`, or `--file=/etc/passwd`,
   * which is a path of three parts.
   */
  readonly reading: readonly string[];
  /** The same of flags that are refused where a file is named as well. */
  readonly readingAlone: readonly string[];
}
