/**
 * BatchView: several low-risk questions answered together, each one's text whole on this screen
 * first, each bound to the action that was shown.
 */
import { askReason } from "./answering.js";
import { request } from "./api.js";
import { resultOf, sumUp } from "./batch-result.js";
import { sendBatch } from "./batch-send.js";
import { button, el, setText } from "./dom.js";
import { escapeText, showName } from "./escape.js";
import { say } from "./live.js";
import { APPROVE_MAX, isBatchable } from "./question-row.js";
import { watchReading } from "./reading.js";
import { moveYes, refuseRepeats, yesSide } from "./side.js";

/** @typedef {import("./types.js").Question} Question */
/** @typedef {import("./types.js").Receipt} Receipt */
/** @typedef {import("./store.js").Store} Store */
/**
 * @typedef {{ readonly store: Store, readonly questions: readonly Question[], readonly onDone: ()
 * => void }} Terms
 */
/**
 * @typedef {object} Batch
 * @property {Terms} terms
 * @property {HTMLElement} bar
 * @property {ReadonlyMap<string, ReturnType<typeof cardOf>>} cards
 * @property {HTMLElement} outcome
 * @property {ReturnType<typeof makeButtons>} buttons
 * @property {ReturnType<typeof watchReading>} reading
 * @property {"open" | "busy" | "sent"} state
 * @property {"approved" | "denied"} decision
 * @property {Map<string, Receipt | undefined>} sent - The answers that were given, with their
 *   receipts.
 */

/** @param {Question} question */
function cardOf({ request: { id, agent, action, text } }) {
  const outcome = el("p", { class: "outcome", hidden: true, "data-testid": "batch-outcome" });
  const element = el(
    "li",
    { class: "card", "data-testid": "batch-item", "data-id": id },
    el("h2", {}, escapeText(action.description)),
    el("p", { class: "hint" }, showName(agent.id)),
    el("pre", { class: "text", tabindex: "0", "aria-label": "The whole question" }, text),
    outcome,
  );
  return { element, outcome };
}

/** @param {() => Batch} batch */
function makeButtons(batch) {
  return {
    no: button("Deny", {
      class: "danger",
      "data-testid": "batch-deny",
      click: () => deny(batch()),
    }),
    readOn: button("Read on", {
      class: "more-below",
      "data-testid": "read-on",
      click: () => batch().reading.readOn(),
    }),
    yes: button("Approve", {
      class: "primary",
      "data-testid": "batch-approve",
      click: () => send(batch(), "approved"),
    }),
  };
}

/** Those that are still as they were shown. @param {Batch} batch */
const stillOpen = ({ terms: { store, questions } }) =>
  questions.filter(({ request: { id, action_digest: digest, text } }) => {
    const now = store.find(id);
    return (
      now !== undefined &&
      isBatchable(now) &&
      now.request.action_digest === digest &&
      now.request.text === text
    );
  });

/** @type {(target: HTMLElement, text: string, tone: string) => void} */
function mark(target, text, tone) {
  setText(target, text);
  target.dataset["tone"] = tone;
  target.hidden = text === "";
}

