/**
 * Reviews: what agents wrote into overlays, seen and taken from the page. An order names the digest
 * that was shown and is made in two steps, as an answer is: what a passkey signs is made before it
 * is signed. Nothing here reads or writes a file. Format: spec/web-inbox.md §7.
 */
import { createHash } from "node:crypto";
import { type JsonObject, readFields } from "@acp/core";
import type { Person, Settings } from "./options.js";
import { oneLine, refuse, reply } from "./reply.js";
import type {
  InboxReviews,
  ReviewBy,
  ReviewOrder,
  ReviewSettled,
  ReviewShown,
  ReviewSummary,
} from "./inbox-reviews.js";
import type { InboxParts, ReviewTicket, Route, SessionCall } from "./routes.js";
import { makeToken } from "./token.js";
import type { ReviewMessage, ReviewShownMessage } from "./wire.js";

/** Changes of one order. */
const PICKS_MAX = 10_000;
const ID = /^[0-9a-f]{12}$/u;
const DIGEST = /^[0-9a-f]{64}$/u;

/** The reviews, for those who may. */
function reviewsFor({ reviews }: Settings, { approver }: Person): InboxReviews | undefined {
  return reviews?.reviewers.includes(approver) === true ? reviews : undefined;
}

/** Does it; what fails there is told and ends nothing here. */
async function attempt(
  { settings }: InboxParts,
  { session }: SessionCall,
  act: (reviews: InboxReviews) => Promise<Response>,
): Promise<Response> {
  const reviews = reviewsFor(settings, session.person);
  if (reviews === undefined) return refuse("not_a_reviewer");
  try {
    return await act(reviews);
  } catch (error) {
    const why = error instanceof Error ? error.message : "it failed";
    settings.warn(oneLine(`Cannot read or settle a review: ${why}`));
    return refuse("reviews_unavailable", { message: why });
  }
}

/** Taking what an agent wrote is high: a person runs it later. */
function needsPasskey({ passkeyFrom }: Settings): boolean {
  return passkeyFrom !== "rules-only" && passkeyFrom !== "critical";
}

function encodeSummary({
  id,
  workspace,
  agent,
  command,
  startedMs,
  isRunning,
  changes,
}: ReviewSummary): ReviewMessage {
  return {
    id,
    workspace,
    agent,
    ...(command === undefined ? {} : { command }),
    started: startedMs,
    running: isRunning,
    ...(changes === undefined ? {} : { changes }),
  };
}

function encodeShown(shown: ReviewShown, settings: Settings): ReviewShownMessage {
  const { digest, rows, more, refused, isComplete } = shown;
  return {
    ...encodeSummary(shown),
    digest,
    rows: rows.map(({ index, text, lines, part }) => ({ index, text, lines: [...lines], part })),
    more,
    refused: [...refused],
    complete: isComplete,
    needs_passkey: needsPasskey(settings),
  };
}

function encodeSettled(settled: ReviewSettled): Response {
  if (settled.status === "changed") return refuse("review_changed");
  if (settled.status === "running") return refuse("review_running");
  if (settled.status === "unknown") return refuse("review_unknown");
  return reply(200, { lines: [...settled.lines], over: settled.isOver, whole: settled.isWhole });
}

async function list(parts: InboxParts, call: SessionCall): Promise<Response> {
  if (reviewsFor(parts.settings, call.session.person) === undefined)
    return reply(200, { may_review: false, reviews: [] });
  return attempt(parts, call, async (reviews) =>
    reply(200, { may_review: true, reviews: (await reviews.list()).map(encodeSummary) }),
  );
}

async function show(parts: InboxParts, call: SessionCall): Promise<Response> {
  const fields = readFields(call.body, "body");
  const id = fields.text("review", 64);
  fields.done();
  return attempt(parts, call, async (reviews) => {
    const shown = ID.test(id) ? await reviews.show(id) : undefined;
    return shown === undefined
      ? refuse("review_unknown")
      : reply(200, encodeShown(shown, parts.settings));
  });
}

/** A list of whole numbers, each once; `undefined` where it is none. */
function readPicks(value: unknown): readonly number[] | undefined {
  if (!Array.isArray(value) || value.length === 0 || value.length > PICKS_MAX) return undefined;
  const picks = value.filter((each): each is number => Number.isSafeInteger(each) && each >= 0);
  return picks.length === value.length && new Set(picks).size === picks.length ? picks : undefined;
}

