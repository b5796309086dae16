/**
 * QuestionView: one question whole, and the ways to answer it. It never answers by itself, nor while the inbox is not reached.
 */
import { argumentsView } from "./arguments-view.js";
import { createAnswering } from "./answering.js";
import { button, el, setText } from "./dom.js";
import { createEditor, diffView } from "./edit-view.js";
import { headOf, notesOn, offersOf, wordField } from "./question-parts.js";
import { scrollToTop, watchReading } from "./reading.js";
import { showLeft, showTime } from "./words.js";

/** @typedef {import("./types.js").Question} Question */
/** @typedef {import("./types.js").JsonObject} JsonObject */
/** @typedef {import("./store.js").Store} Store */
/** What stands on the screen: the question, the field to edit, or what the edit changes. @typedef {"question" | "edit" | "changes"} Stage */

const SOON_MS = 30_000;

/** @param {{ readonly store: Store, readonly id: string, readonly goTo: (hash: string) => void }} terms */
export function createQuestionView({ store, id, goTo }) {
  const left = el("span", { class: "left", "data-testid": "time-left" });
  const back = el("a", { class: "back", href: "#/", "data-testid": "back" }, "Questions");
  const body = el("div", { class: "question-body" });
  const notes = el("div", {});
  const element = el(
    "article",
    { class: "question-view", "data-testid": "question-view", "data-id": id },
    el("div", { class: "view-bar" }, back, left),
    body,
  );

  /** @type {Stage} */
  let stage = "question";
  /** @type {Question | undefined} */
  let shown;
  /** @type {JsonObject | undefined} */
  let changed;
  const actions = el("div", { class: "answer-bar", "data-testid": "answer-bar" });
  let reading = watchReading({ bar: actions, onRead: () => {} });
  let offers = offersOf({ offers: [] });
  let word = wordField(null);
  /** @type {ReturnType<typeof createEditor> | undefined} */
  let editor;

  const answering = createAnswering({
    store,
    id,
    goTo,
    choice: () => ({ grant: stage === "question" ? offers.chosen() : "", word: word.typed(), modifications: changed }),
  });
  const readOn = button("Read on", { class: "primary", "data-testid": "read-on", click: () => reading.readOn() });
  const yes = button("Approve", { class: "primary", "data-testid": "approve", click: approve });
  const no = button("Deny", { class: "danger", "data-testid": "deny", click: () => answering.deny() });
  const edit = button("Edit", { class: "quiet", "data-testid": "edit", click: () => show("edit") });
  const toChanges = button("Review changes", { class: "primary", "data-testid": "review-changes", click: () => show("changes") });
  const cancel = button("Back", {
    class: "quiet",
    "data-testid": "edit-back",
    click: () => show(stage === "changes" ? "edit" : "question"),
  });
  actions.append(answering.element, no, edit, cancel, toChanges, readOn, yes);
  element.append(actions);

  function approve() {
    if (!reading.isRead() || yes.disabled) return;
    if (!answering.approve()) word.focus();
  }

  /** Which buttons stand there, and which of them work. */
  function showActions() {
    const isOpen = store.find(id) !== undefined;
    const isMine = shown !== undefined && shown.may_answer && !shown.answered;
    const works = isOpen && isMine && store.isLive() && !answering.isBusy();
    const isRead = reading.isRead();
    const visible = isOpen && isMine;
    no.hidden = !visible || stage !== "question";
    edit.hidden = !visible || stage !== "question";
    cancel.hidden = !visible || stage === "question";
    toChanges.hidden = !visible || stage !== "edit";
    readOn.hidden = !visible || stage === "edit" || isRead;
    yes.hidden = !visible || stage === "edit" || !isRead;
    for (const control of [no, edit, yes]) control.disabled = !works;
    setText(yes, stage === "changes" ? "Approve changes" : "Approve");
    answering.show();
    actions.classList.toggle("settled", !visible);
  }

  function watch() {
    reading.stop();
    const hadFocus = () => document.activeElement === readOn;
    reading = watchReading({
      bar: actions,
      onRead() {
        const isHere = hadFocus();
        showActions();
        // Never to the yes: whoever holds a key down would press it.
        if (isHere) body.focus({ preventScroll: true });
      },
    });
    return reading.end;
  }

  /** @param {Question} question */
  function contentOf(question) {
    const { request } = question;
    if (stage === "edit") {
      editor ??= createEditor(request.action.parameters, (isReady) => {
        toChanges.disabled = !isReady;
      });
      return [headOf(request), editor.element];
    }
    word = wordField(question.word);
    if (stage === "changes" && changed !== undefined)
      return [
        headOf(request),
        diffView(request.action.parameters, changed),
        watch(),
        ...(word.element === undefined ? [] : [word.element]),
      ];
    offers = offersOf(request);
    const text = el("pre", { class: "text", "data-testid": "text", tabindex: "0", "aria-label": "The whole question" }, request.text);
    const deadline = `Open until ${showTime(Date.parse(request.expires_at), store.now())}. What nobody answers is denied.`;
    return [
      headOf(request),
      notes,
      argumentsView(request.action.parameters),
      el("section", { class: "whole" }, el("h2", {}, "The whole question"), text, el("p", { class: "deadline" }, deadline)),
      watch(),
      ...[offers.element, word.element].filter((part) => part !== undefined),
    ];
  }

  /** @param {Stage} next */
  function show(next) {
    if (shown === undefined) return;
    if (next === "changes") changed = editor?.value();
    if (next === "changes" && changed === undefined) return;
    if (next !== "changes") changed = undefined;
    if (next === "question") editor = undefined;
    stage = next;
    body.replaceChildren(...contentOf(shown));
    scrollToTop();
    showActions();
    if (next === "edit") editor?.focus();
    else focus();
  }

  function focus() {
    const title = body.querySelector("h1");
    if (title instanceof HTMLElement) title.focus({ preventScroll: true });
  }

  /** Shows the question as it is now. */
  function update() {
    const question = store.find(id) ?? store.over(id)?.question;
    if (question === undefined) {
      body.replaceChildren(el("p", { class: "empty-title" }, store.isLive() ? "This question is not open" : "Not connected"));
      return showActions();
    }
    const isOther = shown?.request.action_digest !== question.request.action_digest || shown.request.text !== question.request.text;
    shown = question;
    notes.replaceChildren(notesOn(question, store));
    if (isOther) {
      [stage, editor, changed] = ["question", undefined, undefined];
      body.replaceChildren(...contentOf(question));
    }
    showActions();
  }

  body.tabIndex = -1;
  answering.onChange(showActions);
  update();
  return {
    element,
    focus,
    update,
    tick() {
      const isOpen = store.find(id) !== undefined;
      const leftMs = shown === undefined ? 0 : Date.parse(shown.request.expires_at) - store.now();
      setText(left, !isOpen || shown === undefined ? "" : leftMs <= 0 ? "time is over" : `${showLeft(leftMs)} left`);
      left.classList.toggle("soon", leftMs < SOON_MS);
    },
    /** Keys of the question: none of them says yes. @param {string} key */
    key(key) {
      if (key === "d" && !no.hidden && !no.disabled) no.click();
      else if (key === "e" && !edit.hidden && !edit.disabled) edit.click();
      else if (key === "a" && !yes.hidden) yes.focus();
      else if (key === "a" && !readOn.hidden) reading.readOn();
      else return false;
      return true;
    },
    /** Whether Escape stays inside. */
    leave() {
      if (stage === "question") return false;
      show(stage === "changes" ? "edit" : "question");
      return true;
    },
    close: () => reading.stop(),
  };
}
