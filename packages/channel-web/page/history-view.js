/**
 * HistoryView: what was asked and what became of it, with the answers and their proofs, to read and
 * to take away.
 */
import { Refused, request } from "./api.js";
import { argumentsView } from "./arguments-view.js";
import { button, el, fact } from "./dom.js";
import { escapeText, showName } from "./escape.js";
import { layOut } from "./json-text.js";
import { headOf } from "./question-parts.js";
import {
  levelOf,
  previewOf,
  showEnd,
  showRefusal,
  showRun,
  showShortEnd,
  showTime,
} from "./words.js";

/** @typedef {import("./types.js").HistoryEntry} HistoryEntry */
/** @typedef {import("./types.js").ConsentResponse} ConsentResponse */
/** @typedef {import("./store.js").Store} Store */

const LIMIT = 200;

/** @param {HistoryEntry["status"]} status */
const toneOf = (status) =>
  status.startsWith("approved") ? "good" : status === "denied" ? "bad" : "plain";

/**
 * One line of the list.
 *
 * @param {HistoryEntry} entry
 * @param {number} nowMs
 */
function rowOf({ request: asked, status, at, approvers, responses, run }, nowMs) {
  const isSigned = responses.some(({ proof }) => proof?.algorithm === "WebAuthn");
  const who = approvers.length === 0 ? "" : `by ${approvers.map(showName).join(", ")}`;
  return el(
    "li",
    {
      class: `row edge-${levelOf(asked)}`,
      "data-testid": "history-entry",
      "data-id": asked.id,
      "data-status": status,
    },
    el(
      "a",
      { href: `#/history/${encodeURIComponent(asked.id)}` },
      el(
        "span",
        { class: "row-top" },
        el("span", { class: `end ${toneOf(status)}` }, showShortEnd(status)),
        el("span", { class: "agent" }, showName(asked.agent.id)),
        el("span", { class: "left" }, showTime(at, nowMs)),
      ),
      el("span", { class: "what" }, escapeText(asked.action.description)),
      el("span", { class: "preview" }, previewOf(asked)),
      el(
        "span",
        { class: "remarks" },
        [who, ...(isSigned ? ["signed with a passkey"] : []), run === undefined ? "" : showRun(run)]
          .filter((part) => part !== "")
          .join(" · "),
      ),
    ),
  );
}

/** The record as `acp proof verify` reads it. @param {HistoryEntry} entry */
function recordOf({ request: asked, responses }) {
  const [only, ...more] = responses;
  return only !== undefined && more.length === 0
    ? { request: asked, response: only }
    : { request: asked, responses };
}

/** @param {HistoryEntry} entry */
function download(entry) {
  const url = URL.createObjectURL(
    new Blob([`${JSON.stringify(recordOf(entry), undefined, 2)}\n`], { type: "application/json" }),
  );
  el("a", { href: url, download: `${entry.request.id.replace(/[^\w-]/g, "_")}.json` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** @type {(response: ConsentResponse, nowMs: number) => HTMLElement} */
function answerOf(
  { decision, approver, timestamp, reason, conditions, proof, modifications },
  nowMs,
) {
  const by =
    approver === undefined
      ? "somebody"
      : `${showName(approver.id)} on ${showName(approver.channel)}`;
  const facts = [
    fact("Answer", `${showShortEnd(decision)} by ${by}`),
    ...(timestamp === undefined ? [] : [fact("At", showTime(Date.parse(timestamp), nowMs))]),
    ...(reason === undefined || reason === "" ? [] : [fact("Reason", escapeText(reason))]),
    ...(conditions === undefined
      ? []
      : [fact("Valid until", showTime(Date.parse(conditions.valid_until), nowMs))]),
    fact(
      "Proof",
      el(
        "span",
        { "data-testid": "proof" },
        proof === undefined
          ? "none: the session's word"
          : proof.algorithm === "WebAuthn"
            ? "the person's own passkey (WebAuthn)"
            : `the gate's key (${escapeText(proof.algorithm)})`,
      ),
    ),
  ];
  const changes =
    modifications === undefined || modifications === null
      ? undefined
      : argumentsView(modifications);
  const raw =
    proof === undefined
      ? undefined
      : el(
          "details",
          {},
          el("summary", {}, "Show the proof"),
          el("pre", { class: "text", tabindex: "0" }, layOut(proof)),
        );
  return el(
    "section",
    { class: "card", "data-testid": "answer" },
    el("dl", { class: "facts" }, ...facts),
    changes,
    raw,
  );
}

/** @type {(entry: HistoryEntry, nowMs: number) => HTMLElement} */
function detailOf(entry, nowMs) {
  const { request: asked, status, at, responses, run } = entry;
  const hasRecord = responses.length > 0;
  return el(
    "article",
    { class: "question-view", "data-testid": "history-view", "data-id": asked.id },
    el(
      "div",
      { class: "view-bar" },
      el("a", { class: "back", href: "#/history", "data-testid": "back" }, "History"),
      el("span", { class: "left" }, showTime(at, nowMs)),
    ),
    el(
      "div",
      { class: "question-body" },
      headOf(asked),
      el(
        "p",
        { class: "outcome", "data-tone": toneOf(status), "data-testid": "outcome" },
        run === undefined ? showEnd(status) : `${showEnd(status)}. ${showRun(run)}`,
      ),
      ...responses.map((response) => answerOf(response, nowMs)),
      hasRecord
        ? el(
            "p",
            { class: "record" },
            button("Download the record", {
              class: "quiet",
              "data-testid": "download",
              click: () => download(entry),
            }),
            el(
              "span",
              { class: "hint" },
              "Anybody can check it: ",
              el("code", {}, "acp proof verify"),
            ),
          )
        : undefined,
      argumentsView(asked.action.parameters),
      el(
        "section",
        { class: "whole" },
        el("h2", {}, "The whole question"),
        el("pre", { class: "text", "data-testid": "text", tabindex: "0" }, asked.text),
      ),
    ),
  );
}

/** @param {Store} store */
export function createHistoryView(store) {
  const list = el("ul", {
    class: "rows",
    "aria-label": "Answered and ended questions",
    "data-testid": "history",
  });
  const note = el("div", { class: "empty", role: "status" });
  const element = el(
    "div",
    { class: "list-view" },
    el("h1", { class: "unseen" }, "History"),
    note,
    list,
  );
  /** @type {readonly HistoryEntry[]} */
  let entries = [];

  return {
    element,
    async load() {
      if (entries.length === 0) note.replaceChildren(el("p", {}, "Loading…"));
      try {
        const said = await request("GET", `/api/history?limit=${LIMIT}`);
        entries = said.entries;
        list.replaceChildren(...entries.map((entry) => rowOf(entry, store.now())));
        note.replaceChildren(
          ...(entries.length > 0
            ? []
            : [
                el("p", { class: "empty-title" }, "Nothing yet"),
                el("p", {}, "What is answered or ends stands here."),
              ]),
        );
      } catch (error) {
        const text =
          error instanceof Refused
            ? error.code === "unreachable"
              ? "Not connected: the history cannot be read."
              : showRefusal(error.code, error.message)
            : "The history cannot be read.";
        note.replaceChildren(el("p", {}, text));
      }
    },
    /** @param {string} id */
    detail(id) {
      for (const row of list.children) {
        const link = row.querySelector("a");
        if (row.getAttribute("data-id") === id) link?.setAttribute("aria-current", "true");
        else link?.removeAttribute("aria-current");
      }
      const entry = entries.find(({ request: asked }) => asked.id === id);
      return entry === undefined ? undefined : detailOf(entry, store.now());
    },
  };
}
