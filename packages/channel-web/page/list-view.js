/**
 * ListView: the open questions, the next to expire first. Rows stay where they are while they change, and the browser lays out only those in view.
 */
import { button, el, setText } from "./dom.js";
import { levelOf, previewOf, showLeft } from "./words.js";
import { escapeText, showName } from "./escape.js";

/** @typedef {import("./types.js").Question} Question */
/** @typedef {import("./store.js").Store} Store */
/** @typedef {{ readonly element: HTMLLIElement, readonly left: HTMLElement, readonly box: HTMLInputElement, readonly link: HTMLAnchorElement, question: Question, expiresAt: number }} Row */
/**
 * @typedef {object} Picks
 * @property {Set<string>} ids
 * @property {boolean} isOn
 * @property {() => void} review
 */

/** Fewer than this need no filter. */
const FILTER_FROM = 8;
const SOON_MS = 30_000;

/**
 * Whether a question may be answered together with others: low, no passkey, no word, mine to answer.
 *
 * @param {Question} question
 */
export function isBatchable({ request, needs_passkey: needsPasskey, word, may_answer: mayAnswer, answered }) {
  return levelOf(request) === "low" && !needsPasskey && word === null && mayAnswer && !answered;
}

/** @param {Question} question */
export const isMine = ({ may_answer: mayAnswer, answered }) => mayAnswer && !answered;

/** @param {Question} question */
function remarksOn({ request, needs_passkey: needsPasskey, answered, may_answer: mayAnswer, have }) {
  return [
    ...(answered ? ["your yes is counted"] : mayAnswer ? [] : ["waits for others"]),
    ...(request.quorum > 1 ? [`${have} of ${request.quorum} people`] : []),
    ...(needsPasskey && !answered ? ["passkey"] : []),
    ...(request.secrets.length > 0 ? ["secrets"] : []),
  ].join(" · ");
}

/**
 * @param {Question} question
 * @param {(row: Row) => void} onPick
 * @returns {Row}
 */
function makeRow(question, onPick) {
  const { request } = question;
  const level = levelOf(request);
  const left = el("span", { class: "left", "data-testid": "left" });
  const box = el("input", { type: "checkbox", "data-testid": "pick", change: () => onPick(row) });
  box.setAttribute("aria-label", `Select: ${escapeText(request.action.description)}`);
  const remarks = remarksOn(question);
  const link = el(
    "a",
    { href: `#/q/${encodeURIComponent(request.id)}` },
    el(
      "span",
      { class: "row-top" },
      el("span", { class: `risk ${level}` }, level),
      el("span", { class: "agent" }, showName(request.agent.id)),
      left,
    ),
    el("span", { class: "what" }, escapeText(request.action.description)),
    el("span", { class: "preview" }, previewOf(request)),
    remarks === "" ? undefined : el("span", { class: "remarks" }, remarks),
  );
  const element = el(
    "li",
    {
      class: `row edge-${level}${isMine(question) ? "" : " theirs"}`,
      "data-testid": "question",
      "data-id": request.id,
      "data-risk": level,
    },
    el("label", { class: "pick" }, box),
    link,
  );
  /** @type {Row} */
  const row = { element, left, box, link, question, expiresAt: Date.parse(request.expires_at) };
  return row;
}

/**
 * @param {Store} store
 * @param {Picks} picks
 */
