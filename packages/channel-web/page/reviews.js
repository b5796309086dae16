/**
 * Reviews: what agents wrote into overlays of their workspaces and nobody has settled, as a list
 * above the questions. Only who may settle them sees any of this.
 */
import { request } from "./api.js";
import { el } from "./dom.js";
import { escapeText, showName } from "./escape.js";
import { showTime } from "./words.js";

/** @typedef {import("./types.js").ReviewFacts} ReviewFacts */
/** @typedef {import("./store.js").Store} Store */

/** An agent ends, and somebody settles one at a terminal. */
const LOOK_EVERY_MS = 10_000;

/** @type {(count: number) => string} */
const changesOf = (count) => `${count} ${count === 1 ? "change" : "changes"}`;

/**
 * What there is to know of one, on one line. @type {(review: ReviewFacts, nowMs: number) => string}
 */
export function describeReview({ workspace, started, running, changes }, nowMs) {
  const count = changes === undefined ? [] : [changesOf(changes)];
  return [
    escapeText(workspace),
    showTime(started, nowMs),
    ...count,
    ...(running ? ["still running"] : []),
  ].join(" · ");
}

/** @type {(review: ReviewFacts, nowMs: number) => HTMLElement} */
function rowOf(review, nowMs) {
  const { id, agent, command } = review;
  const names = { "data-testid": "review-row", "data-id": id };
  return el(
    "li",
    { class: "card review-row", ...names },
    el(
      "a",
      { href: `#/review/${encodeURIComponent(id)}` },
      el("strong", {}, `Review what ${showName(agent)} wrote`),
    ),
    el("span", { class: "hint" }, describeReview(review, nowMs)),
    command === undefined ? undefined : el("span", { class: "hint" }, escapeText(command)),
  );
}

/** @param {Store} store */
export function createReviews(store) {
  const list = el("ul", { class: "cards", "aria-label": "Reviews" });
  const element = el("section", { class: "pauses", "data-testid": "reviews", hidden: true }, list);
  let [lookedAt, shown] = [0, "[]"];

  async function load() {
    try {
      /** @type {{ readonly reviews: readonly ReviewFacts[] }} */
      const { reviews } = await request("GET", "/api/reviews");
      const next = JSON.stringify(reviews);
      // A link that somebody is about to press stays where it is.
      if (next !== shown) list.replaceChildren(...reviews.map((each) => rowOf(each, store.now())));
      shown = next;
      element.hidden = reviews.length === 0;
    } catch {
      // What is known stays: the page says elsewhere that it is not connected.
    }
  }
  return {
    element,
    load,
    tick() {
      if (!store.isLive() || Date.now() - lookedAt < LOOK_EVERY_MS) return;
      lookedAt = Date.now();
      void load();
    },
    /** Somebody else signs in. */
    clear() {
      lookedAt = 0;
      shown = "[]";
      list.replaceChildren();
      element.hidden = true;
    },
  };
}
