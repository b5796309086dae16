/**
 * ReviewView: what an agent wrote into an overlay of its workspace, frozen when it is shown, with
 * all of its lines; the person takes what they ticked, or throws all of it away. What is taken is
 * bound to the digest that stands there. Nothing is taken that was not shown to its end.
 */
import { Refused, request } from "./api.js";
import { button, el, fact, setText } from "./dom.js";
import { escapeText } from "./escape.js";
import { say } from "./live.js";
import { scrollToTop, watchReading } from "./reading.js";
import { describeReview } from "./reviews.js";
import { confirm } from "./sheet.js";
import { moveYes, refuseRepeats, yesSide } from "./side.js";
import { describeFailure, sign } from "./webauthn.js";

/** @typedef {import("./types.js").ReviewShown} ReviewShown */
/** @typedef {import("./types.js").ReviewRow} ReviewRow */
/** @typedef {import("./store.js").Store} Store */
/**
 * @typedef {{ readonly store: Store, readonly id: string, readonly goTo: (hash: string) => void,
 * readonly onSettled: () => void }} Terms
 */
/**
 * @typedef {object} Screen
 * @property {Terms} terms
 * @property {HTMLElement} element
 * @property {HTMLElement} body
 * @property {HTMLElement} bar
 * @property {HTMLElement} yesRow
 * @property {HTMLElement} outcome
 * @property {ReturnType<typeof makeButtons>} buttons
 * @property {ReturnType<typeof watchReading> | undefined} reading
 * @property {ReviewShown | undefined} shown
 * @property {Set<number>} picks
 * @property {"loading" | "open" | "busy" | "settled"} state
 */

const TEXTS = new Map([
  [
    "unreachable",
    "The inbox cannot be reached. Whether anything was taken is not known: look again when you are back.",
  ],
  [
    "review_changed",
    "It is not what was shown any more, and nothing was changed. This is what it is now.",
  ],
  ["review_running", "Its command is still running: end it first. Nothing was changed."],
  ["review_unknown", "There is no such review any more: it was settled elsewhere."],
  ["not_a_reviewer", "You may not see or take what agents wrote."],
  [
    "passkey_missing",
    "Taking this needs a passkey, and you haven't added one: see Passkeys. You can drop it without.",
  ],
]);

/** @type {Readonly<Record<ReviewRow["part"], string>>} */
const PARTS = {
  plain: "",
  apart: "Other programs run this by themselves. Tick it only if you know why it is here.",
  here: "Changed in the workspace since the command started: taken at a terminal only.",
  folder: "Comes with what is taken of it.",
};

/** @param {unknown} error */
function describe(error) {
  if (error instanceof Refused)
    return TEXTS.get(error.code) ?? `Not done: ${escapeText(error.message)}`;
  return describeFailure(error) ?? "Not done.";
}

/** @param {() => Screen} screen */
function makeButtons(screen) {
  return {
    drop: button("Drop all", {
      class: "danger",
      "data-testid": "review-drop",
      click: () => drop(screen()),
    }),
    again: button("Look again", {
      class: "quiet",
      "data-testid": "review-again",
      click: () => load(screen(), ""),
    }),
    readOn: button("Read on", {
      class: "more-below",
      "data-testid": "read-on",
      click: () => screen().reading?.readOn(),
    }),
    yes: button("Take", {
      class: "primary",
      "data-testid": "review-take",
      click: () => take(screen()),
    }),
  };
}

/** @type {(screen: Screen, text: string, tone: "good" | "bad" | "") => void} */
function tell({ outcome }, text, tone) {
  setText(outcome, text);
  outcome.dataset["tone"] = tone;
  outcome.hidden = text === "";
  if (text !== "") say(text);
}

