/**
 * Callbacks that decide nothing: each says yes to a question, and is wrong in one way.
 */
import type { ManualClock } from "@acp/testing";
import { signatureOf, yesTo } from "./gate-bench.js";
import { OTHER_SECRET, type Taken, signed } from "./receiver.js";

/** What it is like, the code that it is refused with, and how to make it for a question. */
export const WRONG_CALLBACKS: readonly (readonly [
  string,
  string,
  (question: Taken, clock: ManualClock) => ReturnType<typeof signed>,
])[] = [
  [
    "without a signature",
    "headers_missing",
    (question, clock) => ({ headers: {}, body: yesTo(question, clock) }),
  ],
  [
    "with another secret",
    "signature_invalid",
    (question, clock) =>
      signed(yesTo(question, clock), { nowMs: clock.now(), secret: OTHER_SECRET }),
  ],
  [
    "with a body that was changed",
    "signature_invalid",
    (question, clock) => ({
      ...signed(yesTo(question, clock, { decision: "denied" }), { nowMs: clock.now() }),
      body: yesTo(question, clock),
    }),
  ],
  [
    "with the signature of the question",
    "signature_invalid",
    (question, clock) => ({ headers: signatureOf(question), body: yesTo(question, clock) }),
  ],
  [
    "that is the question itself",
    "response_invalid",
    (question) => ({ headers: signatureOf(question), body: question.body }),
  ],
  [
    "with an old time",
    "timestamp_outside_tolerance",
    (question, clock) => signed(yesTo(question, clock), { nowMs: clock.now() - 301_000 }),
  ],
  [
    "with a time to come",
    "timestamp_outside_tolerance",
    (question, clock) => signed(yesTo(question, clock), { nowMs: clock.now() + 302_000 }),
  ],
  [
    "for another question",
    "request_unknown",
    (question, clock) =>
      signed(yesTo(question, clock, { request_id: "cr_other" }), { nowMs: clock.now() }),
  ],
  [
    "with the nonce of another question",
    "nonce_mismatch",
    (question, clock) =>
      signed(yesTo(question, clock, { nonce: "n_other" }), { nowMs: clock.now() }),
  ],
  [
    "of a stranger",
    "approver_unknown",
    (question, clock) =>
      signed(yesTo(question, clock, { approver: { id: "mallory", channel: "webhook" } }), {
        nowMs: clock.now(),
      }),
  ],
  [
    "that says approved: no",
    "response_invalid",
    (_question, clock) => signed('{"approved":"no"}', { nowMs: clock.now() }),
  ],
  [
    "whose validity is over",
    "response_invalid",
    (question, clock) =>
      signed(
        yesTo(question, clock, {
          conditions: { valid_until: "2001-01-01T00:00:00.000Z", single_use: true },
        }),
        {
          nowMs: clock.now(),
        },
      ),
  ],
  [
    "that is too long",
    "body_too_large",
    (question, clock) =>
      signed(yesTo(question, clock) + " ".repeat(2 * 1024 * 1024), { nowMs: clock.now() }),
  ],
];
