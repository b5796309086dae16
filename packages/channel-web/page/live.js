/**
 * Live: what a screen reader is told when something changes elsewhere on the page.
 */
import { byId } from "./dom.js";

/** What came in a burst is said together. */
const GATHER_MS = 400;

/** @type {string[]} */
const waiting = [];
let timer = 0;

function flush() {
  timer = 0;
  const texts = waiting.splice(0);
  const [first] = texts;
  byId("live").textContent =
    texts.length > 3 ? `${texts.length} changes. ${first}` : texts.join(". ");
}

/**
 * Says something when the reader is free.
 *
 * @param {string} text
 */
export function say(text) {
  waiting.push(text);
  if (timer === 0) timer = setTimeout(flush, GATHER_MS);
}
