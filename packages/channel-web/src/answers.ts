/**
 * Answers: made first, so that what is signed can be shown and signed, then sent. A yes that takes a passkey goes to the gate with the person's own
 * proof, or not at all; nothing that goes wrong here ends a question. Format: spec/web-inbox.md §4.
 */
import {
  type AnswerReceipt,
  type ConsentRequest,
  type Decision,
  type FieldReader,
  type JsonObject,
  REASON_CHARS_MAX,
  confirmationWord,
  makeResponse,
  readFields,
} from "@acp/core";
import { consentPayload } from "@acp/core/proof";
import type { Person } from "./options.js";
import type { PasskeyAssertion } from "./parts.js";
import { mayAnswer, needsPasskey } from "./question-view.js";
import type { Entry } from "./questions.js";
import { oneLine, refuse, reply } from "./reply.js";
import type { InboxParts, Route, SessionCall } from "./routes.js";
import type { Ticket } from "./tickets.js";

/** How long a yes holds, counted from the answer, or from the end of a question that takes several. */
const VALID_MS: number = 5 * 60_000;
const DECISIONS: readonly Decision[] = ["approved", "denied", "approved_with_modifications"];

/** What a person decided. */
interface Choice {
  readonly requestId: string;
  readonly decision: Decision;
  readonly modifications: JsonObject | undefined;
  readonly grant: string | undefined;
  readonly word: string | undefined;
  readonly reason: string | undefined;
}

function readChoice(fields: FieldReader): Choice {
  const choice: Choice = {
    requestId: fields.text("request_id"),
    decision: fields.oneOf("decision", DECISIONS),
    modifications: fields.optionalRaw("modifications"),
    grant: fields.optionalText("grant", 64),
    word: fields.optionalText("word", 64),
    reason: fields.optionalText("reason", REASON_CHARS_MAX),
  };
  fields.done();
  return choice;
}

/** Why a choice is none for this question, before anything is made or signed of it; the gate judges all of it again. */
function misfitOf({ decision, modifications, grant, word }: Choice, request: ConsentRequest): string | undefined {
  if ((decision === "approved_with_modifications") !== (modifications !== undefined))
    return `"modifications" are for the decision approved_with_modifications, which takes them`;
  if (grant !== undefined && decision !== "approved") return `"grant" is for a plain yes`;
  if (grant !== undefined && !request.offers.some(({ id }) => id === grant)) return `there is no offer "${grant}"`;
  const wanted = confirmationWord(request);
  if (decision !== "denied" && wanted !== undefined && word !== wanted) return `a yes takes the word "${wanted}", typed`;
  return undefined;
}

/** The entry of an open question that this person may answer, or why not. */
export function answerable({ questions, settings }: InboxParts, id: string, person: Person): Entry | Response {
  const entry = questions.find(id);
  if (entry === undefined || entry === "ended") return refuse("question_ended");
  // When its time is over, and who waits for a step of it, are the gate's to say: by its clock, and it may have taken a step early.
  return mayAnswer(entry, person, settings.clock.now()) === "no" ? refuse("not_an_approver") : entry;
}

/** The answer as the gate gets it, in the form that is signed. */
export function makeAnswer(
  { settings }: InboxParts,
  { question: { request }, carrier }: Entry,
  choice: Omit<Choice, "requestId"> & { readonly person: Person },
): JsonObject {
  const { decision, modifications, grant, word, reason = "", person } = choice;
  // As the gate has it: a wall clock set back puts no answer before its question.
  const nowMs = Math.max(settings.clock.now(), request.createdAtMs);
  const isYes = decision !== "denied";
  return makeResponse(request, {
    decision,
    nowMs,
    channel: carrier.channel,
    approverId: person.approver,
    validUntilMs: (request.quorum > 1 ? request.expiresAtMs : nowMs) + VALID_MS,
    reason,
    ...(modifications === undefined ? {} : { modifications }),
    ...(grant === undefined ? {} : { grantId: grant }),
    // A word is for a yes, whatever else was typed on the page.
    ...(word === undefined || !isYes || confirmationWord(request) === undefined ? {} : { confirmation: word }),
  });
}

/** The 32 bytes of `sha256:<hex>` as base64url. */
const challengeFor = (payloadHash: string): string => Buffer.from(payloadHash.replace(/^sha256:/, ""), "hex").toString("base64url");

