/**
 * Handler: the side of the channel that answers come in at, as a function from Request to Response:
 * callbacks signed with the secret, and the pages behind links. Never rejects. Format:
 * spec/webhook.md §4.
 */
import { type AnswerReceipt, RESPONSE_BYTES_MAX, escapeText } from "@acp/core";
import { readBody } from "./body.js";
import { type LinkParts, handleLink } from "./link-handler.js";
import { isLinkToken } from "./links.js";
import { type MessageProblem, type ReceiveParts, receive } from "./receive.js";
import { refusalStatus } from "./refusal-status.js";
import { checkHeaders } from "./signature.js";

/** Characters of a reason sent back. */
const REASON_CHARS = 1_000;

const PROBLEM_STATUS: Readonly<Record<MessageProblem, number>> = {
  headers_missing: 401,
  headers_invalid: 401,
  timestamp_outside_tolerance: 401,
  signature_invalid: 401,
  replayed: 409,
  unavailable: 503,
};

/** What the handler needs. */
export interface HandlerParts extends ReceiveParts {
  /** `undefined`: no pages are served. */
  readonly links: LinkParts | undefined;
  readonly isClosed: () => boolean;
}

type Code =
  | MessageProblem
  | "method_not_allowed"
  | "body_too_large"
  | "body_already_read"
  | "internal_error";

function json(
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      "content-type": "application/json",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      ...headers,
    },
  });
}

const problem = (
  status: number,
  code: Code,
  headers?: Readonly<Record<string, string>>,
): Response => json(status, { status: "refused", code }, headers);

function encodeReceipt(receipt: AnswerReceipt): object {
  if (receipt.status === "reshow") return { status: "reshow", request_id: receipt.request.id };
  return receipt.status === "refused"
    ? { ...receipt, reason: escapeText(receipt.reason).slice(0, REASON_CHARS) }
    : receipt;
}

async function takeCallback(parts: HandlerParts, request: Request): Promise<Response> {
  if (request.method !== "POST") return problem(405, "method_not_allowed", { allow: "POST" });
  const headers = Object.fromEntries(request.headers);
  const early = checkHeaders(headers, parts.now());
  // Before the body: who does not even try to sign makes us read nothing.
  if (!early.ok) return problem(PROBLEM_STATUS[early.code], early.code);
  // A body that was parsed and written again is no longer what was signed.
  if (request.bodyUsed) return problem(500, "body_already_read");
  const body = await readBody(request, RESPONSE_BYTES_MAX);
  if (body === undefined) return problem(413, "body_too_large");
  const received = await receive(parts, { headers, body });
  if (!received.ok) return problem(PROBLEM_STATUS[received.code], received.code);
  const { receipt } = received;
  return json(
    receipt.status === "refused" ? refusalStatus(receipt.code) : 200,
    encodeReceipt(receipt),
  );
}

/** Makes the handler of a channel. */
export function createHandler(parts: HandlerParts): (request: Request) => Promise<Response> {
  return async (request) => {
    try {
      if (parts.isClosed()) return problem(503, "unavailable");
      const segment = new URL(request.url).pathname.split("/").at(-1) ?? "";
      if (parts.links !== undefined && isLinkToken(segment))
        return await handleLink(parts.links, segment, request);
      return await takeCallback(parts, request);
    } catch {
      return problem(500, "internal_error");
    }
  };
}
