/**
 * Argument: one argument of a program, as the tables of programs see it. resolve-arguments.ts makes
 * it.
 */
import type { Edit } from "../findings.js";
import type { Span } from "../parse/tree.js";

/** One value that an argument can have. */
export interface ArgumentValue {
  readonly text: string;
  /** Whether the shell puts names of files that exist in its place. */
  readonly isGlob: boolean;
  /** Whether what it stands for was chosen so that no secret is among it. */
  readonly isSifted?: true;
  /** What would make it so, put where the names come from. */
  readonly sift?: readonly Edit[];
  /**
   * What ends it in the list that it comes from: NUL, a line in which no name has a line break, or
   * a line; `word`: it holds no blank. Absent for names that the shell itself finds.
   */
  readonly ends?: "nul" | "quoted" | "line" | "word";
  /** Edits that make its list end each name with NUL. */
  readonly toNul?: readonly Edit[];
  /** It is a part of a name that was torn (torn-names.ts): any text at all. */
  readonly isTorn?: true;
  /** Torn, and never the only word that a program gets: another one names a file for sure. */
  readonly hasCompany?: true;
  /** What would keep the name whole. */
  readonly whole?: readonly Edit[];
}

/** An argument, as far as it is known before the command runs. */
export interface Argument {
  readonly span: Span;
  /** As written. */
  readonly raw: string;
  /** Everything it can be; several for a loop's variable. Absent where it is not known. */
  readonly values?: readonly ArgumentValue[];
  /**
   * Letters that it is known to start with, also where the rest is not known: `--format=` of
   * `--format="$x"`.
   */
  readonly leading: string;
  /** Whether it stays one argument whatever it holds; a glob may still stand for several. */
  readonly isOne: boolean;
  /**
   * Whether it is exactly one argument even where a value is a glob: a name that a glob has found
   * before, in quotes.
   */
  readonly isQuoted?: true;
}

/** A program and its arguments. */
export interface ProgramCall {
  readonly span: Span;
  readonly program: string;
  readonly args: readonly Argument[];
  /** What stands in the command for its input, as a here-document, where that is known. */
  readonly input?: string;
}

/** What an argument is for sure: one text, and no glob. */
export function textOf(argument: Argument | undefined): string | undefined {
  const [value, ...others] = argument?.values ?? [];
  return value === undefined || others.length > 0 || value.isGlob ? undefined : value.text;
}

/**
 * What variables hold that the command itself has set: `undefined` where it is not known. A name
 * that is not in the map comes from outside. `PWD` is in it while the current directory is known.
 */
export type Variables = ReadonlyMap<string, readonly ArgumentValue[] | undefined>;
