/**
 * QuestionParts: the parts of one question on the screen. They show and ask; they answer nothing.
 */
import { el, fact } from "./dom.js";
import { escapeText, showName } from "./escape.js";
import { graverKind, levelOf, showAgent, showOffer, showStep, showTime } from "./words.js";

/** @typedef {import("./types.js").Question} Question */
/** @typedef {import("./types.js").ConsentRequest} ConsentRequest */
/** @typedef {import("./store.js").Store} Store */

/** @param {ConsentRequest} request */
export function headOf(request) {
  const level = levelOf(request);
  const { rule_id: ruleId, rule_name: ruleName } = request.policy;
  const rule = `${showName(ruleId)}${ruleName === "" ? "" : ` · ${escapeText(ruleName)}`}`;
  return el(
    "header",
    { class: "question-head" },
    el(
      "p",
      { class: "over-title" },
      el("span", { class: `risk ${level}`, "data-testid": "risk" }, `${level} risk`),
      el("span", {}, escapeText(request.action.category)),
    ),
    el("h1", { tabindex: "-1", "data-testid": "what" }, escapeText(request.action.description)),
    el(
      "dl",
      { class: "facts" },
      fact("Agent", showAgent(request.agent)),
      fact("Rule", el("span", { "data-testid": "rule" }, rule)),
    ),
  );
}

/**
 * What a yes takes and does besides: secrets, people, steps, passkey.
 *
 * @param {Question} question
 * @param {Store} store
 */
export function notesOn(
  { request, needs_passkey: needsPasskey, have, answered, may_answer: mayAnswer },
  store,
) {
  /** @type {[kind: string, text: string][]} */
  const notes = [];
  const isMissing = needsPasskey && mayAnswer && !answered && store.session()?.passkeys === 0;
  const graver = graverKind(request);
  if (graver !== undefined)
    notes.push(["graver", `Actions of this kind are rated ${graver}, whatever the rule says.`]);
  if (request.secrets.length > 0)
    notes.push([
      "secrets",
      `A yes releases the secrets ${request.secrets.map(showName).join(", ")}.`,
    ]);
  if (request.quorum > 1)
    notes.push([
      "quorum",
      `${have} of ${request.quorum} different people have said yes${answered ? ", you among them" : ""}. One no ends it.`,
    ]);
  for (const step of request.escalation ?? []) {
    const at = Date.parse(request.timestamp) + step.after_ms;
    notes.push([
      "escalation",
      `${at <= store.now() ? "Since" : "From"} ${showTime(at, store.now())} on: ${showStep(step)}.`,
    ]);
  }
  if (answered) notes.push(["waiting", "Your yes is counted. It waits for others."]);
  else if (!mayAnswer)
    notes.push(["waiting", "You may not answer this now; you see it so that you know of it."]);
  else if (needsPasskey) {
    notes.push([
      "passkey",
      isMissing
        ? "A yes takes a passkey, and you have none yet. A no takes none."
        : "A yes is signed with your passkey.",
    ]);
  }
  const rows = notes.map(([kind, text]) =>
    el("li", { class: kind, "data-testid": `note-${kind}` }, text),
  );
  if (isMissing)
    rows
      .at(-1)
      ?.append(" ", el("a", { href: "#/passkeys", "data-testid": "to-passkeys" }, "Add one"));
  return rows.length === 0 ? "" : el("ul", { class: "notes" }, ...rows);
}

/**
 * What the yes covers: this call, or one of the offers.
 *
 * @param {Pick<ConsentRequest, "offers">} request
 */
export function offersOf(request) {
  if (request.offers.length === 0) return { element: undefined, chosen: () => "" };
  const choices = [
    { id: "", label: "only this call" },
    ...request.offers.map((offer) => ({ id: offer.id, label: showOffer(offer) })),
  ];
  const inputs = choices.map(({ id }) =>
    el("input", {
      type: "radio",
      name: "offer",
      value: id,
      checked: id === "",
      "data-testid": id === "" ? "offer-none" : `offer-${id}`,
    }),
  );
  const labels = choices.map(({ label }, at) =>
    el("label", { class: "offer" }, inputs[at], el("span", {}, label)),
  );
  const element = el(
    "fieldset",
    { class: "offers", "data-testid": "offers" },
    el("legend", {}, "Your yes covers"),
    ...labels,
  );
  return { element, chosen: () => inputs.find(({ checked }) => checked)?.value ?? "" };
}

/**
 * The field for the word that a yes takes.
 *
 * @param {string | null} word
 */
export function wordField(word) {
  if (word === null) return { element: undefined, typed: () => undefined, focus: () => {} };
  const attributes = {
    id: "word",
    type: "text",
    autocomplete: "off",
    autocapitalize: "none",
    spellcheck: "false",
    maxlength: 64,
    "data-testid": "word",
  };
  const input = el("input", attributes);
  const label = el(
    "label",
    { for: "word" },
    "This is critical. For a yes, type ",
    el("strong", {}, word),
  );
  return {
    element: el("div", { class: "word" }, label, input),
    typed: () => input.value.trim().toLowerCase(),
    focus: () => input.focus(),
  };
}
