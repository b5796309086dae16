/**
 * Results of tool calls that were not made: text for the model, and the same as data. They never
 * use `structuredContent`, which clients validate against the tool's own schema. Format:
 * spec/mcp-proxy.md §4.
 */
import { DENY_CODES, isoTime } from "@acp/core";
import type { Denied, Pending } from "@acp/core";
import type { ServerFailure } from "./failure.js";

/** Why a call was not made, as data. Format: spec/mcp-proxy.md §4. */
export interface CallNotice {
  /** A deny code of the gate, or `pending`, `arguments_invalid`, `server_unavailable` or
   * `call_timed_out`. */
  readonly code: string;
  /** Why, in one sentence without a period. */
  readonly reason: string;
  /** What to do. */
  readonly remedy: string;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** Milliseconds to wait before a retry, if known. */
  readonly retryAfterMs?: number;
  /** ID of the question, if there is one. */
  readonly requestId?: string;
  /** ID of the policy's rule, if one decided. */
  readonly ruleId?: string;
  /** With `pending`: when the question expires, as ISO 8601 in UTC. */
  readonly expiresAt?: string;
}

/** A `CallToolResult` with `isError: true`. */
export interface NoticeResult {
  readonly content: readonly { readonly type: "text"; readonly text: string }[];
  readonly isError: true;
  readonly _meta: Readonly<Record<string, CallNotice>>;
}

const PENDING_RETRY_MS = 10_000;

/** The gate said no. */
export function deniedResult(denied: Denied): NoticeResult {
  const { code, reason, remedy, retryable, retryAfterMs, requestId, ruleId } = denied;
  return notice("acp/denied", {
    code,
    reason,
    remedy,
    retryable,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(requestId === undefined ? {} : { requestId }),
    ...(ruleId === undefined ? {} : { ruleId }),
  });
}

/** The arguments are none that the tool or the gate can take. */
export function invalidResult(reason: string): NoticeResult {
  return notice("acp/denied", {
    code: "arguments_invalid",
    reason,
    remedy: "Correct the arguments, then call again",
    retryable: false,
  });
}

/** The server is gone, before or after the call reached it. */
export function unavailableResult(
  { reason, retryAfterMs }: ServerFailure,
  forwarded: boolean,
): NoticeResult {
  const code = "server_unavailable";
  if (forwarded) return unknownResult(code, `${reason} after the call was sent to it`);
  if (retryAfterMs === undefined)
    return notice("acp/denied", {
      code,
      reason,
      remedy: "The operator must check the server, then restart it",
      retryable: false,
    });
  return notice("acp/denied", {
    code,
    reason,
    remedy: "The server is being started again; wait, then repeat the call",
    retryable: true,
    retryAfterMs,
  });
}

/** Something failed inside the proxy. */
export function brokenResult(forwarded: boolean): NoticeResult {
  const code = "internal_error";
  if (forwarded) return unknownResult(code, "the proxy failed after the call was sent");
  return deniedResult({
    decision: "deny",
    code,
    reason: "the proxy failed",
    ...DENY_CODES[code],
  });
}

/** The server took longer for the call than it may. */
export function timedOutResult(server: string, timeoutMs: number): NoticeResult {
  return unknownResult(
    "call_timed_out",
    `Server "${server}" did not answer within ${timeoutMs} ms`,
  );
}

/**
 * The call was sent, and nobody knows what came of it.
 *
 * @param reason - Without its end.
 * @param about - The question and the rule, where there are any.
 */
export function unknownResult(
  code: string,
  reason: string,
  about: Pick<CallNotice, "requestId" | "ruleId"> = {},
): NoticeResult {
  return notice(
    "acp/denied",
    {
      ...about,
      code,
      reason: `${reason}; whether the call took effect is not known`,
      remedy: "Check what happened before calling again",
      retryable: false,
    },
    "Sent, but not answered",
  );
}

/** A person is still being asked. */
export function pendingResult({ requestId, expiresAtMs }: Pending): NoticeResult {
  return notice("acp/pending", {
    code: "pending",
    reason: `a person was asked (${requestId}) and has not answered yet`,
    remedy:
      "Tell the user that somebody has to answer it (acp inbox, or acp approve). Call again with the same arguments to wait on for the decision; other arguments would ask a new question. Do not try another way meanwhile",
    retryable: true,
    retryAfterMs: PENDING_RETRY_MS,
    requestId,
    expiresAt: isoTime(expiresAtMs),
  });
}

/** The client's user wants nobody to be asked; the question was taken back. */
export function declinedResult(requestId: string): NoticeResult {
  return notice("acp/denied", {
    code: "consent_cancelled",
    reason: `the user of this client declined to have the question ${requestId} answered`,
    remedy: "Do not repeat the call; ask the user what they want instead",
    retryable: false,
    requestId,
  });
}

/** @param opening - What became of the call; what is not known is never called "not executed". */
function notice(
  key: "acp/denied" | "acp/pending",
  data: CallNotice,
  opening?: string,
): NoticeResult {
  return {
    content: [
      { type: "text", text: opening === undefined ? sentences(data) : sentence(opening, data) },
      { type: "text", text: JSON.stringify(data) },
    ],
    isError: true,
    _meta: { [key]: data },
  };
}

function sentences({ code, reason, remedy, retryable, retryAfterMs }: CallNotice): string {
  const opening = code === "pending" ? "Not executed yet" : "Not executed";
  const wait = retryAfterMs === undefined ? "" : ` after ${Math.ceil(retryAfterMs / 1_000)} s`;
  const again = retryable
    ? `The same call may succeed later${wait === "" ? "" : `, at the earliest${wait}`}.`
    : "The same call will fail again.";
  return `${sentence(opening, { code, reason, remedy })} ${code === "pending" ? "" : again}`.trimEnd();
}

function sentence(
  opening: string,
  { code, reason, remedy }: Pick<CallNotice, "code" | "reason" | "remedy">,
): string {
  return `${opening} (${code}): ${reason}. ${remedy}.`;
}