/**
 * What is signed says all of it: which review, what was seen, what is taken, who. A random part
 * makes it good for once.
 */
function challengeFor({ id, digest, picks }: ReviewOrder, approver: string): string {
  const text = JSON.stringify(["acp review take", id, digest, picks, approver, makeToken()]);
  return createHash("sha256").update(text).digest("base64url");
}

async function prepare(parts: InboxParts, call: SessionCall): Promise<Response> {
  const { picks: wanted, ...rest } = call.body;
  const fields = readFields(rest, "body");
  const [id, digest] = [fields.text("review", 64), fields.text("digest", 64)];
  fields.done();
  const picks = readPicks(wanted);
  if (!ID.test(id) || !DIGEST.test(digest) || picks === undefined)
    return refuse("body_invalid", {
      message: `"review", "digest" or "picks" is not as it was shown`,
    });
  const { session } = call;
  const { approver } = session.person;
  return attempt(parts, call, async () => {
    const order: ReviewOrder = { id, digest, picks };
    const challenge = needsPasskey(parts.settings) ? challengeFor(order, approver) : undefined;
    const allowed = challenge === undefined ? [] : await parts.keyring.usable(approver);
    if (challenge !== undefined && allowed.length === 0) return refuse("passkey_missing");
    const passkey =
      challenge === undefined
        ? null
        : await parts.ceremony.makeAssertionOptions({ challenge, allowed });
    return reply(200, {
      ticket: parts.reviewTickets.issue({ session, order, challenge }),
      passkey,
    });
  });
}

/** Who orders it, with the passkey that says so where it takes one, or why it is not done. */
async function prove(
  parts: InboxParts,
  ticket: ReviewTicket,
  assertion: JsonObject | undefined,
): Promise<ReviewBy | Response> {
  const { session, challenge } = ticket;
  const by: ReviewBy = { approver: session.person.approver, channel: "inbox" };
  if (challenge === undefined)
    return assertion === undefined
      ? by
      : refuse("answer_invalid", { message: "this order was prepared without a passkey" });
  if (assertion === undefined) return refuse("passkey_required");
  // Read again: a passkey that was revoked meanwhile signs nothing.
  const passkeys = await parts.keyring.usable(by.approver);
  const checked = await parts.ceremony.checkAssertion({ assertion, challenge, passkeys });
  if (!checked.ok)
    return refuse("passkey_refused", {
      message: `the passkey's response is not valid: ${checked.reason}`,
    });
  if (checked.passkey.approver !== by.approver) return refuse("passkey_refused");
  parts.sessions.notePasskey(session);
  return { ...by, passkey: checked.passkey.id };
}

async function take(parts: InboxParts, call: SessionCall): Promise<Response> {
  const fields = readFields(call.body, "body");
  const id = fields.text("ticket", 64);
  const assertion = fields.optionalRaw("assertion");
  fields.done();
  // Before anything is awaited: a ticket that is sent twice at once is looked at once.
  const ticket = parts.reviewTickets.take(id, call.session);
  if (ticket === undefined) return refuse("ticket_unknown");
  return attempt(parts, call, async (reviews) => {
    const by = await prove(parts, ticket, assertion);
    return by instanceof Response ? by : encodeSettled(await reviews.take(ticket.order, by));
  });
}

/** A no takes no passkey: what is thrown away never reaches the workspace. */
async function drop(parts: InboxParts, call: SessionCall): Promise<Response> {
  const fields = readFields(call.body, "body");
  const [id, digest] = [fields.text("review", 64), fields.text("digest", 64)];
  fields.done();
  if (!ID.test(id) || !DIGEST.test(digest))
    return refuse("body_invalid", { message: `"review" or "digest" is not as it was shown` });
  const by: ReviewBy = { approver: call.session.person.approver, channel: "inbox" };
  return attempt(parts, call, async (reviews) =>
    encodeSettled(await reviews.drop({ id, digest }, by)),
  );
}

/** The routes of reviews. To look at one freezes it, and so is no GET. */
export const REVIEW_ROUTES: readonly Route[] = [
  { method: "GET", path: "/api/reviews", access: "session", handle: list },
  { method: "POST", path: "/api/reviews/show", access: "session", handle: show },
  { method: "POST", path: "/api/reviews/prepare", access: "session", handle: prepare },
  { method: "POST", path: "/api/reviews/take", access: "session", handle: take },
  { method: "POST", path: "/api/reviews/drop", access: "session", handle: drop },
];