/** Which buttons stand there, and which of them work. @param {Screen} screen */
function update({ terms: { store }, buttons, reading, shown, picks, state, bar, outcome, yesRow }) {
  const { drop: no, again, readOn, yes } = buttons;
  const isOpen = state === "open" && shown !== undefined;
  const isSeen = reading?.isSeen() === true;
  no.hidden = !isOpen || shown.running;
  again.hidden = state === "loading" || state === "busy";
  readOn.hidden = !isOpen || isSeen;
  yes.hidden = !isOpen || !isSeen || shown.rows.length === 0;
  no.disabled = again.disabled = !store.isLive();
  yes.disabled = !store.isLive() || picks.size === 0 || reading?.isRead() !== true;
  setText(yes, picks.size === 0 ? "Tick what to take" : `Take ${picks.size}`);
  yesRow.dataset["side"] ??= yesSide();
  bar.hidden = outcome.hidden && Object.values(buttons).every((each) => each.hidden);
}

/** @type {(screen: Screen, row: ReviewRow) => HTMLElement} */
function rowOf(screen, { index, text, lines, part }) {
  const canBePicked = part === "plain" || part === "apart";
  const onChange = (/** @type {Event} */ { target }) => {
    if (target instanceof HTMLInputElement && target.checked) screen.picks.add(index);
    else screen.picks.delete(index);
    update(screen);
  };
  const looks = {
    type: "checkbox",
    checked: part === "plain",
    disabled: !canBePicked,
    "data-testid": "review-pick",
  };
  const label = el(
    "label",
    {},
    el("input", { ...looks, change: onChange }),
    " ",
    el("strong", {}, escapeText(text)),
  );
  return el(
    "li",
    { class: "card", "data-testid": "review-change", "data-part": part },
    label,
    PARTS[part] === "" ? undefined : el("p", { class: "hint" }, PARTS[part]),
    lines.length === 0
      ? undefined
      : el("pre", { class: "text", tabindex: "0", "aria-label": "What differs" }, lines.join("\n")),
  );
}

/** @type {(screen: Screen, shown: ReviewShown) => readonly (HTMLElement | undefined)[]} */
function contentOf(screen, shown) {
  const {
    agent,
    command,
    rows,
    more,
    refused,
    complete,
    digest,
    needs_passkey: needsPasskey,
  } = shown;
  const { reading, terms } = screen;
  const hints = [
    ...(more === 0
      ? []
      : [`${more} more are not shown here, and not taken from here: settle them at a terminal.`]),
    ...(complete ? [] : ["There is more than can be shown; the rest is not taken."]),
    ...(needsPasskey ? ["Taking it takes your passkey."] : []),
  ];
  return [
    el("h1", { tabindex: "-1" }, `What ${escapeText(agent)} wrote`),
    el(
      "p",
      { class: "hint", "data-testid": "review-facts" },
      describeReview(shown, terms.store.now()),
    ),
    el(
      "dl",
      { class: "facts" },
      ...(command === undefined ? [] : [fact("Command", escapeText(command))]),
      fact("Digest", el("code", { "data-testid": "review-digest" }, digest)),
    ),
    rows.length === 0
      ? el("p", {}, "Nothing is different")
      : el("ol", { class: "cards" }, ...rows.map((row) => rowOf(screen, row))),
    refused.length === 0
      ? undefined
      : el(
          "section",
          { "data-testid": "review-refused" },
          el("h2", {}, "Never taken"),
          el("pre", { class: "text" }, refused.join("\n")),
        ),
    ...hints.map((hint) => el("p", { class: "hint" }, hint)),
    reading?.end,
  ];
}

/** Freezes it and shows that. @type {(screen: Screen, why: string) => Promise<void>} */
async function load(screen, why) {
  const { terms, body, bar, picks, element } = screen;
  if (screen.state === "busy") return;
  screen.state = "loading";
  screen.reading?.stop();
  // What is shown anew has its yes where no other was tapped.
  screen.yesRow.dataset["side"] = yesSide();
  update(screen);
  try {
    /** @type {ReviewShown} */
    const shown = await request("POST", "/api/reviews/show", { review: terms.id });
    screen.shown = shown;
    picks.clear();
    for (const { index, part } of shown.rows) if (part === "plain") picks.add(index);
    screen.reading = watchReading({ bar, onChange: () => update(screen) });
    screen.state = "open";
    body.replaceChildren(...contentOf(screen, shown).filter((part) => part !== undefined));
    element.dataset["digest"] = shown.digest;
    tell(screen, why, why === "" ? "" : "bad");
    scrollToTop();
    screen.reading.look();
  } catch (error) {
    screen.state = "settled";
    tell(screen, describe(error), "bad");
  }
  update(screen);
}

