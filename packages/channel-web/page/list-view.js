/**
 * ListView: the open questions, the next to expire first. Rows stay where they are while they
 * change, and the browser lays out only those in view.
 */
import { button, el, setText } from "./dom.js";
import { APPROVE_MAX, isBatchable, isMine, makeRow } from "./question-row.js";
import { showLeft } from "./words.js";

/** @typedef {import("./types.js").Question} Question */
/** @typedef {import("./store.js").Store} Store */
/** @typedef {import("./store.js").Change} Change */
/** @typedef {import("./question-row.js").Row} Row */
/**
 * Questions selected for a batch. @typedef {{ readonly ids: Set<string>, isOn: boolean,
 * readonly review: () => void }} Picks
 */
/**
 * @typedef {{ readonly store: Store, readonly picks: Picks, readonly rows: Map<string, Row>,
 * readonly parts: ReturnType<typeof makeParts>, current: string | undefined, isLate: boolean }}
 * List
 */

/** Fewer than this need no filter. */
const FILTER_FROM = 8;
const SOON_MS = 30_000;
/** Questions selected at once: more than an agent that floods a person gets asked. */
const PICKS_MAX = 1_000;

/**
 * The bar that says how many questions are selected, and goes on with them.
 *
 * @param {() => List} list
 */
function makePickBar(list) {
  const pickText = el("span", { role: "status" });
  const pickAll = button("All low", {
    class: "quiet small",
    "data-testid": "select-all",
    click: () => pickLow(list()),
  });
  const review = button("Review", {
    class: "primary",
    "data-testid": "review",
    click: () => list().picks.review(),
  });
  const looks = { class: "pick-bar", hidden: true, "data-testid": "pick-bar" };
  return { pickBar: el("div", looks, pickText, pickAll, review), pickText, pickAll, review };
}

/**
 * @param {() => List} list
 * @param {HTMLElement} pauses
 */
function makeParts(list, pauses) {
  const mine = el("ul", {
    class: "rows",
    "data-testid": "questions",
    "aria-label": "Questions for you",
  });
  const theirs = el("ul", { class: "rows", "aria-label": "Questions that wait for others" });
  const theirsHead = el("h2", { class: "list-head", hidden: true }, "Waiting for others");
  const empty = el("div", { class: "empty", "data-testid": "empty", hidden: true });
  const search = {
    type: "search",
    placeholder: "Filter",
    "aria-label": "Filter the questions",
    "data-testid": "filter",
  };
  const filter = el("input", { ...search, input: () => applyFilter(list()) });
  const pickLabel = { class: "quiet small", "data-testid": "select" };
  const pickButton = button("Select several", {
    ...pickLabel,
    click: () => setPicking(list(), !list().picks.isOn),
  });
  const tools = el("div", { class: "list-tools", hidden: true }, filter, pickButton);
  const picking = makePickBar(list);
  const element = el(
    "div",
    { class: "list-view" },
    el("h1", { class: "unseen" }, "Questions"),
    pauses,
    tools,
    empty,
    mine,
    theirsHead,
    theirs,
    picking.pickBar,
  );
  return { element, mine, theirs, theirsHead, empty, filter, pickButton, tools, ...picking };
}

/** @param {List} list */
function showPicks(list) {
  const { picks, rows, parts } = list;
  const { element, pickBar, pickButton, pickText, pickAll, review } = parts;
  element.classList.toggle("picking", picks.isOn);
  pickBar.hidden = !picks.isOn;
  setText(pickButton, picks.isOn ? "Done" : "Select several");
  setText(
    pickText,
    picks.ids.size === 0 ? "Select low-risk questions" : `${picks.ids.size} selected`,
  );
  setText(
    pickAll,
    rows.size > APPROVE_MAX && nextPicks(list) === APPROVE_MAX
      ? `First ${APPROVE_MAX} low`
      : "All low",
  );
  review.disabled = picks.ids.size === 0;
  if (!picks.isOn) return;
  for (const [id, { box, question }] of rows) {
    box.disabled = !isBatchable(question);
    box.checked = picks.ids.has(id);
  }
}

/** @type {(list: List, isOn: boolean) => void} */
function setPicking(list, isOn) {
  list.picks.isOn = isOn;
  list.picks.ids.clear();
  showPicks(list);
}

/**
 * How many the button selects: first as many as can be approved together, then all of them. @param
 * {List} list
 */
const nextPicks = ({ picks }) => (picks.ids.size < APPROVE_MAX ? APPROVE_MAX : PICKS_MAX);

/** @param {List} list */
function pickLow(list) {
  const { picks, rows } = list;
  const max = nextPicks(list);
  for (const [id, { question, element }] of rows)
    if (isBatchable(question) && !element.hidden && picks.ids.size < max) picks.ids.add(id);
  showPicks(list);
}

/** @param {List} list */
function applyFilter({ rows, parts: { filter } }) {
  const wanted = filter.value.trim().toLowerCase();
  for (const { element, words } of rows.values()) {
    const isHidden = !words.includes(wanted);
    if (element.hidden !== isHidden) element.hidden = isHidden;
  }
}

/**
 * Where its time puts it, looked for from the end: what is new mostly belongs there. @type {(list:
 * List, row: Row) => void}
 */
function place({ rows, parts: { mine, theirs } }, row) {
  const own = isMine(row.question) ? mine : theirs;
  const expiresAtOf = (/** @type {Element} */ element) =>
    rows.get(element.getAttribute("data-id") ?? "")?.expiresAt ?? 0;
  let last = own.lastElementChild;
  while (last !== null && expiresAtOf(last) > row.expiresAt) last = last.previousElementSibling;
  if (last === null) own.prepend(row.element);
  else last.after(row.element);
}

