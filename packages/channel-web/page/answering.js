/**
 * Answering: hands one answer in and says what became of it. One at a time; what went wrong leaves
 * the question as it is, and says so.
 */
import { giveAnswer } from "./answer.js";
import { Refused } from "./api.js";
import { el, setText } from "./dom.js";
import { escapeText } from "./escape.js";
import { say } from "./live.js";
import { ask } from "./sheet.js";
import { describeFailure } from "./webauthn.js";
import { showEnd, showRefusal, showRun } from "./words.js";

/** @typedef {import("./types.js").Choice} Choice */
/** @typedef {import("./types.js").Receipt} Receipt */
/** @typedef {import("./types.js").JsonObject} JsonObject */
/** @typedef {import("./store.js").Store} Store */
/**
 * @typedef {{ readonly grant: string, readonly word: string | undefined, readonly modifications:
 * JsonObject | undefined }} Wish
 */
/** @typedef {"good" | "bad" | ""} Tone */
/**
 * @typedef {{ readonly text: string, readonly tone: Tone, readonly goTo?: string,
 * readonly isFinal?: boolean }} Saying
 */
/**
 * @typedef {{ readonly store: Store, readonly id: string, readonly goTo: (hash: string) => void,
 * readonly wish: () => Wish, readonly onChange: () => void }} Terms
 */

const REASON_CHARS_MAX = 1_000;
const UNCONNECTED =
  "Not connected: nothing can be answered. What is not answered in time is denied.";

/** @param {string} status */
const toneOf = (status) => (status.startsWith("approved") ? "good" : "bad");

/**
 * What to say when an answer could not be given.
 *
 * @param {unknown} error
 */
export function describeProblem(error) {
  if (error instanceof Refused) return showRefusal(error.code, error.message);
  return (
    describeFailure(error) ??
    `Not sent: ${error instanceof Error ? escapeText(error.message) : "it failed"}`
  );
}

/**
 * What a receipt means.
 *
 * @param {Receipt} receipt
 * @returns {Saying}
 */
export function describeReceipt(receipt) {
  switch (receipt.status) {
    case "final":
      return { text: `${showEnd(receipt.outcome)}.`, tone: toneOf(receipt.outcome), isFinal: true };
    case "counted":
      return { text: `Your yes is counted: ${receipt.have} of ${receipt.need}.`, tone: "good" };
    case "reshow":
      return {
        text: "Judged more strictly: a new question takes its place.",
        tone: "",
        goTo: receipt.request_id,
      };
    case "refused":
      return { text: showRefusal(receipt.code, receipt.reason), tone: "bad" };
    case "unknown":
      return {
        text: "Not known yet whether your answer was taken: the gate's log is being read.",
        tone: "bad",
      };
    default:
      return {
        text: "The inbox said something that this page does not know. Look at the history.",
        tone: "bad",
      };
  }
}

/**
 * Why a person says no; `undefined` where they went back.
 *
 * @param {string} title
 */
export async function askReason(title) {
  const reason = await ask({
    title,
    label: "Why, or what instead (the agent reads it)",
    action: "Deny",
    style: "danger",
    testid: "deny",
    charsMax: REASON_CHARS_MAX,
    isLong: true,
  });
  return reason?.trim();
}

/**
 * What is so now comes before what was said of an answer. @type {(terms: Terms, said: Saying) =>
 * Saying}
 */
function sayingNow({ store, id }, said) {
  const over = store.over(id);
  if (over !== undefined) {
    const { status, reason, successor_id: successor, run } = over.ended;
    // What the gate said itself is known, whatever was lost since.
    if (status === "unknown" && said.isFinal === true) return said;
    if (run !== undefined)
      return {
        text: `${showEnd(status)}. ${showRun(run)}`,
        tone: ["failed", "not_run", "not_collected", "unknown"].includes(run.state)
          ? "bad"
          : toneOf(status),
      };
    const why =
      reason === "" || status.startsWith("approved") || status === "expired"
        ? ""
        : ` (${escapeText(reason)})`;
    return {
      text: `${showEnd(status)}${why}.`,
      tone: toneOf(status),
      ...(successor === undefined ? {} : { goTo: successor }),
    };
  }
  return store.find(id) !== undefined && !store.isLive()
    ? { text: UNCONNECTED, tone: "bad" }
    : said;
}

/**
 * The yes that a person wishes, or the word that they have still to type. @type {(wish: Wish,
 * wanted: string | null) => Omit<Choice, "request_id">}
 */
function choiceOf({ grant, word, modifications }, wanted) {
  return {
    decision: modifications === undefined ? "approved" : "approved_with_modifications",
    ...(modifications === undefined ? {} : { modifications }),
    ...(grant === "" ? {} : { grant }),
    ...(wanted === null || word === undefined ? {} : { word }),
  };
}

/**
 * Shows what is said about an answer, with a link to the question that took its place.
 *
 * @param {HTMLElement} element
 * @param {Saying} saying
 * @param {Terms["store"]} store
 */
function showSaying(element, { text, tone, goTo: successor }, store) {
  setText(element, text);
  element.dataset["tone"] = tone;
  element.hidden = text === "";
  if (successor === undefined || store.find(successor) === undefined) return;
  const href = `#/q/${encodeURIComponent(successor)}`;
  element.append(" ", el("a", { href, "data-testid": "successor" }, "Show it"));
}

/** @param {Terms} terms */
export function createAnswering(terms) {
  const { store, id, goTo, wish, onChange } = terms;
  const element = el("p", { class: "outcome", role: "status", "data-testid": "outcome" });
  let isBusy = false;
  /** @type {Saying} */
  let said = { text: "", tone: "" };

  /** @param {Saying} next */
  function tell(next) {
    said = next;
    onChange();
  }

  /** @param {Choice} choice */
  async function send(choice) {
    if (isBusy || !store.isLive()) return;
    isBusy = true;
    tell({ text: "Sending…", tone: "" });
    try {
      const receipt = await giveAnswer(choice, (step) =>
        tell({ text: step === "passkey" ? "Confirm with your passkey…" : "Sending…", tone: "" }),
      );
      said = describeReceipt(receipt);
      if (said.goTo !== undefined) goTo(`#/q/${encodeURIComponent(said.goTo)}`);
    } catch (error) {
      said = { text: describeProblem(error), tone: "bad" };
    }
    isBusy = false;
    say(said.text);
    onChange();
  }

  return {
    element,
    isBusy: () => isBusy,
    show: () => showSaying(element, sayingNow(terms, said), store),
    /** False where the word is still to be typed. */
    approve() {
      const wanted = store.find(id)?.word ?? null;
      const wished = wish();
      if (wanted !== null && wished.word !== wanted) {
        tell({ text: `For a yes, type “${wanted}” above.`, tone: "bad" });
        return false;
      }
      void send({ request_id: id, ...choiceOf(wished, wanted) });
      return true;
    },
    async deny() {
      const reason = await askReason("Deny this");
      if (reason !== undefined)
        await send({ request_id: id, decision: "denied", ...(reason === "" ? {} : { reason }) });
    },
  };
}
