/**
 * Batch: many questions answered together, each with its own answer, bound to the action that the
 * page showed. What takes a passkey or a word is answered one by one. Format: spec/web-inbox.md §4.
 */
import { REASON_CHARS_MAX, confirmationWord, readFields } from "@acp/core";
import { encodeReceipt, handIn, refusedReceipt } from "./answers.js";
import type { Person } from "./options.js";
import { answerable, makeAnswer } from "./prepare.js";
import { needsPasskey } from "./question-view.js";
import { refuse, reply } from "./reply.js";
import type { InboxParts, Route, SessionCall } from "./routes.js";
import type { ReceiptMessage } from "./wire.js";

/** Answers of one request; who has more sends several. */
const BATCH_MAX = 100;

interface Item {
  readonly requestId: string;
  readonly actionDigest: string;
}

interface Choice {
  readonly decision: "approved" | "denied";
  readonly reason: string | undefined;
  readonly person: Person;
}

async function answerOne(
  parts: InboxParts,
  { requestId, actionDigest }: Item,
  choice: Choice,
): Promise<ReceiptMessage> {
  const { decision, reason, person } = choice;
  const entry = answerable(parts, requestId, person);
  if (entry instanceof Response && entry.status === 503)
    return refusedReceipt("gate_lost", "the connection to its gate is lost; nothing was sent");
  if (entry instanceof Response)
    return entry.status === 409
      ? refusedReceipt("request_ended", "the question is over")
      : refusedReceipt("approver_not_allowed", "you may not answer this question");
  const { request } = entry.question;
  if (request.actionDigest !== actionDigest)
    return refusedReceipt(
      "nonce_mismatch",
      "the page showed a different action from the one that the question is about",
    );
  if (decision === "approved" && needsPasskey(request, parts.settings.passkeyFrom))
    return refusedReceipt("passkey_required", "approving this question needs a passkey");
  if (decision === "approved" && confirmationWord(request) !== undefined)
    return refusedReceipt("confirmation_required", "approving this question needs a typed word");
  const claim = makeAnswer(parts, entry, {
    decision,
    reason,
    person,
  });
  return encodeReceipt(await handIn(parts, entry, { claim, person }));
}

async function answerAll(parts: InboxParts, { session, body }: SessionCall): Promise<Response> {
  const fields = readFields(body, "body");
  const decision = fields.oneOf("decision", ["approved", "denied"] as const);
  const reason = fields.optionalText("reason", REASON_CHARS_MAX);
  const items = fields.objects("items").map((item): Item => {
    const read = { requestId: item.text("request_id"), actionDigest: item.text("action_digest") };
    item.done();
    return read;
  });
  fields.done();
  const isTooMany = items.length > BATCH_MAX;
  if (isTooMany || new Set(items.map(({ requestId }) => requestId)).size < items.length)
    return refuse("answer_invalid", {
      message: isTooMany
        ? `a batch has at most ${BATCH_MAX} answers`
        : "a batch has one answer per question",
    });
  const choice: Choice = { decision, reason, person: session.person };
  const receipts = await Promise.all(
    items.map(async (item) => ({
      request_id: item.requestId,
      receipt: await answerOne(parts, item, choice),
    })),
  );
  return reply(200, { receipts });
}

/** The route of answering many. */
export const BATCH_ROUTES: readonly Route[] = [
  { method: "POST", path: "/api/answers/batch", access: "session", handle: answerAll },
];