/** @type {(list: List, question: Question) => void} */
function put(list, question) {
  const { rows, picks, current } = list;
  const { id } = question.request;
  const old = rows.get(id);
  const hadFocus = old?.element.contains(document.activeElement) === true;
  const row = makeRow(question, ({ box }) => {
    if (box.checked && picks.ids.size < PICKS_MAX) picks.ids.add(id);
    else picks.ids.delete(id);
    showPicks(list);
  });
  old?.element.remove();
  rows.set(id, row);
  place(list, row);
  if (current === id) row.link.setAttribute("aria-current", "true");
  if (hadFocus) row.link.focus({ preventScroll: true });
}

/** @type {(list: List, id: string) => void} */
function drop({ rows, picks }, id) {
  rows.get(id)?.element.remove();
  rows.delete(id);
  picks.ids.delete(id);
}

/** @param {List} list */
function putAll(list) {
  const { store, rows } = list;
  const open = store
    .open()
    .toSorted((a, b) => Date.parse(a.request.expires_at) - Date.parse(b.request.expires_at));
  const ids = new Set(open.map(({ request }) => request.id));
  for (const known of Array.from(rows.keys())) if (!ids.has(known)) drop(list, known);
  for (const question of open)
    if (rows.get(question.request.id)?.question !== question) put(list, question);
}

/** @param {List} list */
function showEmptiness({ store, picks, rows, parts }) {
  const { tools, filter, pickButton, theirsHead, theirs, empty } = parts;
  tools.hidden = rows.size < 2;
  filter.hidden = rows.size < FILTER_FROM && filter.value === "";
  const batchable = Array.from(rows.values()).filter(({ question }) => isBatchable(question));
  pickButton.hidden = !picks.isOn && batchable.length < 2;
  theirsHead.hidden = theirs.childElementCount === 0;
  empty.hidden = rows.size > 0;
  if (rows.size > 0) return;
  const [title, text] = store.isLive()
    ? ["Nothing to answer", "New questions appear here by themselves."]
    : ["Not connected", "What is open is shown as soon as the inbox is reached."];
  empty.replaceChildren(el("p", { class: "empty-title" }, title), el("p", {}, text));
}

/** @param {List} list */
function tick({ store, rows }) {
  const now = store.now();
  for (const { left, expiresAt } of rows.values()) {
    const leftMs = expiresAt - now;
    setText(left, leftMs <= 0 ? "over" : showLeft(leftMs));
    if (left.classList.contains("soon") !== leftMs < SOON_MS) left.classList.toggle("soon");
  }
}

/** @type {(list: List, change: Change) => void} */
function update(list, { what, id }) {
  const question = id === undefined ? undefined : list.store.find(id);
  if (what === "all" || what === "session") putAll(list);
  else if (what === "open" && question !== undefined) put(list, question);
  else if (what === "ended" && id !== undefined) drop(list, id);
  if (list.isLate) return;
  // What comes together is looked at once.
  list.isLate = true;
  queueMicrotask(() => {
    list.isLate = false;
    tick(list);
    applyFilter(list);
    showEmptiness(list);
    showPicks(list);
  });
}

/** Ids in the order of the screen. @param {List} list */
const orderOf = ({ parts: { mine, theirs } }) =>
  [...mine.children, ...theirs.children]
    .filter((row) => row instanceof HTMLElement && !row.hidden)
    .map((row) => row.getAttribute("data-id") ?? "");

/** @type {(list: List, step: 1 | -1) => string | undefined} */
function neighbour(list, step) {
  const order = orderOf(list);
  const focused =
    document.activeElement?.closest("#list [data-id]")?.getAttribute("data-id") ??
    list.current ??
    "";
  const at = order.indexOf(focused);
  return at === -1 ? order[0] : order[Math.min(order.length - 1, Math.max(0, at + step))];
}

/**
 * @param {{ readonly store: Store, readonly picks: Picks, readonly pauses: HTMLElement }} terms -
 * `pauses`: what stands above the list.
 */
export function createListView({ store, picks, pauses }) {
  /** @type {List} */
  const list = {
    store,
    picks,
    rows: new Map(),
    parts: makeParts(() => list, pauses),
    current: undefined,
    isLate: false,
  };
  return {
    element: list.parts.element,
    tick: () => tick(list),
    /** Where there is something to select. */
    togglePicking() {
      if (!list.parts.tools.hidden && !list.parts.pickButton.hidden) setPicking(list, !picks.isOn);
    },
    /** @param {boolean} isOn */
    setPicking: (isOn) => setPicking(list, isOn),
    /** @param {Change} change */
    update: (change) => update(list, change),
    focusFilter() {
      if (!list.parts.filter.hidden) list.parts.filter.focus();
    },
    /** Marks the question that is shown beside the list. @param {string | undefined} id */
    setCurrent(id) {
      list.rows.get(list.current ?? "")?.link.removeAttribute("aria-current");
      list.current = id;
      list.rows.get(id ?? "")?.link.setAttribute("aria-current", "true");
    },
    /** The id before or after the one that is focused or shown. @param {1 | -1} step */
    neighbour: (step) => neighbour(list, step),
    /** The first that waits for this person. */
    first: () => list.parts.mine.firstElementChild?.getAttribute("data-id") ?? undefined,
    /** @param {string} id */
    focusRow: (id) => list.rows.get(id)?.link.focus(),
  };
}
