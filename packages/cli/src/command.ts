/**
 * Command: what one row of the table of commands holds, and what a command gets when it runs. Types
 * only.
 */
import type { Readable, Writable } from "node:stream";
import type { Exit } from "./exit-codes.js";
import type { OptionName } from "./options.js";
import type { Printer } from "./printer.js";

/** Standard input, a terminal's or not. */
export type InputStream = Readable & Pick<NodeJS.ReadStream, "isTTY">;
/** Standard output or error, a terminal's or not. */
export type OutputStream = Writable & Pick<NodeJS.WriteStream, "isTTY">;

/** The parts of its process that a command uses. */
export interface Io {
  /** Standard input. */
  readonly stdin: InputStream;
  /** Standard output, for results. */
  readonly stdout: OutputStream;
  /** Standard error, for everything else. */
  readonly stderr: OutputStream;
  /** Environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The working directory, as an absolute path. */
  readonly cwd: string;
  /** The user's own home directory. */
  readonly userHome: string;
  /** ID of this process. */
  readonly pid: number;
  /** ID of the process that started this one. */
  readonly ppid: number;
  /** The umask of what this process starts; left out: its own. */
  readonly umask?: number;
  /**
   * From now on, SIGINT, SIGTERM and SIGHUP abort the signal that it returns instead of ending the
   * process.
   */
  onStop(): AbortSignal;
  /** From now on, these signals are passed to `take` instead of having their default effect. */
  onSignals(names: readonly NodeJS.Signals[], take: (name: NodeJS.Signals) => void): void;
}

/** A command line, read. */
export interface CommandLine {
  /** Values of options that take one. */
  readonly values: Readonly<Partial<Record<OptionName, string>>>;
  readonly flags: ReadonlySet<OptionName>;
  readonly operands: readonly string[];
  /** Words after `--`, untouched. */
  readonly rest: readonly string[];
}

/** What a command gets when it runs. */
export interface Invocation extends CommandLine {
  readonly io: Io;
  readonly print: Printer;
}

/** How a command ends: as one of ours, or with the code of a program that it ran. */
export type Outcome = Exit | { readonly exitCode: number };

/** A command's work. */
export type Run = (invocation: Invocation) => Promise<Outcome>;

/** One row of the table of commands. */
export interface Command {
  /** One or two words. */
  readonly name: string;
  readonly summary: string;
  /** Operands as shown in help. */
  readonly usage: string;
  readonly operandsMax: number;
  /** Whether words may follow `--`. */
  readonly takesRest: boolean;
  readonly options: readonly OptionName[];
  /** Sentences for `--help`. */
  readonly details: readonly string[];
  readonly examples: readonly string[];
  /** Exits besides `ok`, `failed` and `usage`; where there is a `failure`, besides that. */
  readonly exits: readonly Exit[];
  /**
   * The one exit of whatever goes wrong, for a command whose other exit codes are those of a
   * program that it runs.
   */
  readonly failure?: Exit;
  /** Loaded when it runs, so that no command pays for another. */
  readonly load: () => Promise<Run>;
}
