/**
 * Answering: hands one answer in and says what became of it. One at a time; what went wrong leaves the question as it is, and says so.
 */
import { giveAnswer } from "./answer.js";
import { Refused } from "./api.js";
import { el, setText } from "./dom.js";
import { say } from "./live.js";
import { ask } from "./sheet.js";
import { describeFailure } from "./webauthn.js";
import { escapeText } from "./escape.js";
import { showEnd, showRefusal } from "./words.js";

/** @typedef {import("./types.js").Choice} Choice */
/** @typedef {import("./types.js").Receipt} Receipt */
/** @typedef {import("./types.js").JsonObject} JsonObject */
/** @typedef {import("./store.js").Store} Store */
/** @typedef {{ readonly grant: string, readonly word: string | undefined, readonly modifications: JsonObject | undefined }} Wish */

const REASON_CHARS_MAX = 1_000;

/**
 * What to say when an answer could not be given.
 *
 * @param {unknown} error
 */
export function describeProblem(error) {
  if (error instanceof Refused) return showRefusal(error.code, error.message);
  return describeFailure(error) ?? `Not sent: ${error instanceof Error ? escapeText(error.message) : "it failed"}`;
}

/** @param {{ readonly store: Store, readonly id: string, readonly goTo: (hash: string) => void, readonly choice: () => Wish }} terms */
export function createAnswering({ store, id, goTo, choice }) {
  const element = el("p", { class: "outcome", role: "status", "data-testid": "outcome" });
  let isBusy = false;
  /** Said until something else is. */
  let said = "";
  /** @type {string} */
  let tone = "";

  /** @type {(text: string, kind?: "good" | "bad" | "") => void} */
  function tell(text, kind = "") {
    [said, tone] = [text, kind];
    show();
  }

  function show() {
    const over = store.over(id);
    const link = store.link();
    const isOpen = store.find(id) !== undefined;
    let [text, kind] = [said, tone];
    if (over !== undefined) {
      const { status, reason } = over.ended;
      text = `${showEnd(status)}${reason === "" || status === "approved" ? "" : `: ${escapeText(reason)}`}`;
      kind = status.startsWith("approved") ? "good" : "bad";
    } else if (isOpen && link !== "live")
      [text, kind] = ["Not connected: nothing can be answered. What is not answered in time is denied.", "bad"];
    setText(element, text);
    element.dataset["tone"] = kind;
    element.hidden = text === "";
    const next = over?.ended.successor_id;
    if (next !== undefined && store.find(next) !== undefined)
      element.append(" ", el("a", { href: `#/q/${encodeURIComponent(next)}`, "data-testid": "successor" }, "Show it"));
  }

  /** @param {Receipt} receipt */
  function take(receipt) {
    switch (receipt.status) {
      case "final":
        return tell(showEnd(receipt.outcome), receipt.outcome.startsWith("approved") ? "good" : "bad");
      case "counted":
        return tell(`Your yes is counted: ${receipt.have} of ${receipt.need}.`, "good");
      case "reshow":
        tell("Your change is judged more strictly: a new question takes its place.");
        return goTo(`#/q/${encodeURIComponent(receipt.request_id)}`);
      case "refused":
        return tell(showRefusal(receipt.code, receipt.reason), "bad");
      default:
        return tell("The inbox said something that this page does not know. Look at the history.", "bad");
    }
  }

  /** @param {Choice} answer */
  async function send(answer) {
    if (isBusy || !store.isLive()) return;
    isBusy = true;
    tell("Sending…");
    refresh();
    try {
      take(await giveAnswer(answer, (step) => tell(step === "passkey" ? "Confirm with your passkey…" : "Sending…")));
    } catch (error) {
      tell(describeProblem(error), "bad");
    } finally {
      isBusy = false;
      refresh();
      say(said);
    }
  }
  let refresh = () => {};

  return {
    element,
    show,
    isBusy: () => isBusy,
    /** @param {() => void} listener */
    onChange(listener) {
      refresh = listener;
    },
    /** False where the word is still to be typed. */
    approve() {
      const { grant, word, modifications } = choice();
      const wanted = store.find(id)?.word ?? null;
      if (wanted !== null && word !== wanted) {
        tell(`Type “${wanted}” first.`, "bad");
        return false;
      }
      void send({
        request_id: id,
        decision: modifications === undefined ? "approved" : "approved_with_modifications",
        ...(modifications === undefined ? {} : { modifications }),
        ...(grant === "" ? {} : { grant }),
        ...(wanted === null || word === undefined ? {} : { word }),
      });
      return true;
    },
    async deny() {
      const reason = await ask({
        title: "Deny",
        label: "Why, or what instead (the agent reads it)",
        action: "Deny",
        style: "danger",
        testid: "deny",
        charsMax: REASON_CHARS_MAX,
        isLong: true,
      });
      if (reason !== undefined)
        await send({ request_id: id, decision: "denied", ...(reason.trim() === "" ? {} : { reason: reason.trim() }) });
    },
  };
}
