/**
 * Prepare: the answer is made before it is sent, so that what is signed can be shown and signed.
 * Nothing here reaches the gate. Format: spec/web-inbox.md §4.
 */
import {
  type ConsentRequest,
  type FieldReader,
  type JsonObject,
  DECISIONS,
  REASON_CHARS_MAX,
  confirmationWord,
  makeResponse,
  readFields,
} from "@acp/core";
import { consentPayload } from "@acp/core/proof";
import type { Person } from "./options.js";
import { mayAnswer, needsPasskey } from "./question-view.js";
import type { Entry } from "./questions.js";
import { refuse, reply } from "./reply.js";
import type { InboxParts, Route, SessionCall } from "./routes.js";
import type { ChoiceMessage, PreparedMessage } from "./wire.js";

/**
 * How long a yes holds, counted from the answer, or from the end of a question that takes several.
 */
const VALID_MS: number = 5 * 60_000;

/** What a person decided about a question. */
type Choice = Omit<ChoiceMessage, "request_id">;

function readChoice(fields: FieldReader): ChoiceMessage {
  const choice: ChoiceMessage = {
    request_id: fields.text("request_id"),
    decision: fields.oneOf("decision", DECISIONS),
    modifications: fields.optionalRaw("modifications"),
    grant: fields.optionalText("grant", 64),
    word: fields.optionalText("word", 64),
    reason: fields.optionalText("reason", REASON_CHARS_MAX),
  };
  fields.done();
  return choice;
}

/**
 * Why a choice is none for this question, before anything is made or signed of it; the gate judges
 * all of it again.
 */
function misfitOf(
  { decision, modifications, grant, word }: Choice,
  request: ConsentRequest,
): string | undefined {
  if ((decision === "approved_with_modifications") !== (modifications !== undefined))
    return `"modifications" belong to the decision approved_with_modifications, which needs them`;
  if (grant !== undefined && decision !== "approved")
    return `"grant" belongs to the decision approved`;
  if (grant !== undefined && !request.offers.some(({ id }) => id === grant))
    return `there is no offer "${grant}"`;
  const wanted = confirmationWord(request);
  if (decision !== "denied" && wanted !== undefined && word !== wanted)
    return `approving needs the word "${wanted}", typed`;
  return undefined;
}

/** The entry of an open question that this person may answer, or why not. */
export function answerable(
  { questions, settings }: InboxParts,
  id: string,
  person: Person,
): Entry | Response {
  const entry = questions.find(id);
  if (entry === "lost") return refuse("gate_lost");
  if (entry === undefined || entry === "ended") return refuse("question_ended");
  // When its time is over, and who waits for a step of it, are the gate's to say: by its clock, and
  // it may have taken a step early.
  return mayAnswer(entry, person, settings.clock.now()) === "no"
    ? refuse("not_an_approver")
    : entry;
}

/** The answer as the gate gets it, in the form that is signed. */
export function makeAnswer(
  { settings }: InboxParts,
  { question: { request }, carrier }: Entry,
  choice: Choice & { readonly person: Person },
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
    ...(word === undefined || !isYes || confirmationWord(request) === undefined
      ? {}
      : { confirmation: word }),
  });
}

/** The 32 bytes of `sha256:<hex>` as base64url. */
const challengeOf = (payloadHash: string): string =>
  Buffer.from(payloadHash.replace(/^sha256:/, ""), "hex").toString("base64url");

async function prepare(parts: InboxParts, { session, body }: SessionCall): Promise<Response> {
  const { person } = session;
  const choice = readChoice(readFields(body, "body"));
  const entry = answerable(parts, choice.request_id, person);
  if (entry instanceof Response) return entry;
  const { request } = entry.question;
  const misfit = misfitOf(choice, request);
  if (misfit !== undefined) return refuse("answer_invalid", { message: misfit });
  const response = makeAnswer(parts, entry, { ...choice, person });
  const { hash: payloadHash, requestHash } = consentPayload(response, entry.wire);
  const challenge =
    choice.decision !== "denied" && needsPasskey(request, parts.settings.passkeyFrom)
      ? challengeOf(payloadHash)
      : undefined;
  const allowed = challenge === undefined ? [] : await parts.keyring.usable(person.approver);
  if (challenge !== undefined && allowed.length === 0) return refuse("passkey_missing");
  const passkey =
    challenge === undefined
      ? null
      : await parts.ceremony.makeAssertionOptions({ challenge, allowed });
  const ticket = parts.tickets.issue({
    session,
    entry,
    response,
    payloadHash,
    requestHash,
    challenge,
  });
  const prepared: PreparedMessage = { ticket, response, payload_hash: payloadHash, passkey };
  return reply(200, prepared);
}

/** The route of preparing one answer. */
export const PREPARE_ROUTES: readonly Route[] = [
  { method: "POST", path: "/api/answers/prepare", access: "session", handle: prepare },
];
