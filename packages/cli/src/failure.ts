/**
 * Failures: what went wrong as one line with its place, its fix and its code, or as JSON.
 */
import { ConsentError, escapeText, isConsentError } from "@acp/core";
import type { ConsentErrorCode, ConsentErrorOptions } from "@acp/core";
import { exitOf } from "./exit-codes.js";
import type { Exit } from "./exit-codes.js";

/** What went wrong. Plain JSON data. */
export interface Failure {
  readonly code: ConsentErrorCode | "internal_error";
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
  readonly path?: string;
  readonly suggestion?: string;
  /** Each mistake of a file that has several, in the order of the file. */
  readonly mistakes?: readonly Failure[];
}

/** The mistakes of a file, where an error stands for several. */
function mistakesOf({ cause }: Error): readonly ConsentError[] {
  const all: readonly unknown[] = cause instanceof AggregateError ? cause.errors : [];
  return all.filter((each) => isConsentError(each));
}

/**
 * The same error, beginning with the place in the file, `file:line:column`, unless it names the
 * file already. So do the mistakes that it stands for.
 */
export function placeError(error: ConsentError, file: string): ConsentError {
  if (error.message.includes(file)) return error;
  const { position, path, suggestion } = error;
  const mistakes = mistakesOf(error).map((each) => placeError(each, file));
  const options: ConsentErrorOptions = {
    cause: mistakes.length === 0 ? error : new AggregateError(mistakes, error.message),
    ...(position !== undefined && { position }),
    ...(path !== undefined && { path }),
    ...(suggestion !== undefined && { suggestion }),
  };
  if (position === undefined)
    return new ConsentError(error.code, `${file}: ${error.message}`, options);
  // The place at the front says it once.
  const message = error.message.replace(` at line ${position.line}, column ${position.column}`, "");
  return new ConsentError(
    error.code,
    `${file}:${position.line}:${position.column}: ${message}`,
    options,
  );
}

/**
 * Runs `work` on a file.
 *
 * @throws ConsentError what `work` throws, with its place.
 */
export async function onFile<T>(file: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isConsentError(error) ? placeError(error, file) : error;
  }
}

/**
 * What an error means to a person or a program. A text that several lines would take becomes one.
 */
export function failureOf(error: unknown): Failure {
  if (!isConsentError(error))
    return {
      code: "internal_error",
      message: oneLine(error instanceof Error ? error.message : String(error)),
    };
  const mistakes = mistakesOf(error).map(failureOf);
  return {
    code: error.code,
    message: oneLine(error.message),
    ...(error.position !== undefined && {
      line: error.position.line,
      column: error.position.column,
    }),
    ...(error.path !== undefined && { path: error.path }),
    ...(error.suggestion !== undefined && { suggestion: error.suggestion }),
    ...(mistakes.length > 0 && { mistakes }),
  };
}

/** The exit that an error leads to. */
export function exitOfError(error: unknown): Exit {
  return isConsentError(error) ? exitOf(error.code) : "failed";
}

/** One line for a terminal. */
export function renderFailure({ code, message, suggestion }: Failure): string {
  const hint =
    suggestion === undefined || message.includes("did you mean")
      ? ""
      : `; did you mean "${suggestion}"?`;
  return `acp: ${message}${hint} [${code}]`;
}

function oneLine(text: string): string {
  return escapeText(text.replace(/[\s\p{Cc}]+/gu, " ").trim());
}