export function createListView(store, picks) {
  /** @type {Map<string, Row>} */
  const rows = new Map();
  const mine = el("ul", { class: "rows", "data-testid": "questions", "aria-label": "Questions for you" });
  const theirs = el("ul", { class: "rows", "aria-label": "Questions that wait for others" });
  const theirsHead = el("h2", { class: "list-head", hidden: true }, "Waiting for others");
  const empty = el("div", { class: "empty", "data-testid": "empty", hidden: true });
  const filter = el("input", {
    type: "search",
    id: "filter",
    placeholder: "Filter",
    "aria-label": "Filter the questions",
    "data-testid": "filter",
    input: applyFilter,
  });
  const pickButton = button("Select several", { class: "quiet small", "data-testid": "select", click: () => setPicking(!picks.isOn) });
  const tools = el("div", { class: "list-tools", hidden: true }, filter, pickButton);
  const pickText = el("span", { "aria-live": "polite" });
  const pickAll = button("All low", { class: "quiet small", "data-testid": "select-all", click: selectAll });
  const review = button("Review", { class: "primary", "data-testid": "review", click: () => picks.review() });
  const pickBar = el("div", { class: "pick-bar", hidden: true, "data-testid": "pick-bar" }, pickText, pickAll, review);
  const element = el("div", { class: "list-view" }, tools, empty, mine, theirsHead, theirs, pickBar);
  /** @type {string | undefined} */
  let current;

  /** @param {Row} row */
  function onPick(row) {
    const { id } = row.question.request;
    if (row.box.checked) picks.ids.add(id);
    else picks.ids.delete(id);
    showPicks();
  }

  function showPicks() {
    element.classList.toggle("picking", picks.isOn);
    pickBar.hidden = !picks.isOn;
    setText(pickButton, picks.isOn ? "Done" : "Select several");
    setText(pickText, picks.ids.size === 0 ? "Select low-risk questions" : `${picks.ids.size} selected`);
    review.disabled = picks.ids.size === 0;
    if (!picks.isOn) return;
    for (const [id, { box, question }] of rows) {
      box.disabled = !isBatchable(question);
      box.checked = picks.ids.has(id);
    }
  }

  /** @param {boolean} isOn */
  function setPicking(isOn) {
    picks.isOn = isOn;
    picks.ids.clear();
    showPicks();
  }

  function selectAll() {
    for (const [id, { question, element: row }] of rows)
      if (isBatchable(question) && !row.hidden && picks.ids.size < 100) picks.ids.add(id);
    showPicks();
  }

  function applyFilter() {
    const wanted = filter.value.trim().toLowerCase();
    for (const { element: row, question } of rows.values()) {
      const { action, agent } = question.request;
      const text =
        wanted === "" ? "" : `${levelOf(question.request)} ${agent.id} ${action.description} ${previewOf(question.request)}`.toLowerCase();
      const isHidden = !text.includes(wanted);
      if (row.hidden !== isHidden) row.hidden = isHidden;
    }
  }

  /** @param {Row} row */
  function place(row) {
    const list = isMine(row.question) ? mine : theirs;
    let next = list.lastElementChild;
    // From the end: what comes new mostly belongs there.
    /** @type {Element | null} */
    let before = null;
    while (next !== null && expiresAtOf(next) > row.expiresAt) {
      before = next;
      next = next.previousElementSibling;
    }
    list.insertBefore(row.element, before);
  }

  /** @param {Element} element */
  const expiresAtOf = (element) => rows.get(element.getAttribute("data-id") ?? "")?.expiresAt ?? 0;

  function showEmptiness() {
    const count = rows.size;
    tools.hidden = count < 2;
    filter.hidden = count < FILTER_FROM && filter.value === "";
    pickButton.hidden = !picks.isOn && [...rows.values()].filter(({ question }) => isBatchable(question)).length < 2;
    theirsHead.hidden = theirs.childElementCount === 0;
    empty.hidden = count > 0;
    if (count > 0) return;
    empty.replaceChildren(
      el("p", { class: "empty-title" }, store.link() === "live" ? "Nothing to answer" : "Not connected"),
      el(
        "p",
        {},
        store.link() === "live" ? "New questions appear here by themselves." : "What is open is shown as soon as the inbox is reached.",
      ),
    );
  }

  /** @param {string} id */
  function drop(id) {
    rows.get(id)?.element.remove();
    rows.delete(id);
    picks.ids.delete(id);
  }

  /** @param {Question} question */
  function put(question) {
    const { id } = question.request;
    const old = rows.get(id);
    const row = makeRow(question, onPick);
    const hadFocus = old !== undefined && old.element.contains(document.activeElement);
    old?.element.remove();
    rows.set(id, row);
    place(row);
    if (current === id) row.link.setAttribute("aria-current", "true");
    if (hadFocus) row.link.focus({ preventScroll: true });
    return row;
  }

  function tick() {
    const now = store.now();
    for (const { left, expiresAt } of rows.values()) {
      const leftMs = expiresAt - now;
      setText(left, leftMs <= 0 ? "over" : showLeft(leftMs));
      left.classList.toggle("soon", leftMs < SOON_MS);
    }
  }

  return {
    element,
    tick,
    setPicking,
    focusFilter() {
      if (!tools.hidden && !filter.hidden) filter.focus();
    },
    /** Marks the question that is shown beside the list. @param {string | undefined} id */
    setCurrent(id) {
      if (current !== undefined) rows.get(current)?.link.removeAttribute("aria-current");
      current = id;
      if (id !== undefined) rows.get(id)?.link.setAttribute("aria-current", "true");
    },
    /** The id before or after the current one. @param {1 | -1} step */
    neighbour(step) {
      const order = [...mine.children, ...theirs.children]
        .filter((row) => row instanceof HTMLElement && !row.hidden)
        .map((row) => row.getAttribute("data-id") ?? "");
      const focused = document.activeElement?.closest("[data-id]")?.getAttribute("data-id") ?? current ?? "";
      const at = order.indexOf(focused);
      return at === -1 ? order[0] : order[Math.min(order.length - 1, Math.max(0, at + step))];
    },
    /** @param {string} id */
    focusRow: (id) => rows.get(id)?.link.focus(),
    /** @param {import("./store.js").Change} change */
    update({ what, id }) {
      if (what === "all") {
        const open = store.open().toSorted((a, b) => Date.parse(a.request.expires_at) - Date.parse(b.request.expires_at));
        const ids = new Set(open.map(({ request }) => request.id));
        for (const known of [...rows.keys()]) if (!ids.has(known)) drop(known);
        for (const question of open) if (rows.get(question.request.id)?.question !== question) put(question);
      } else if (what === "session" && store.session() === undefined) for (const known of [...rows.keys()]) drop(known);
      else if (what === "open" && id !== undefined) {
        const question = store.find(id);
        if (question !== undefined) put(question);
      } else if (what === "ended" && id !== undefined) drop(id);
      tick();
      applyFilter();
      showEmptiness();
      showPicks();
    },
  };
}