/** @param {Batch} batch */
function update(batch) {
  const { terms, cards, buttons, reading, outcome, state } = batch;
  const { store } = terms;
  const still = new Set(stillOpen(batch).map(({ request: { id } }) => id));
  const isSent = state === "sent";
  reading.look();
  const isSeen = reading.isSeen();
  buttons.no.disabled = still.size === 0 || !store.isLive() || state !== "open";
  const isTooMany = still.size > APPROVE_MAX;
  buttons.yes.disabled = buttons.no.disabled || isTooMany || !reading.isRead();
  setText(
    buttons.yes,
    isTooMany ? `Approve: at most ${APPROVE_MAX} at once` : `Approve ${still.size}`,
  );
  setText(buttons.no, `Deny ${still.size}`);
  buttons.readOn.hidden = isSeen || isSent;
  buttons.yes.hidden = !isSeen || isSent;
  buttons.no.hidden = isSent;
  for (const [id, { element, outcome: own }] of cards) {
    element.classList.toggle("gone", !still.has(id));
    const { text, tone } = resultOf(batch.sent.get(id), store.over(id)?.ended);
    mark(own, text, tone);
  }
  if (state === "busy") mark(outcome, `Sending… ${countReceipts(batch)} of ${batch.sent.size}`, "");
  else if (isSent) {
    const { text, tone } = sumUp(
      batch.decision,
      Array.from(batch.sent, ([id, receipt]) => resultOf(receipt, store.over(id)?.ended)),
    );
    mark(outcome, text, tone);
  } else if (!store.isLive()) mark(outcome, "Not connected: nothing can be answered.", "bad");
}

/** @param {Batch} batch */
const countReceipts = ({ sent }) =>
  [...sent.values()].filter((receipt) => receipt !== undefined).length;

/** @param {Batch} batch */
async function deny(batch) {
  const reason = await askReason(`Deny ${stillOpen(batch).length}`);
  if (reason !== undefined) await send(batch, "denied", reason);
}

/** @type {(batch: Batch, decision: "approved" | "denied", reason?: string) => Promise<void>} */
async function send(batch, decision, reason = "") {
  const { terms, reading, outcome, sent } = batch;
  if (
    batch.state !== "open" ||
    !terms.store.isLive() ||
    (decision === "approved" && !reading.isRead())
  )
    return;
  const still = stillOpen(batch);
  if (decision === "approved" && still.length > APPROVE_MAX) return;
  const items = still.map(({ request: { id, action_digest: digest } }) => ({
    request_id: id,
    action_digest: digest,
  }));
  if (decision === "approved") moveYes();
  batch.state = "busy";
  batch.decision = decision;
  for (const { request_id: id } of items) sent.set(id, undefined);
  update(batch);
  await sendBatch({
    items,
    decision,
    reason,
    post: (body) => request("POST", "/api/answers/batch", body),
    take(id, receipt) {
      sent.set(id, receipt);
      if (countReceipts(batch) % 25 === 0) update(batch);
    },
  });
  batch.state = "sent";
  terms.onDone();
  update(batch);
  say(outcome.textContent ?? "");
}

/** @param {Terms} terms */
export function createBatchView(terms) {
  const bar = el("div", { class: "answer-bar", "data-testid": "answer-bar" });
  /** @type {Batch} */
  const batch = {
    terms,
    bar,
    cards: new Map(terms.questions.map((question) => [question.request.id, cardOf(question)])),
    outcome: el("p", { class: "outcome", role: "status", "data-testid": "outcome", hidden: true }),
    buttons: makeButtons(() => batch),
    reading: watchReading({ bar, onChange: () => update(batch) }),
    state: "open",
    decision: "denied",
    sent: new Map(),
  };
  const { cards, outcome, buttons, reading } = batch;
  const yesRow = el(
    "div",
    { class: "bar-row yes-row", "data-side": yesSide() },
    refuseRepeats(buttons.yes),
  );
  bar.append(outcome, el("div", { class: "bar-row" }, buttons.no, buttons.readOn), yesRow);
  const list = el(
    "ol",
    { class: "cards" },
    ...Array.from(cards.values(), ({ element }) => element),
  );
  const title = el("h1", { tabindex: "-1" }, `${terms.questions.length} low-risk questions`);
  const back = el("a", { class: "back", href: "#/", "data-testid": "back" }, "Questions");
  const body = el("div", { class: "question-body" }, title, list, reading.end);
  update(batch);
  return {
    element: el(
      "article",
      { class: "question-view", "data-testid": "batch-view" },
      el("div", { class: "view-bar" }, back),
      body,
      bar,
    ),
    update: () => update(batch),
    close: () => reading.stop(),
  };
}