/**
 * Does it; where it is not what was shown any more, shows what it is. @type {(screen: Screen, act:
 * () => Promise<{ readonly lines: readonly string[], readonly whole: boolean }>) => Promise<void>}
 */
async function settle(screen, act) {
  screen.state = "busy";
  tell(screen, "Sending…", "");
  update(screen);
  try {
    const { lines, whole } = await act();
    screen.state = "settled";
    tell(screen, lines.map(escapeText).join(". "), whole ? "good" : "bad");
    screen.terms.onSettled();
  } catch (error) {
    screen.state = "open";
    tell(screen, describe(error), "bad");
    if (error instanceof Refused && error.code === "review_changed")
      await load(screen, describe(error));
    // Not known whether it was done: what is there now says so.
    else if (error instanceof Refused && error.code === "unreachable") screen.state = "settled";
  }
  update(screen);
}

/** @param {Screen} screen */
async function take(screen) {
  const { shown, picks, buttons, reading, terms } = screen;
  if (
    shown === undefined ||
    screen.state !== "open" ||
    buttons.yes.disabled ||
    reading?.isRead() !== true
  )
    return;
  moveYes();
  const order = {
    review: terms.id,
    digest: shown.digest,
    picks: [...picks].toSorted((one, other) => one - other),
  };
  await settle(screen, async () => {
    const { ticket, passkey } = await request("POST", "/api/reviews/prepare", order);
    if (passkey === null) return request("POST", "/api/reviews/take", { ticket });
    tell(screen, "Confirm with your passkey…", "");
    return request("POST", "/api/reviews/take", { ticket, assertion: await sign(passkey) });
  });
}

/** @param {Screen} screen */
async function drop(screen) {
  const { shown, terms } = screen;
  if (shown === undefined || screen.state !== "open") return;
  const isSure = await confirm({
    title: "Drop all of it?",
    text: "What the command wrote is thrown away for good. The workspace stays as it is.",
    action: "Drop",
    testid: "review-drop",
  });
  if (isSure)
    await settle(screen, () =>
      request("POST", "/api/reviews/drop", { review: terms.id, digest: shown.digest }),
    );
}

/** @param {Terms} terms */
export function createReviewView(terms) {
  const body = el(
    "div",
    { class: "question-body", tabindex: "-1" },
    el("h1", { tabindex: "-1" }, "Looking at what was written…"),
  );
  const bar = el("div", { class: "answer-bar", "data-testid": "answer-bar" });
  const back = el("a", { class: "back", href: "#/", "data-testid": "back" }, "Questions");
  const names = { class: "question-view", "data-testid": "review-view", "data-id": terms.id };
  /** @type {Screen} */
  const screen = {
    terms,
    element: el("article", names, el("div", { class: "view-bar" }, back), body, bar),
    body,
    bar,
    yesRow: el("div", { class: "bar-row yes-row" }),
    outcome: el("p", { class: "outcome", role: "status", "data-testid": "outcome", hidden: true }),
    buttons: makeButtons(() => screen),
    reading: undefined,
    shown: undefined,
    picks: new Set(),
    state: "loading",
  };
  const { yes, ...others } = screen.buttons;
  screen.yesRow.append(refuseRepeats(yes));
  bar.append(
    screen.outcome,
    el("div", { class: "bar-row" }, ...Object.values(others)),
    screen.yesRow,
  );
  void load(screen, "");
  return {
    element: screen.element,
    update: () => update(screen),
    close: () => screen.reading?.stop(),
  };
}
