/**
 * Table: what a program may do without a question, as data. README.md beside it says how to add a
 * program in minutes. Everything that an entry does not name is reviewed: a flag, a subcommand, one
 * operand too many.
 */

/** What one program, or one of its subcommands, does without harm. */
export interface Binary {
  /**
   * Flags without harm: `-l`, `-n:number` (a value, attached or as the next argument),
   * `--color?:text` (a value only if attached), `-n,--lines:number` (two names of one flag),
   * `--arg:text:text` (two values), `--paging=never` (this value only), `-#` (a number: `-20`).
   * What a value can be is in kinds.ts.
   */
  readonly flags?: string;
  /**
   * Flags that a person has to see, by name, each with why: `"-o,--output": "write: puts its result
   * into the file it names"`. The word before the colon is the {@link Topic}. A name may have a
   * value as in `flags`.
   */
  readonly reviewFlags?: Readonly<Record<string, string>>;
  /**
   * Its operands in order, `pattern path*`: `?` at most one, `*` any number, `+` at least one.
   * Absent: none.
   */
  readonly operands?: string;
  /** Other operands where one of these flags is given: `{ "-e,--regexp": "path*" }`. */
  readonly operandsWith?: Readonly<Record<string, string>>;
  /** Why one operand too many is reviewed: `"write: writes to its second file"`. */
  readonly excess?: string;
  /** One of these flags has to be there, or `otherwise` is why it is reviewed. */
  readonly requires?: string;
  /** Why a call without such a flag is reviewed: `"run: starts an interactive session"`. */
  readonly otherwise?: string;
  /**
   * Arguments with which, each alone, it only shows something: `-V`. For the programs of
   * shows-version.ts, `--version` and `--help` are such.
   */
  readonly alone?: string;
  /** It is always reviewed, and why: `"change: makes directories"`. */
  readonly review?: string;
  /** How its flags are written; without it, as GNU programs have them. */
  readonly style?: Style;
  /**
   * Subcommands. The first operand is their name; an entry without `operands` is nothing without
   * one of them.
   */
  readonly subcommands?: BinaryTable;
  /**
   * An argument `@x` stands for more arguments, which it reads from the file `x`; so does the name
   * of a file that a glob finds.
   */
  readonly readsArgumentFiles?: boolean;
  /**
   * It runs what the project's own configuration names (hooks, helpers): nothing of it is safe in a
   * workspace that is not trusted.
   */
  readonly obeysWorkspace?: boolean;
  /** Without this flag it asks the network about itself: whether there is a newer version. */
  readonly silentWith?: string;
  /**
   * It takes commands from a terminal or from its input, which run programs: safe only where
   * nothing can follow there.
   */
  readonly takesCommands?: boolean;
  /**
   * Without this flag it shows long output in a pager at a terminal, where somebody may type
   * commands.
   */
  readonly pagesUnless?: string;
  /**
   * Command lines that are safe, and command lines that are reviewed because of this entry. Checked
   * by a test.
   */
  readonly examples: { readonly safe: readonly string[]; readonly review: readonly string[] };
}

/**
 * Why a question of a program that could not be run among traps yet is reviewed, though it is said
 * to only read.
 */
export const UNPROVEN =
  "unknown: has not been run among traps yet, which is how a program is shown to only read";

/** An entry that is always reviewed: why, and command lines that are. */
export function reviewed(review: string, ...examples: readonly string[]): Binary {
  return { review, examples: { safe: [], review: examples } };
}

/** Programs, or subcommands, by name. */
export interface BinaryTable {
  readonly [program: string]: Binary;
}

/** Every topic of a reason. */
export const TOPICS = [
  "exec",
  "write",
  "read",
  "secret",
  "change",
  "network",
  "endless",
  "unknown",
] as const;

/**
 * Why something is reviewed. `change`, `network`, `endless` and `unknown` may be lifted by an
 * allowlist entry; `exec`, `write`, `read` and `secret` never.
 */
export type Topic = (typeof TOPICS)[number];

/** Every way to read flags. */
export const STYLES = ["first", "words", "apart", "bare", "text"] as const;

/**
 * `first`: flags end at the first operand. `words`: flags are whole words and may lack the dash
 * (`find . -name x`, `java -version`). `apart`: values are never attached to a short flag (`tree
 * -aL 2`). `bare`: the first operand may be a cluster of flags without the dash (`ps aux`, `tar tf
 * x`). `text`: there are no flags.
 */
export type Style = (typeof STYLES)[number];

/** Why something is reviewed, in the words that follow the name of what is. */
export interface Why {
  readonly topic: Topic;
  readonly text: string;
}
