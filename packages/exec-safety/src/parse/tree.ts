/**
 * Tree: a parsed command line in our own small types, independent of the parser that made it. Types
 * only; parse-shell.ts makes it. Whatever the tree cannot say exactly is `other` or `refused`, and
 * both are never safe.
 */

/**
 * A place in the judged text, half open, in UTF-16 units. Inside backquotes it is the place of the
 * whole backquoted part.
 */
export interface Span {
  /** Index of the first UTF-16 unit in the text. */
  readonly start: number;
  /** Index after the last one. */
  readonly end: number;
}

/**
 * A piece of a word. What is known before the command runs is `text`; everything else is put in its
 * place by the shell.
 */
export type Piece =
  /** Letters, decoded: `'a b'`, `"a"`, `\a`, `$'\x61'`, or bare. */
  | { readonly kind: "text"; readonly text: string; readonly quoted: boolean }
  /** An unquoted `*`, `?` or `[…]`, as written. */
  | { readonly kind: "glob"; readonly text: string }
  /**
   * The home directory: a bare `~` that starts a word or follows `=` or `:` of an assignment,
   * `$HOME`, `${HOME}`.
   */
  | { readonly kind: "home"; readonly quoted: boolean }
  /** A variable or parameter, with what is done to it. */
  | Variable
  /**
   * A script whose output (`command`) or whose pipe (`read`: `<(…)`, `write`: `>(…)`) stands in the
   * word.
   */
  | {
      readonly kind: "script";
      readonly form: "command" | "read" | "write";
      readonly quoted: boolean;
      readonly script: Script;
    }
  /**
   * `$((…))`; `isPlain` where it holds digits and operators only. Scripts inside it are visited
   * like any other.
   */
  | {
      readonly kind: "arithmetic";
      readonly span: Span;
      readonly isPlain: boolean;
      readonly scripts: readonly Script[];
    }
  /**
   * Anything else: an extended glob, `$"…"`, `~name`, what the parser could not read. Never safe.
   */
  | { readonly kind: "other"; readonly what: string; readonly scripts: readonly Script[] };

/** A variable or parameter in a word. */
export interface Variable {
  readonly kind: "variable";
  /** `v`, `1`, `@`, `?` … */
  readonly name: string;
  readonly quoted: boolean;
  /**
   * As written behind the name: `:-`, `##`, `^^`, `@`, `[`, `!` for indirection, `length` for
   * `${#v}`; absent for a bare `$v`.
   */
  readonly operator?: string;
  /** Words of the operator: the default, the pattern, the replacement, the index. */
  readonly operands: readonly Word[];
}

/** One word of a command, after brace expansion. */
export interface Word {
  readonly span: Span;
  /** As written. After brace expansion the same for each word it made. */
  readonly raw: string;
  readonly pieces: readonly Piece[];
  /** What the program gets, where it is known before the command runs: every piece is text. */
  readonly text?: string;
}

/** `name=value` before a command, or alone. */
export interface Assignment {
  readonly span: Span;
  readonly name: string;
  /** Absent for an array. */
  readonly value?: Word;
  /** `+=`, a subscript, or an array: never safe. */
  readonly isPlain: boolean;
  /** Words of an array and of a subscript. */
  readonly others: readonly Word[];
}

/** A redirection. */
export interface Redirect {
  readonly span: Span;
  /** `<` `>` `>>` `>|` `<>` `<&` `>&` `&>` `&>>` `<<<` `<<` `<<-` */
  readonly operator: string;
  /** The number before it, where there is one. */
  readonly descriptor?: number;
  /** `{name}>`: the shell chooses the number. */
  readonly descriptorName?: string;
  /** The file, the number, the text of `<<<`; absent for a here-document. */
  readonly target?: Word;
  /** The body of a here-document, as one word; quoted text where its delimiter is quoted. */
  readonly body?: Word;
}

/** A simple command: assignments, words, redirections. */
export interface Command {
  readonly type: "command";
  readonly span: Span;
  readonly assignments: readonly Assignment[];
  /** The program and its arguments; empty for assignments or redirections alone. */
  readonly words: readonly Word[];
  readonly redirects: readonly Redirect[];
}

/**
 * A node of the tree. Every node names everything below it, so that a walk over all of them misses
 * no command.
 */
export type Node =
  | Command
  /**
   * `a; b`, `a && b`, `a || b`, one after the other in the same shell. `operators[i]` stands behind
   * `items[i]`: `;` `&&` `||`.
   */
  | {
      readonly type: "sequence";
      readonly span: Span;
      readonly items: readonly Node[];
      readonly operators: readonly string[];
    }
  /** `a | b`; each stage runs in a shell of its own. `mergesErrors` where an operator is `|&`. */
  | {
      readonly type: "pipeline";
      readonly span: Span;
      readonly stages: readonly Node[];
      readonly mergesErrors: boolean;
    }
  /** `! a` and `time a`. */
  | {
      readonly type: "prefixed";
      readonly span: Span;
      readonly prefix: "!" | "time";
      readonly body: Node;
    }
  /** `( a )` runs in a shell of its own, and `a &` beside this one; `{ a; }` in this one. */
  | {
      readonly type: "group";
      readonly span: Span;
      readonly kind: "subshell" | "background" | "braces";
      readonly body: Node;
    }
  /** A compound command with redirections behind it. */
  | {
      readonly type: "redirected";
      readonly span: Span;
      readonly body: Node;
      readonly redirects: readonly Redirect[];
    }
  /** `if`: conditions and branches, in order. */
  | { readonly type: "if"; readonly span: Span; readonly parts: readonly Node[] }
  | {
      readonly type: "while";
      readonly span: Span;
      readonly keyword: "while" | "until";
      readonly condition: Node;
      readonly body: Node;
    }
  /** `for name in words`; `words` is absent where it loops over the arguments of the shell. */
  | {
      readonly type: "for";
      readonly span: Span;
      readonly name: string;
      readonly words?: readonly Word[];
      readonly body: Node;
    }
  | {
      readonly type: "case";
      readonly span: Span;
      readonly word: Word;
      readonly patterns: readonly Word[];
      readonly bodies: readonly Node[];
    }
  /** `[[ … ]]`: each comparison with its operator and words. */
  | { readonly type: "test"; readonly span: Span; readonly comparisons: readonly Comparison[] }
  /** What is never safe by itself, with everything below it. */
  | {
      readonly type: "refused";
      readonly span: Span;
      /** For a person: `a function definition`, `a coprocess`, `select` … */
      readonly what: string;
      readonly construct:
        | "function"
        | "coproc"
        | "select"
        | "arithmetic"
        | "arithmetic-for"
        | "other";
      /** The function's or the coprocess's name. */
      readonly name?: string;
      readonly body: readonly Node[];
      readonly words: readonly Word[];
    };

/** One comparison inside `[[ … ]]`: `-f x`, `a == b`. */
export interface Comparison {
  readonly operator: string;
  readonly words: readonly Word[];
}

/** A list of commands: the whole text, or a substitution, whose place includes its `$(` and `)`. */
export interface Script {
  readonly span: Span;
  readonly body: Node;
}
