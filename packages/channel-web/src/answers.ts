/**
 * Answers: sends what was prepared. A yes that takes a passkey goes to the gate with the person's
 * own proof, or not at all; nothing that goes wrong here ends a question. Format: spec/web-inbox.md
 * §4.
 */
import { type AnswerReceipt, type JsonObject, isConsentError, readFields } from "@acp/core";
import { PAYLOAD_TYPE } from "@acp/core/proof";
import type { Person } from "./options.js";
import type { PasskeyAssertion } from "./passkey.js";
import { answerable } from "./prepare.js";
import type { Entry } from "./questions.js";
import { oneLine, refuse, reply } from "./reply.js";
import type { InboxParts, Route, SessionCall } from "./routes.js";
import type { Ticket } from "./tickets.js";
import type { ReceiptMessage, RefusedCode } from "./wire.js";

/**
 * What became of an answer, as far as it is known now: the gate's receipt; `not_sent`, so that the
 * question is as it was; or `unknown`: it was sent, and nobody said what became of it. That is
 * never told as a no: the gate's log knows.
 */
export type Handed =
  | AnswerReceipt
  | { readonly status: "unknown" }
  | { readonly status: "not_sent"; readonly reason: string };

/** What the page is told of an answer that was not taken. */
export function refusedReceipt(code: RefusedCode, reason: string): ReceiptMessage {
  return { status: "refused", code, reason: oneLine(reason) };
}

/** The same as it is sent. */
export function encodeReceipt(receipt: Handed): ReceiptMessage {
  if (receipt.status === "not_sent") return refusedReceipt("gate_lost", receipt.reason);
  if (receipt.status === "refused") return refusedReceipt(receipt.code, receipt.reason);
  if (receipt.status === "reshow") return { status: "reshow", request_id: receipt.request.id };
  return { ...receipt };
}

/** Hands an answer in. Never rejects. */
export async function handIn(
  { questions, settings }: InboxParts,
  entry: Entry,
  { claim, person }: { readonly claim: JsonObject; readonly person: Person },
): Promise<Handed> {
  try {
    const receipt = await entry.submit(claim, person);
    if (receipt.status === "counted")
      questions.take(entry, { by: person, claim, have: receipt.have });
    else if (receipt.status !== "refused") questions.take(entry, { by: person, claim });
    return receipt;
  } catch (error) {
    const reason = error instanceof Error ? error.message : "the gate is gone";
    if (isConsentError(error, "channel_unavailable")) return { status: "not_sent", reason };
    settings.warn(`The outcome of an answer is not known yet: ${reason}`);
    return { status: "unknown" };
  }
}

/** The proof that a good assertion is (spec/proof.md §3). */
function proofOf(
  { payloadHash, requestHash }: Ticket,
  { signed }: Extract<PasskeyAssertion, { ok: true }>,
): JsonObject {
  return {
    algorithm: "WebAuthn",
    payload_type: PAYLOAD_TYPE,
    credential_id: signed.credential_id,
    authenticator_data: signed.authenticator_data,
    client_data_json: signed.client_data_json,
    signature: signed.signature,
    signed_payload_hash: payloadHash,
    request_hash: requestHash,
  };
}

/** The answer with the person's own proof where it takes one, or why it does not go to the gate. */
async function prove(
  parts: InboxParts,
  ticket: Ticket,
  assertion: JsonObject | undefined,
): Promise<JsonObject | Response> {
  const { session, response, challenge } = ticket;
  if (challenge === undefined)
    return assertion === undefined
      ? response
      : refuse("answer_invalid", { message: "this answer was prepared without a passkey" });
  if (assertion === undefined) return refuse("passkey_required");
  // Read again: a passkey that was revoked meanwhile signs nothing.
  const passkeys = await parts.keyring.usable(session.person.approver);
  const checked = await parts.ceremony.checkAssertion({ assertion, challenge, passkeys });
  if (!checked.ok)
    return refuse("passkey_refused", {
      message: `the passkey's response is not valid: ${checked.reason}`,
    });
  // The verifier was given this person's alone; a mistake of its must not make another's answer
  // theirs.
  if (checked.passkey.approver !== session.person.approver) return refuse("passkey_refused");
  parts.sessions.notePasskey(session);
  return { ...response, proof: proofOf(ticket, checked) };
}

async function answer(parts: InboxParts, { session, body }: SessionCall): Promise<Response> {
  const fields = readFields(body, "body");
  const id = fields.text("ticket", 64);
  const assertion = fields.optionalRaw("assertion");
  fields.done();
  // Before anything is awaited: a ticket that is sent twice at once is looked at once.
  const ticket = parts.tickets.take(id, session);
  if (ticket === undefined) return refuse("ticket_unknown");
  const claim = await prove(parts, ticket, assertion);
  if (claim instanceof Response) return claim;
  const { person } = session;
  const entry = answerable(parts, ticket.entry.question.request.id, person);
  if (entry instanceof Response) return entry;
  if (entry.question.request.nonce !== ticket.entry.question.request.nonce)
    return refuse("question_ended");
  const receipt = await handIn(parts, entry, { claim, person });
  return reply(200, encodeReceipt(receipt));
}

/** The route of sending one answer. */
export const ANSWER_ROUTES: readonly Route[] = [
  { method: "POST", path: "/api/answers", access: "session", handle: answer },
];
