/**
 * QuestionView: one question whole, and the ways to answer it. It never answers by itself, nor
 * while the inbox is not reached.
 */
import { argumentsView } from "./arguments-view.js";
import { createAnswering } from "./answering.js";
import { button, el, setText } from "./dom.js";
import { createEditor, diffView } from "./edit-view.js";
import { headOf, notesOn, offersOf, wordField } from "./question-parts.js";
import { scrollToTop, watchReading } from "./reading.js";
import { moveYes, refuseRepeats, yesSide } from "./side.js";
import { showLeft, showTime } from "./words.js";

/** @typedef {import("./types.js").Question} Question */
/** @typedef {import("./types.js").JsonObject} JsonObject */
/** @typedef {import("./store.js").Store} Store */
/**
 * @typedef {{ readonly store: Store, readonly pauses: PausesView, readonly id: string,
 * readonly goTo: (hash: string) => void, readonly nextId: () => string | undefined }} Terms
 */
/** @typedef {import("./pauses.js").PausesView} PausesView */
/**
 * What stands on the screen: the question, the field to edit, or what the edit changes. @typedef
 * {"question" | "edit" | "changes"} Stage
 */
/**
 * @typedef {object} Screen
 * @property {Terms} terms
 * @property {HTMLElement} element
 * @property {HTMLElement} body
 * @property {HTMLElement} notes
 * @property {HTMLElement} left
 * @property {HTMLElement} bar
 * @property {HTMLElement} yesRow - Where the yes stands, and nothing else ever.
 * @property {ReturnType<typeof makeButtons>} buttons
 * @property {ReturnType<typeof createAnswering>} answering
 * @property {Stage} stage
 * @property {Question | undefined} shown
 * @property {JsonObject | undefined} changed
 * @property {ReturnType<typeof watchReading> | undefined} reading
 * @property {ReturnType<typeof offersOf> | undefined} offers
 * @property {ReturnType<typeof wordField> | undefined} word
 * @property {ReturnType<typeof createEditor> | undefined} editor
 */

const SOON_MS = 30_000;

/** @param {() => Screen} screen */
function makeButtons(screen) {
  const goOn = () => {
    const { goTo, nextId } = screen().terms;
    const next = nextId();
    goTo(next === undefined ? "#/" : `#/q/${encodeURIComponent(next)}`);
  };
  return {
    no: button("Deny", {
      class: "danger",
      "data-testid": "deny",
      click: () => screen().answering.deny(),
    }),
    edit: button("Edit", {
      class: "quiet",
      "data-testid": "edit",
      click: () => show(screen(), "edit"),
    }),
    back: button("Back", {
      class: "quiet",
      "data-testid": "edit-back",
      click: () => stepBack(screen()),
    }),
    review: button("Review changes", {
      class: "primary",
      "data-testid": "review-changes",
      click: () => show(screen(), "changes"),
    }),
    readOn: button("Read on", {
      class: "more-below",
      "data-testid": "read-on",
      click: () => screen().reading?.readOn(),
    }),
    yes: button("Approve", {
      class: "primary",
      "data-testid": "approve",
      click: () => approve(screen()),
    }),
    pause: button("Pause agent", {
      class: "quiet",
      "data-testid": "pause-agent",
      click: () => pauseAgent(screen()),
    }),
    next: button("Next question", { class: "quiet next", "data-testid": "next", click: goOn }),
  };
}

/** Stops the agent that asks, also where this person may not answer it. @param {Screen} screen */
async function pauseAgent({ terms: { pauses, goTo }, shown }) {
  if (shown !== undefined && (await pauses.pause(shown.request.agent.id))) goTo("#/");
}

/** @param {Screen} screen */
function approve({ reading, buttons, answering, word }) {
  if (reading?.isRead() !== true || buttons.yes.disabled) return;
  if (answering.approve()) moveYes();
  else word?.focus();
}

