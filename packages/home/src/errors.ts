/** Errors of the home: one line, with the fix. */
import { ConsentError, quoteText } from "@acp/core";

/** Makes `home_invalid`, one line with the fix: `Cannot <what> "<path>": <why>`. */
export function cannot(what: string, path: string): (why: string, cause?: unknown) => ConsentError {
  return (why, cause) =>
    new ConsentError("home_invalid", `Cannot ${what} ${quoteText(path)}: ${why}`, { cause });
}

/** Whether the error is the system's, of one of the codes where codes are given. */
export function hasErrno(error: unknown, ...codes: readonly string[]): boolean {
  if (!(error instanceof Error) || !("syscall" in error) || !("code" in error)) return false;
  return codes.length === 0 || codes.includes(String(error.code));
}

/** What an error says, on one line and without the file's path: `EACCES: permission denied`. */
export function causeText(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  return (hasErrno(cause) ? (text.split(", ")[0] ?? text) : text).replaceAll(/\s+/g, " ");
}
