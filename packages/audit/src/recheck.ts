/**
 * Recheck: reads the file of a log that is written to once more, where somebody else touched it
 * since the last write. Only its chain says whether it is still what was written.
 */
import { parseEvent } from "./codec.js";
import type { LineGroup } from "./group-commit.js";
import { lineText } from "./lines.js";
import { type BadLine, verifyCurrentFile } from "./verify.js";

/** An error that says which line of a log is not what was written. */
interface FaultError extends Error {
  readonly auditFault: BadLine;
}

/** Why the file cannot be gone on with; `undefined` where it is what was written. */
export async function recheckFile(path: string, next: LineGroup): Promise<Error | undefined> {
  const { firstBad, head, events } = await verifyCurrentFile(path);
  const { previousHash } = parseEvent(firstLine(next));
  const fault: BadLine | undefined =
    firstBad ??
    (head === undefined || head.hash === previousHash
      ? undefined
      : {
          line: events,
          code: "chain_broken",
          message: "it is not the event that was written last",
        });
  if (fault === undefined) return undefined;
  const message = `something else changed it, and its line ${fault.line} is broken: ${fault.message} (${fault.code})`;
  return Object.assign(new Error(message), { auditFault: fault }) satisfies FaultError;
}

function firstLine({ bytes }: LineGroup): string {
  return lineText(bytes.subarray(0, bytes.indexOf("\n"))) ?? "";
}

/**
 * Returns the bad line that a log's writer found because of which it takes no more events, or
 * `undefined` for any other error.
 *
 * @param error - What {@link AuditLog.append} rejected with.
 */
export function faultOf(error: unknown): BadLine | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  return isFaultError(cause) ? cause.auditFault : undefined;
}

function isFaultError(error: unknown): error is FaultError {
  return error instanceof Error && "auditFault" in error;
}