async function prepare(parts: InboxParts, { session, body }: SessionCall): Promise<Response> {
  const { person } = session;
  const choice = readChoice(readFields(body, "body"));
  const entry = answerable(parts, choice.requestId, person);
  if (entry instanceof Response) return entry;
  const { request } = entry.question;
  const misfit = misfitOf(choice, request);
  if (misfit !== undefined) return refuse("answer_invalid", { message: misfit });
  const response = makeAnswer(parts, entry, { ...choice, person });
  const { hash: payloadHash, requestHash } = consentPayload(response, entry.wire);
  const isPasskeyNeeded = choice.decision !== "denied" && needsPasskey(request, parts.settings.passkeyFrom);
  const allowed = isPasskeyNeeded ? await parts.keyring.usable(person.approver) : [];
  if (isPasskeyNeeded && allowed.length === 0) return refuse("passkey_missing");
  const passkey = isPasskeyNeeded ? await parts.ceremony.makeAssertionOptions({ challenge: challengeFor(payloadHash), allowed }) : null;
  const ticket = parts.tickets.issue({ session, entry, response, payloadHash, requestHash, needsPasskey: isPasskeyNeeded });
  return reply(200, { ticket, response, payload_hash: payloadHash, passkey });
}

/** The gate's receipt as it is sent. */
export function encodeReceipt(receipt: AnswerReceipt): JsonObject {
  if (receipt.status === "reshow") return { status: "reshow", request_id: receipt.request.id };
  return receipt.status === "refused" ? { ...receipt, reason: oneLine(receipt.reason) } : { ...receipt };
}

/** Hands an answer in; `undefined` where the gate did not say what became of it. */
export async function handIn(
  { questions, settings }: InboxParts,
  entry: Entry,
  { claim, person }: { readonly claim: JsonObject; readonly person: Person },
): Promise<AnswerReceipt | undefined> {
  try {
    const receipt = await entry.submit(claim, person);
    if (receipt.status === "counted") questions.take(entry, { by: person, claim, have: receipt.have });
    else if (receipt.status !== "refused") questions.take(entry, { by: person, claim });
    return receipt;
  } catch (error) {
    settings.warn(`Cannot tell what became of an answer: ${error instanceof Error ? error.message : "the gate is gone"}`);
    return undefined;
  }
}

/** The proof that a good assertion is (spec/proof.md §3). */
function proofOf({ payloadHash, requestHash }: Ticket, { signed }: Extract<PasskeyAssertion, { ok: true }>): JsonObject {
  return {
    algorithm: "WebAuthn",
    credential_id: signed.credential_id,
    authenticator_data: signed.authenticator_data,
    client_data_json: signed.client_data_json,
    signature: signed.signature,
    signed_payload_hash: payloadHash,
    request_hash: requestHash,
  };
}

/** The answer with the person's own proof where it takes one, or why it does not go to the gate. */
async function prove(parts: InboxParts, ticket: Ticket, assertion: JsonObject | undefined): Promise<JsonObject | Response> {
  const { session, response, payloadHash, needsPasskey: isNeeded } = ticket;
  if (!isNeeded)
    return assertion === undefined ? response : refuse("answer_invalid", { message: "this answer was prepared without a passkey" });
  if (assertion === undefined) return refuse("passkey_required");
  // Read again: a passkey that was revoked meanwhile signs nothing.
  const passkeys = await parts.keyring.usable(session.person.approver);
  const checked = await parts.ceremony.checkAssertion({ assertion, challenge: challengeFor(payloadHash), passkeys });
  if (!checked.ok) return refuse("passkey_refused", { message: `the passkey's answer does not hold: ${checked.reason}` });
  // The verifier was given this person's alone; a mistake of its must not make another's answer theirs.
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
  if (entry.question.request.nonce !== ticket.entry.question.request.nonce) return refuse("question_ended");
  const receipt = await handIn(parts, entry, { claim, person });
  return receipt === undefined ? refuse("answer_unknown") : reply(200, encodeReceipt(receipt));
}

/** Routes of answering one question. */
export const ANSWER_ROUTES: readonly Route[] = [
  { method: "POST", path: "/api/answers/prepare", access: "session", handle: prepare },
  { method: "POST", path: "/api/answers", access: "session", handle: answer },
];
