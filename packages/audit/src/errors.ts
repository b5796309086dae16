/** Errors of the audit log: one code, one line of text, with the way back. */
import { ConsentError, quoteText } from "@acp/core";

/** Makes `audit_failed`, one line: `Cannot <what> audit log "<path>": <why>`. */
export function cannot(what: string, path: string): (why: string, cause?: unknown) => ConsentError {
  return (why, cause) =>
    new ConsentError("audit_failed", `Cannot ${what} audit log ${quoteText(path)}: ${why}`, {
      cause,
    });
}

/** `audit_busy`, naming who writes the log. */
export function busyError(path: string, owner: string): ConsentError {
  return new ConsentError(
    "audit_busy",
    `Cannot open audit log ${quoteText(path)}: process ${owner} is writing to it; end that process first`,
  );
}

/**
 * What an error says, on one line and without the file's path: `ENOSPC: no space left on device`.
 */
export function causeText(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  return (hasErrno(cause) ? (text.split(", ")[0] ?? text) : text).replaceAll(/\s+/g, " ");
}

/** Whether the error is the system's, of one of the codes where codes are given. */
export function hasErrno(error: unknown, ...codes: readonly string[]): boolean {
  if (!(error instanceof Error) || !("syscall" in error) || !("code" in error)) return false;
  return codes.length === 0 || codes.includes(String(error.code));
}