/** Which buttons stand there, and which of them work. @param {Screen} screen */
function showActions({
  terms: { store, id, nextId, pauses },
  stage,
  shown,
  reading,
  answering,
  buttons,
  bar,
  yesRow,
}) {
  const isOpen =
    store.find(id) !== undefined && shown !== undefined && shown.may_answer && !shown.answered;
  const isSeen = reading?.isSeen() === true;
  const works = isOpen && store.isLive() && !answering.isBusy();
  const { no, edit, back, review, readOn, yes, next, pause } = buttons;
  no.hidden = edit.hidden = !isOpen || stage !== "question";
  back.hidden = !isOpen || stage === "question";
  review.hidden = !isOpen || stage !== "edit";
  readOn.hidden = !isOpen || stage === "edit" || isSeen;
  yes.hidden = !isOpen || stage === "edit" || !isSeen;
  pause.hidden =
    !pauses.mayPause() ||
    shown === undefined ||
    store.find(id) === undefined ||
    stage !== "question";
  pause.disabled = !store.isLive() || answering.isBusy();
  no.disabled = edit.disabled = !works;
  yes.disabled = !works || reading?.isRead() !== true;
  next.hidden = isOpen || shown === undefined;
  setText(next, nextId() === undefined ? "All questions" : "Next question");
  setText(yes, stage === "changes" ? "Approve changes" : "Approve");
  answering.show();
  // While this one is on the screen its yes stays where it is.
  yesRow.dataset["side"] ??= yesSide();
  bar.hidden = answering.element.hidden && Object.values(buttons).every((each) => each.hidden);
}

/** Watches whether what stands there now is shown to its end. @param {Screen} screen */
function watch(screen) {
  screen.reading?.stop();
  const { bar, body, buttons } = screen;
  screen.reading = watchReading({
    bar,
    onChange() {
      const hadFocus = document.activeElement === buttons.readOn;
      showActions(screen);
      // Never to the yes: whoever holds a key down would press it.
      if (hadFocus) body.focus({ preventScroll: true });
    },
  });
  return screen.reading.end;
}

/** @param {Screen} screen */
function editContent(screen) {
  const request = screen.shown?.request;
  if (request === undefined) return [];
  screen.editor ??= createEditor(request.action.parameters, (isReady) => {
    screen.buttons.review.disabled = !isReady;
  });
  return [headOf(request), screen.editor.element];
}

/** @type {(screen: Screen, question: Question) => readonly (HTMLElement | undefined)[]} */
function questionContent(screen, { request }) {
  screen.offers = offersOf(request);
  const text = el(
    "pre",
    { class: "text", "data-testid": "text", tabindex: "0", "aria-label": "The whole question" },
    request.text,
  );
  const deadline = `Open until ${showTime(Date.parse(request.expires_at), screen.terms.store.now())}. What nobody answers is denied.`;
  return [
    headOf(request),
    screen.notes,
    argumentsView(request.action.parameters),
    el(
      "section",
      { class: "whole" },
      el("h2", {}, "The whole question"),
      text,
      el("p", { class: "deadline" }, deadline),
    ),
    screen.offers.element,
  ];
}

/** @type {(screen: Screen, question: Question) => readonly HTMLElement[]} */
function contentOf(screen, question) {
  const { stage, changed } = screen;
  if (stage === "edit") return editContent(screen);
  screen.word = wordField(question.word);
  const { request } = question;
  const isChanged = stage === "changes" && changed !== undefined;
  const content = isChanged
    ? [headOf(request), diffView(request.action.parameters, changed)]
    : questionContent(screen, question);
  return [...content, screen.word.element, watch(screen)].filter((part) => part !== undefined);
}

/** @type {(screen: Screen, next: Stage) => void} */
function show(screen, next) {
  const { shown, body, editor } = screen;
  if (shown === undefined) return;
  const changed = next === "changes" ? editor?.value() : undefined;
  if (next === "changes" && changed === undefined) return;
  screen.changed = changed;
  if (next === "question") screen.editor = undefined;
  screen.stage = next;
  body.replaceChildren(...contentOf(screen, shown));
  scrollToTop();
  screen.reading?.look();
  showActions(screen);
  if (next === "edit") screen.editor?.focus();
  else focus(screen);
}

/** @param {Screen} screen */
const stepBack = (screen) => show(screen, screen.stage === "changes" ? "edit" : "question");

