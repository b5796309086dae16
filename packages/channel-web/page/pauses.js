/**
 * Pauses: stops one agent, and with it all that it asks, and lets it go on again. Only who operates
 * the gates sees any of this.
 */
import { Refused, request } from "./api.js";
import { button, el, setText } from "./dom.js";
import { escapeText, showName } from "./escape.js";
import { say } from "./live.js";
import { confirm } from "./sheet.js";
import { showTime } from "./words.js";

/** @typedef {import("./types.js").PausedAgent} PausedAgent */
/** @typedef {import("./store.js").Store} Store */
/**
 * @typedef {object} Pauses
 * @property {Store} store
 * @property {HTMLElement} element
 * @property {HTMLElement} list
 * @property {HTMLElement} outcome
 * @property {boolean} mayPause
 * @property {string} shown - What the list was made of.
 * @property {() => void} onChange
 */

/** Somebody may pause or resume an agent elsewhere: with `acp pause`, or at another screen. */
const LOOK_EVERY_MS = 10_000;

const TEXTS = new Map([
  [
    "unreachable",
    "The inbox cannot be reached. Whether it was done is not known: look again when you are back.",
  ],
  ["not_an_operator", "You may not pause or resume agents. Nothing was changed."],
  [
    "pauses_unavailable",
    "The inbox could not do it, or not all of it. Look at the list, and try again.",
  ],
]);

/** @param {unknown} error */
const describe = (error) =>
  error instanceof Refused
    ? (TEXTS.get(error.code) ?? `Not done: ${escapeText(error.message)}`)
    : "Not done.";

/** @type {(pauses: Pauses, text: string, tone: "good" | "bad") => void} */
function tell({ outcome }, text, tone) {
  setText(outcome, text);
  outcome.dataset["tone"] = tone;
  outcome.hidden = text === "";
  say(text);
}

/** @type {(count: number) => string} */
const questions = (count) => `${count} open ${count === 1 ? "question" : "questions"}`;

/** @type {(pauses: Pauses, paused: PausedAgent) => HTMLElement} */
function rowOf(pauses, { agent, until }) {
  const how =
    until === undefined
      ? "Paused until you resume it"
      : `Paused until ${showTime(until, pauses.store.now())}`;
  const label = {
    class: "quiet small",
    "data-testid": "resume",
    "aria-label": `Resume ${escapeText(agent)}`,
  };
  return el(
    "li",
    { class: "card paused", "data-testid": "paused-agent" },
    el("div", {}, el("strong", {}, showName(agent)), el("span", { class: "hint" }, how)),
    button("Resume", { ...label, click: () => resume(pauses, agent) }),
  );
}

/** @param {Pauses} pauses */
async function load(pauses) {
  try {
    /** @type {{ readonly may_pause: boolean, readonly agents: readonly PausedAgent[] }} */
    const { may_pause: mayPause, agents } = await request("GET", "/api/pauses");
    pauses.mayPause = mayPause;
    const shown = JSON.stringify(agents);
    // A button that somebody is about to press stays where it is.
    if (shown !== pauses.shown)
      pauses.list.replaceChildren(...agents.map((each) => rowOf(pauses, each)));
    pauses.shown = shown;
    pauses.element.hidden = agents.length === 0 && pauses.outcome.hidden;
  } catch {
    // What is known stays: the page says elsewhere that it is not connected.
  }
  pauses.onChange();
}

/** @type {(pauses: Pauses, agent: string) => Promise<boolean>} */
async function pause(pauses, agent) {
  const isSure = await confirm({
    title: `Pause ${showName(agent)}?`,
    text: "Every call of this agent, and of all that it started, is denied from now on, also what a rule allows. Its open questions are denied at once. This holds until you resume it.",
    action: "Pause and deny",
    testid: "pause-agent",
  });
  if (!isSure) return false;
  try {
    const { ended, left } = await request("POST", "/api/pauses", { agent });
    const rest =
      left === 0 ? "" : ` ${questions(left)} could not be ended; a yes to them starts nothing.`;
    tell(
      pauses,
      `${showName(agent)} is paused. ${questions(ended)} denied.${rest}`,
      left === 0 ? "good" : "bad",
    );
  } catch (error) {
    tell(pauses, describe(error), "bad");
  }
  await load(pauses);
  return true;
}

/** @type {(pauses: Pauses, agent: string) => Promise<void>} */
async function resume(pauses, agent) {
  try {
    const { was } = await request("POST", "/api/pauses/end", { agent });
    tell(
      pauses,
      `${showName(agent)} ${was === true ? "is resumed: it may ask again." : "was not paused any more."}`,
      "good",
    );
  } catch (error) {
    tell(pauses, describe(error), "bad");
  }
  await load(pauses);
}

/** @param {Store} store */
export function createPauses(store) {
  const list = el("ul", { class: "cards", "aria-label": "Paused agents" });
  const outcome = el("p", {
    class: "outcome",
    role: "status",
    "data-testid": "pause-outcome",
    hidden: true,
  });
  const element = el(
    "section",
    { class: "pauses", "data-testid": "pauses", hidden: true },
    outcome,
    list,
  );
  /** @type {Pauses} */
  const pauses = {
    store,
    element,
    list,
    outcome,
    mayPause: false,
    shown: "[]",
    onChange: () => undefined,
  };
  let lookedAt = 0;
  return {
    element,
    mayPause: () => pauses.mayPause,
    /** Asks the person, then pauses it; false where they went back. @param {string} agent */
    pause: (agent) => pause(pauses, agent),
    /** @param {() => void} listener */
    onChange(listener) {
      pauses.onChange = listener;
    },
    load: () => load(pauses),
    tick() {
      if (!store.isLive() || Date.now() - lookedAt < LOOK_EVERY_MS) return;
      lookedAt = Date.now();
      void load(pauses);
    },
    /** Somebody else signs in. */
    clear() {
      lookedAt = 0;
      pauses.mayPause = false;
      pauses.shown = "[]";
      list.replaceChildren();
      outcome.hidden = element.hidden = true;
    },
  };
}

/** @typedef {ReturnType<typeof createPauses>} PausesView */
