/**
 * BatchView: several low-risk questions answered together, each one's text whole on this screen first, each bound to the action that was shown.
 */
import { request } from "./api.js";
import { describeProblem } from "./answering.js";
import { button, el, setText } from "./dom.js";
import { escapeText, showName } from "./escape.js";
import { isBatchable } from "./list-view.js";
import { say } from "./live.js";
import { watchReading } from "./reading.js";
import { ask } from "./sheet.js";
import { showEnd, showRefusal } from "./words.js";

/** @typedef {import("./types.js").Question} Question */
/** @typedef {import("./types.js").Receipt} Receipt */
/** @typedef {import("./store.js").Store} Store */

const REASON_CHARS_MAX = 1_000;

/** @param {Receipt} receipt */
function describeReceipt(receipt) {
  if (receipt.status === "final") return showEnd(receipt.outcome);
  if (receipt.status === "counted") return `Your yes is counted: ${receipt.have} of ${receipt.need}.`;
  return receipt.status === "refused" ? showRefusal(receipt.code, receipt.reason) : "A new question takes its place.";
}

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

/** @param {{ readonly store: Store, readonly questions: readonly Question[], readonly onDone: () => void }} terms */
export function createBatchView({ store, questions, onDone }) {
  const cards = new Map(questions.map((question) => [question.request.id, cardOf(question)]));
  const outcome = el("p", { class: "outcome", role: "status", "data-testid": "outcome", hidden: true });
  const bar = el("div", { class: "answer-bar", "data-testid": "answer-bar" });
  const reading = watchReading({ bar, onRead: () => update() });
  const yes = button("Approve", { class: "primary", "data-testid": "batch-approve", click: () => send("approved") });
  const readOn = button("Read on", { class: "primary", "data-testid": "read-on", click: () => reading.readOn() });
  const no = button("Deny", { class: "danger", "data-testid": "batch-deny", click: deny });
  let isBusy = false;
  let isSent = false;
  const element = el(
    "article",
    { class: "question-view", "data-testid": "batch-view" },
    el("div", { class: "view-bar" }, el("a", { class: "back", href: "#/", "data-testid": "back" }, "Questions")),
    el(
      "div",
      { class: "question-body" },
      el("h1", { tabindex: "-1" }, `${questions.length} low-risk questions`),
      el("ol", { class: "cards" }, ...[...cards.values()].map((card) => card.element)),
      reading.end,
    ),
    bar,
  );
  bar.append(outcome, no, readOn, yes);

  /** Those that are still as they were shown. */
  const open = () =>
    questions.filter(({ request: { id, action_digest: digest, text } }) => {
      const now = store.find(id);
      return now !== undefined && isBatchable(now) && now.request.action_digest === digest && now.request.text === text;
    });

  function update() {
    const still = new Set(open().map(({ request: { id } }) => id));
    const works = still.size > 0 && store.isLive() && !isBusy && !isSent;
    for (const control of [yes, no]) control.disabled = !works;
    setText(yes, `Approve ${still.size}`);
    setText(no, `Deny ${still.size}`);
    readOn.hidden = reading.isRead() || isSent;
    yes.hidden = !reading.isRead() || isSent;
    no.hidden = isSent;
    for (const [id, { element: card, outcome: own }] of cards) {
      card.classList.toggle("gone", !still.has(id));
      const over = store.over(id);
      if (over !== undefined) mark(own, showEnd(over.ended.status), over.ended.status.startsWith("approved") ? "good" : "bad");
    }
    if (!store.isLive() && !isSent) mark(outcome, "Not connected: nothing can be answered.", "bad");
    else if (!isBusy && !isSent) outcome.hidden = true;
  }

  /** @type {(element: HTMLElement, text: string, tone: string) => void} */
  function mark(target, text, tone) {
    setText(target, text);
    target.dataset["tone"] = tone;
    target.hidden = false;
  }

  async function deny() {
    const reason = await ask({
      title: `Deny ${open().length}`,
      label: "Why, or what instead (the agent reads it)",
      action: "Deny",
      style: "danger",
      testid: "deny",
      charsMax: REASON_CHARS_MAX,
      isLong: true,
    });
    if (reason !== undefined) await send("denied", reason.trim());
  }

  /** @type {(decision: "approved" | "denied", reason?: string) => Promise<void>} */
  async function send(decision, reason = "") {
    if (isBusy || isSent || !store.isLive() || (decision === "approved" && !reading.isRead())) return;
    const items = open().map(({ request: { id, action_digest: digest } }) => ({ request_id: id, action_digest: digest }));
    isBusy = true;
    mark(outcome, "Sending…", "");
    update();
    try {
      /** @type {{ readonly receipts: readonly { readonly request_id: string, readonly receipt: Receipt }[] }} */
      const { receipts } = await request("POST", "/api/answers/batch", { items, decision, ...(reason === "" ? {} : { reason }) });
      isSent = true;
      const refused = receipts.filter(({ receipt }) => receipt.status === "refused");
      for (const { request_id: id, receipt } of receipts) {
        const card = cards.get(id);
        if (card !== undefined) mark(card.outcome, describeReceipt(receipt), receipt.status === "refused" ? "bad" : "good");
      }
      const done = receipts.length - refused.length;
      mark(
        outcome,
        `${decision === "approved" ? "Approved" : "Denied"} ${done}${refused.length === 0 ? "." : `, not taken ${refused.length}: see each above.`}`,
        refused.length === 0 ? "good" : "bad",
      );
      onDone();
    } catch (error) {
      mark(outcome, describeProblem(error), "bad");
    } finally {
      isBusy = false;
      update();
      say(outcome.textContent ?? "");
    }
  }

  update();
  return { element, update, close: () => reading.stop() };
}
