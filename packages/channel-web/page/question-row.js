/**
 * QuestionRow: one question in the list: risk, who, what, the beginning of its arguments, time
 * left.
 */
import { el } from "./dom.js";
import { escapeText, showName } from "./escape.js";
import { levelOf, previewOf } from "./words.js";

/** @typedef {import("./types.js").Question} Question */
/**
 * @typedef {object} Row
 * @property {HTMLLIElement} element
 * @property {HTMLElement} left
 * @property {HTMLInputElement} box
 * @property {HTMLAnchorElement} link
 * @property {Question} question
 * @property {number} expiresAt
 * @property {string} words - What the filter looks at.
 */

/** Approved together: nobody reads more. A no takes no reading, and has no such bound. */
export const APPROVE_MAX = 100;

/**
 * Whether a question may be answered together with others: low, no passkey, no word, mine to
 * answer.
 *
 * @param {Question} question
 */
export const isBatchable = (question) =>
  levelOf(question.request) === "low" &&
  !question.needs_passkey &&
  question.word === null &&
  isMine(question);

/** Whether it waits for this person. @param {Question} question */
export const isMine = ({ may_answer: mayAnswer, answered }) => mayAnswer && !answered;

/** @param {Question} question */
function remarksOn({
  request,
  needs_passkey: needsPasskey,
  answered,
  may_answer: mayAnswer,
  have,
}) {
  return [
    ...(answered ? ["your yes is counted"] : mayAnswer ? [] : ["waits for others"]),
    ...(request.quorum > 1 ? [`${have} of ${request.quorum} people`] : []),
    ...(needsPasskey && !answered ? ["passkey"] : []),
    ...(request.secrets.length > 0 ? ["secrets"] : []),
  ].join(" · ");
}

/**
 * @param {Question} question
 * @param {(row: Row) => void} onPick
 * @returns {Row}
 */
export function makeRow(question, onPick) {
  const { request } = question;
  const { id, agent, action } = request;
  const level = levelOf(request);
  const what = escapeText(action.description);
  const preview = previewOf(request);
  const remarks = remarksOn(question);
  const left = el("span", { class: "left", "data-testid": "left" });
  const box = el("input", {
    type: "checkbox",
    "data-testid": "pick",
    "aria-label": `Select: ${what}, ${preview}`,
    change: () => onPick(row),
  });
  const link = el(
    "a",
    { href: `#/q/${encodeURIComponent(id)}` },
    el(
      "span",
      { class: "row-top" },
      el("span", { class: `risk ${level}` }, level),
      el("span", { class: "agent" }, showName(agent.id)),
      left,
    ),
    el("span", { class: "what" }, what),
    el("span", { class: "preview" }, preview),
    remarks === "" ? undefined : el("span", { class: "remarks" }, remarks),
  );
  const names = {
    class: isMine(question) ? "row" : "row theirs",
    "data-testid": "question",
    "data-id": id,
    "data-risk": level,
  };
  const element = el("li", names, el("label", { class: "pick" }, box), link);
  const words = `${level} ${agent.id} ${what} ${preview}`.toLowerCase();
  /** @type {Row} */
  const row = {
    element,
    left,
    box,
    link,
    question,
    words,
    expiresAt: Date.parse(request.expires_at),
  };
  return row;
}
