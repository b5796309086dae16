/**
 * BatchResult: what became of each answer of a batch, from its receipt and from what was told
 * since, and all of it in one line.
 */
import { describeReceipt } from "./answering.js";
import { showEnd, showRun } from "./words.js";

/** @typedef {import("./types.js").Receipt} Receipt */
/** @typedef {import("./types.js").Ended} Ended */
/** @typedef {import("./types.js").EndStatus} EndStatus */
/** @typedef {import("./types.js").RunOutcome} RunOutcome */
/**
 * What is known of one question of the batch: `unknown` is not known yet, `refused` that the answer
 * was not taken.
 * @typedef {{ readonly kind: "unsent" | "refused" | "unknown" | "counted" | "over",
 *   readonly status?: EndStatus, readonly run?: RunOutcome, readonly text: string, readonly tone: "good" |
 *   "bad" | "" }} Result
 */

const READING = "Not known yet whether it was taken: its gate's log is being read.";

/** @type {(status: EndStatus, run: RunOutcome | undefined) => Result} */
function over(status, run) {
  const isBad =
    !status.startsWith("approved") ||
    ["failed", "not_run", "not_collected", "unknown"].includes(run?.state ?? "");
  const text = `${showEnd(status)}.${run === undefined ? "" : ` ${showRun(run)}`}`;
  return {
    kind: "over",
    status,
    ...(run === undefined ? {} : { run }),
    text,
    tone: isBad ? "bad" : "good",
  };
}

/**
 * What became of one: what is so now comes before what was said of the answer.
 *
 * @param {Receipt | undefined} receipt
 * @param {Ended | undefined} ended
 * @returns {Result}
 */
export function resultOf(receipt, ended) {
  const known = ended === undefined || ended.status === "unknown" ? undefined : ended.status;
  if (receipt?.status === "refused") {
    const { text } = describeReceipt(receipt);
    return {
      kind: "refused",
      text: known === undefined ? text : `${text} It ended: ${showEnd(known)}.`,
      tone: "bad",
    };
  }
  if (known !== undefined) return over(known, ended?.run);
  if (receipt?.status === "final") return over(receipt.outcome, ended?.run);
  if (receipt === undefined && ended === undefined) return { kind: "unsent", text: "", tone: "" };
  if (receipt === undefined || receipt.status === "unknown")
    return { kind: "unknown", text: READING, tone: "bad" };
  const { text, tone } = describeReceipt(receipt);
  return { kind: "counted", text, tone };
}

/** @type {(count: number, word: string) => readonly string[]} */
const part = (count, word) => (count === 0 ? [] : [`${count} ${word}`]);

/**
 * All of them in one line.
 *
 * @param {"approved" | "denied"} decision
 * @param {readonly Result[]} results
 * @returns {{ readonly text: string, readonly tone: "good" | "bad" }}
 */
export function sumUp(decision, results) {
  const of = (/** @type {(result: Result) => boolean} */ test) => results.filter(test).length;
  const isDone = (/** @type {Result} */ { status }) =>
    status !== undefined &&
    (decision === "denied" ? status === "denied" : status.startsWith("approved"));
  const ran = (/** @type {RunOutcome["state"][]} */ ...states) =>
    of(({ run }) => run !== undefined && states.includes(run.state));
  const done = of(isDone);
  const runs =
    decision === "denied"
      ? []
      : [
          ...part(ran("ran"), "ran"),
          ...part(ran("failed"), "ran and failed"),
          ...part(ran("started"), "running"),
          ...part(ran("waiting"), "not collected yet"),
          ...part(ran("not_collected", "not_run"), "not run"),
          ...part(ran("unknown"), "with an unknown end"),
        ];
  const otherwise = of((result) => result.kind === "over" && !isDone(result));
  const refused = of(({ kind }) => kind === "refused");
  const unknown = of(({ kind }) => kind === "unknown");
  const counted = of(({ kind }) => kind === "counted");
  const text = [
    `${decision === "approved" ? "Approved" : "Denied"}: ${done}${runs.length === 0 ? "" : ` (${runs.join(", ")})`}.`,
    ...(counted === 0 ? [] : [`Counted, and open for others: ${counted}.`]),
    ...(otherwise === 0 ? [] : [`Ended otherwise: ${otherwise}; each says how.`]),
    ...(refused === 0 ? [] : [`Not accepted: ${refused}; each says why.`]),
    ...(unknown === 0 ? [] : [`Not known yet: ${unknown}; the gates' logs are being read.`]),
  ].join(" ");
  const isGood =
    refused + unknown + otherwise === 0 &&
    results.every(({ tone }) => tone !== "bad" || decision === "denied");
  return { text, tone: isGood ? "good" : "bad" };
}
