/**
 * BatchView: several low-risk questions answered together, each one's text whole on this screen first, each bound to the action that was shown.
 */
import { askReason, describeProblem, describeReceipt } from "./answering.js";
import { request } from "./api.js";
import { button, el, setText } from "./dom.js";
import { escapeText, showName } from "./escape.js";
import { say } from "./live.js";
import { isBatchable } from "./question-row.js";
import { watchReading } from "./reading.js";
import { showEnd } from "./words.js";

/** @typedef {import("./types.js").Question} Question */
/** @typedef {import("./types.js").Receipt} Receipt */
/** @typedef {import("./store.js").Store} Store */
/** @typedef {{ readonly store: Store, readonly questions: readonly Question[], readonly onDone: () => void }} Terms */
/**
 * @typedef {object} Batch
 * @property {Terms} terms
 * @property {HTMLElement} bar
 * @property {ReadonlyMap<string, ReturnType<typeof cardOf>>} cards
 * @property {HTMLElement} outcome
 * @property {ReturnType<typeof makeButtons>} buttons
 * @property {ReturnType<typeof watchReading>} reading
 * @property {"open" | "busy" | "sent"} state
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
    no: button("Deny", { class: "danger", "data-testid": "batch-deny", click: () => deny(batch()) }),
    readOn: button("Read on", { class: "more-below", "data-testid": "read-on", click: () => batch().reading.readOn() }),
    yes: button("Approve", { class: "primary", "data-testid": "batch-approve", click: () => send(batch(), "approved") }),
  };
}

/** Those that are still as they were shown. @param {Batch} batch */
const stillOpen = ({ terms: { store, questions } }) =>
  questions.filter(({ request: { id, action_digest: digest, text } }) => {
    const now = store.find(id);
    return now !== undefined && isBatchable(now) && now.request.action_digest === digest && now.request.text === text;
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
  buttons.yes.disabled = buttons.no.disabled || !reading.isRead();
  setText(buttons.yes, `Approve ${still.size}`);
  setText(buttons.no, `Deny ${still.size}`);
  buttons.readOn.hidden = isSeen || isSent;
  buttons.yes.hidden = !isSeen || isSent;
  buttons.no.hidden = isSent;
  for (const [id, { element, outcome: own }] of cards) {
    element.classList.toggle("gone", !still.has(id));
    const status = store.over(id)?.ended.status;
    if (status !== undefined) mark(own, `${showEnd(status)}.`, status.startsWith("approved") ? "good" : "bad");
  }
  if (!store.isLive() && !isSent) mark(outcome, "Not connected: nothing can be answered.", "bad");
}

/** @param {Batch} batch */
async function deny(batch) {
  const reason = await askReason(`Deny ${stillOpen(batch).length}`);
  if (reason !== undefined) await send(batch, "denied", reason);
}

/** @type {(batch: Batch, decision: "approved" | "denied", receipts: readonly { readonly request_id: string, readonly receipt: Receipt }[]) => void} */
function take({ cards, outcome }, decision, receipts) {
  const refused = receipts.filter(({ receipt }) => receipt.status === "refused").length;
  for (const { request_id: id, receipt } of receipts) {
    const { text, tone } = describeReceipt(receipt);
    const card = cards.get(id);
    if (card !== undefined) mark(card.outcome, text, tone);
  }
  const done = `${decision === "approved" ? "Approved" : "Denied"}: ${receipts.length - refused}.`;
  mark(outcome, refused === 0 ? done : `${done} Not taken: ${refused}; each says why.`, refused === 0 ? "good" : "bad");
}

/** @type {(batch: Batch, decision: "approved" | "denied", reason?: string) => Promise<void>} */
async function send(batch, decision, reason = "") {
  const { terms, reading, outcome } = batch;
  if (batch.state !== "open" || !terms.store.isLive() || (decision === "approved" && !reading.isRead())) return;
  const items = stillOpen(batch).map(({ request: { id, action_digest: digest } }) => ({ request_id: id, action_digest: digest }));
  batch.state = "busy";
  mark(outcome, "Sending…", "");
  update(batch);
  try {
    const { receipts } = await request("POST", "/api/answers/batch", { items, decision, ...(reason === "" ? {} : { reason }) });
    batch.state = "sent";
    take(batch, decision, receipts);
    terms.onDone();
  } catch (error) {
    batch.state = "open";
    mark(outcome, describeProblem(error), "bad");
  }
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
  };
  const { cards, outcome, buttons, reading } = batch;
  bar.append(outcome, buttons.no, buttons.readOn, buttons.yes);
  const list = el("ol", { class: "cards" }, ...Array.from(cards.values(), ({ element }) => element));
  const title = el("h1", { tabindex: "-1" }, `${terms.questions.length} low-risk questions`);
  const back = el("a", { class: "back", href: "#/", "data-testid": "back" }, "Questions");
  const body = el("div", { class: "question-body" }, title, list, reading.end);
  update(batch);
  return {
    element: el("article", { class: "question-view", "data-testid": "batch-view" }, el("div", { class: "view-bar" }, back), body, bar),
    update: () => update(batch),
    close: () => reading.stop(),
  };
}