/** @param {Screen} screen */
function focus({ body }) {
  const title = body.querySelector("h1");
  if (title instanceof HTMLElement) title.focus({ preventScroll: true });
}

/** Shows the question as it is now. @param {Screen} screen */
function update(screen) {
  const { terms, body, notes, shown } = screen;
  const { store, id } = terms;
  const question = store.find(id) ?? store.over(id)?.question;
  if (question === undefined) {
    const text = store.isLive() ? "This question is not open" : "Not connected";
    body.replaceChildren(el("p", { class: "placeholder", "data-testid": "not-open" }, text));
    return showActions(screen);
  }
  const isOther =
    shown?.request.action_digest !== question.request.action_digest ||
    shown.request.text !== question.request.text;
  screen.shown = question;
  notes.replaceChildren(notesOn(question, store));
  if (isOther) {
    screen.stage = "question";
    screen.editor = screen.changed = undefined;
    body.replaceChildren(...contentOf(screen, question));
  }
  screen.reading?.look();
  showActions(screen);
}

/** @param {Screen} screen */
function tick({ terms: { store, id }, shown, left }) {
  const isOpen = shown !== undefined && store.find(id) !== undefined;
  const leftMs = isOpen ? Date.parse(shown.request.expires_at) - store.now() : 0;
  setText(left, !isOpen ? "" : leftMs <= 0 ? "time is over" : `${showLeft(leftMs)} left`);
  left.classList.toggle("soon", leftMs < SOON_MS);
}

/** Keys of the question: none of them says yes. @type {(screen: Screen, key: string) => boolean} */
function takeKey({ buttons: { no, edit, yes, readOn }, reading }, key) {
  if (key === "d" && !no.hidden && !no.disabled) no.click();
  else if (key === "e" && !edit.hidden && !edit.disabled) edit.click();
  else if (key === "a" && !yes.hidden) yes.focus();
  else if (key === "a" && !readOn.hidden) reading?.readOn();
  else return false;
  return true;
}

/** @type {(terms: Terms) => Screen} */
function makeScreen(terms) {
  const { id } = terms;
  const left = el("span", { class: "left", "data-testid": "time-left" });
  const back = el("a", { class: "back", href: "#/", "data-testid": "back" }, "Questions");
  const body = el("div", { class: "question-body", tabindex: "-1" });
  const bar = el("div", { class: "answer-bar", "data-testid": "answer-bar" });
  const top = el("div", { class: "view-bar" }, back, left);
  /** @type {Screen} */
  const screen = {
    terms,
    element: el(
      "article",
      { class: "question-view", "data-testid": "question-view", "data-id": id },
      top,
      body,
      bar,
    ),
    body,
    notes: el("div", { class: "notes-place" }),
    left,
    bar,
    yesRow: el("div", { class: "bar-row yes-row" }),
    buttons: makeButtons(() => screen),
    answering: createAnswering({
      ...terms,
      wish: () => wishOf(screen),
      onChange: () => showActions(screen),
    }),
    stage: "question",
    shown: undefined,
    changed: undefined,
    reading: undefined,
    offers: undefined,
    word: undefined,
    editor: undefined,
  };
  const { yes, ...others } = screen.buttons;
  screen.yesRow.append(refuseRepeats(yes));
  bar.append(
    screen.answering.element,
    el("div", { class: "bar-row" }, ...Object.values(others)),
    screen.yesRow,
  );
  return screen;
}

/** What the person chose besides yes or no. @param {Screen} screen */
const wishOf = ({ stage, offers, word, changed }) => ({
  grant: stage === "question" ? (offers?.chosen() ?? "") : "",
  word: word?.typed(),
  modifications: changed,
});

/** @param {Terms} terms */
export function createQuestionView(terms) {
  const screen = makeScreen(terms);
  update(screen);
  return {
    element: screen.element,
    focus: () => focus(screen),
    update: () => update(screen),
    tick: () => tick(screen),
    /** @param {string} key */
    key: (key) => takeKey(screen, key),
    /** Whether Escape stays inside. */
    leave() {
      if (screen.stage === "question") return false;
      stepBack(screen);
      return true;
    },
    close: () => screen.reading?.stop(),
  };
}
