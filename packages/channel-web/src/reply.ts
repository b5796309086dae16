/**
 * Reply: what the handler answers with. Every refusal has a code, a status and one line. Format:
 * spec/web-inbox.md §1.
 */
import { type JsonObject, escapeText } from "@acp/core";

/** Characters of a message sent back. */
const MESSAGE_CHARS_MAX = 1_000;

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/**
 * Headers of whatever is sent: nothing is loaded from elsewhere, framed, or told to another site.
 */
export const COMMON_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "publickey-credentials-get=(self), publickey-credentials-create=(self)",
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "x-robots-tag": "noindex, nofollow",
};

/** Why a request is refused. */
export type ReplyCode =
  | "host_unknown"
  | "origin_refused"
  | "signed_out"
  | "body_too_large"
  | "body_invalid"
  | "query_invalid"
  | "not_found"
  | "method_not_allowed"
  | "code_refused"
  | "too_many_tries"
  | "passkey_refused"
  | "passkey_required"
  | "passkey_missing"
  | "sign_in_again"
  | "passkeys_unavailable"
  | "question_ended"
  | "not_an_approver"
  | "not_an_operator"
  | "pauses_unavailable"
  | "not_a_reviewer"
  | "review_unknown"
  | "review_changed"
  | "review_running"
  | "reviews_unavailable"
  | "answer_invalid"
  | "ticket_unknown"
  | "gate_lost"
  | "history_unavailable"
  | "closed"
  | "internal_error";

/** Status and text of every code. */
const REFUSALS: Readonly<Record<ReplyCode, readonly [status: number, message: string]>> = {
  host_unknown: [421, "this inbox has another name"],
  origin_refused: [403, "the request does not come from the inbox's own page"],
  signed_out: [401, "nobody is signed in"],
  body_too_large: [413, "the body is too large"],
  body_invalid: [400, "the body is malformed"],
  query_invalid: [400, "the query is malformed"],
  not_found: [404, "there is nothing here"],
  method_not_allowed: [405, "this method is not allowed here"],
  code_refused: [401, "the code is wrong, used or too old"],
  too_many_tries: [429, "too many codes were wrong; wait a minute"],
  passkey_refused: [403, "the passkey's response is not valid"],
  passkey_required: [403, "this needs a passkey"],
  passkey_missing: [403, "this needs a passkey, and you have none here"],
  sign_in_again: [403, "adding a first passkey needs a new sign-in with a code"],
  passkeys_unavailable: [503, "the passkeys cannot be read or saved"],
  question_ended: [409, "the question is over"],
  not_an_approver: [403, "you may not answer this question"],
  not_an_operator: [403, "you may not pause or resume agents"],
  pauses_unavailable: [503, "agents cannot be paused, resumed or listed at the moment"],
  not_a_reviewer: [403, "you may not see or take what agents wrote"],
  review_unknown: [404, "this review no longer exists"],
  review_changed: [409, "it no longer matches what was shown; nothing was changed"],
  review_running: [409, "its command is still running; end it first"],
  reviews_unavailable: [503, "the review cannot be read or settled at the moment"],
  answer_invalid: [400, "the answer does not fit the question"],
  ticket_unknown: [410, "the answer was prepared too long ago, or sent before"],
  gate_lost: [503, "the connection to its gate is lost; nothing was sent"],
  history_unavailable: [503, "the history cannot be read"],
  closed: [503, "the inbox is closed"],
  internal_error: [500, "the inbox failed"],
};

/** What a refusal says besides its code. */
export interface RefusalOptions {
  /** Instead of the code's own. */
  readonly status?: number;
  readonly message?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** JSON that nobody keeps. */
export function reply(
  status: number,
  body: JsonObject,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      ...COMMON_HEADERS,
      "content-type": "application/json",
      "cache-control": "no-store",
      ...headers,
    },
  });
}

/**
 * What a person sees who comes by a name that is not ours. It does not say ours: anybody may ask.
 */
const ELSEWHERE = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Not the inbox</title>
<h1>The inbox is not at this address</h1>
<p>Its address is a new one at each start. Open the one that <code>acp inbox</code> printed, or press Enter in its terminal for another.</p></html>
`;

/** A page that says so, and nothing else. */
export function elsewhere(): Response {
  return new Response(ELSEWHERE, {
    status: 421,
    headers: {
      ...COMMON_HEADERS,
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
    },
  });
}

/** Done, and nothing to say. */
export function done(headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(null, {
    status: 204,
    headers: { ...COMMON_HEADERS, "cache-control": "no-store", ...headers },
  });
}

/** A text of somebody else's as one safe line that is not too long. */
export const oneLine = (text: string): string =>
  escapeText(text)
    .slice(0, MESSAGE_CHARS_MAX)
    .replace(/[\ud800-\udbff]$/, "");

/** Not taken. */
export function refuse(code: ReplyCode, options: RefusalOptions = {}): Response {
  const [status, message] = REFUSALS[code];
  return reply(
    options.status ?? status,
    { code, message: oneLine(options.message ?? message) },
    options.headers,
  );
}
