/**
 * Screens: which screen the address names, and what stands beside it. `#/`, `#/q/<id>`, `#/batch`,
 * `#/history`, `#/history/<id>`, `#/passkeys`, `#/review/<id>`.
 */
import { createBatchView } from "./batch-view.js";
import { byId, el } from "./dom.js";
import { createHistoryView } from "./history-view.js";
import { createListView } from "./list-view.js";
import { createPasskeysView } from "./passkeys-view.js";
import { createPauses } from "./pauses.js";
import { createQuestionView } from "./question-view.js";
import { scrollToTop } from "./reading.js";
import { createReviewView } from "./review-view.js";
import { createReviews } from "./reviews.js";

/** @typedef {import("./store.js").Store} Store */
/** @typedef {import("./store.js").Change} Change */
/**
 * @typedef {"questions" | "question" | "batch" | "history" | "record" | "passkeys" | "review"}
 * PlaceName
 */
/** @typedef {{ readonly name: PlaceName, readonly id: string }} Place */
/**
 * What stands in the main part.
 * @typedef {object} View
 * @property {HTMLElement} element
 * @property {() => void} [focus]
 * @property {() => void} [update]
 * @property {() => void} [tick]
 * @property {(key: string) => boolean} [key]
 * @property {() => boolean} [leave]
 * @property {() => void} [close]
 */
/**
 * @typedef {object} Shell
 * @property {Store} store
 * @property {{ readonly ids: Set<string>, isOn: boolean, readonly review: () => void }} picks
 * @property {ReturnType<typeof createListView>} listView
 * @property {ReturnType<typeof createHistoryView>} historyView
 * @property {ReturnType<typeof createPasskeysView>} passkeysView
 * @property {ReturnType<typeof createPauses>} pauses
 * @property {ReturnType<typeof createReviews>} reviews
 * @property {View | undefined} view
 * @property {Place} place
 * @property {boolean} isOpen
 */

/** @type {Readonly<Record<PlaceName, { readonly tab: string, readonly back: string }>>} */
const PLACES = {
  questions: { tab: "questions", back: "" },
  question: { tab: "questions", back: "#/" },
  batch: { tab: "questions", back: "#/" },
  history: { tab: "history", back: "#/" },
  record: { tab: "history", back: "#/history" },
  passkeys: { tab: "passkeys", back: "#/" },
  review: { tab: "questions", back: "#/" },
};

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

/** @returns {Place} */
function readPlace() {
  const [, section = "", rest = ""] = location.hash.split("/");
  const id = decode(rest);
  if (section === "q" && id !== "") return { name: "question", id };
  if (section === "review" && id !== "") return { name: "review", id };
  if (section === "history") return { name: id === "" ? "history" : "record", id };
  return { name: section === "batch" || section === "passkeys" ? section : "questions", id: "" };
}

/** What a wide screen shows beside a list. @type {(text: string) => View} */
const placeholder = (text) => ({ element: el("p", { class: "placeholder" }, text) });

/** @type {(shell: Shell) => View} */
function makeBatch({ store, picks, listView }) {
  const questions = store.open().filter(({ request }) => picks.ids.has(request.id));
  if (questions.length === 0) return placeholder("Nothing is selected");
  return createBatchView({ store, questions, onDone: () => listView.setPicking(false) });
}

/** @type {(shell: Shell) => Promise<View>} */
async function makeRecord({ historyView, place: { id } }) {
  await historyView.load();
  const detail = historyView.detail(id);
  if (detail !== undefined) return { element: detail };
  return placeholder(
    id === "" ? "Choose one to see its answers and proofs" : "The history does not have this one",
  );
}

/** @type {(shell: Shell, goTo: (hash: string) => void) => View | Promise<View>} */
function makeView(shell, goTo) {
  const { store, listView, passkeysView, pauses, reviews, place } = shell;
  switch (place.name) {
    case "question":
      return createQuestionView({
        store,
        pauses,
        id: place.id,
        goTo,
        nextId: () => listView.first(),
      });
    case "review":
      return createReviewView({ store, id: place.id, goTo, onSettled: () => void reviews.load() });
    case "batch":
      return makeBatch(shell);
    case "history":
    case "record":
      return makeRecord(shell);
    case "passkeys":
      void passkeysView.load();
      return passkeysView;
    case "questions":
      return placeholder("Choose a question to see all of it");
    default:
      return place.name;
  }
}

/** @type {(shell: Shell, next: View) => void} */
function showView(shell, next) {
  shell.view?.close?.();
  shell.view = next;
  byId("main").replaceChildren(next.element);
  next.update?.();
  next.tick?.();
  const title = next.element.querySelector("h1");
  if (title instanceof HTMLElement) title.focus({ preventScroll: true });
}

/** @param {Shell} shell */
function showList({ place, listView, historyView }) {
  const { tab } = PLACES[place.name];
  const list = byId("list");
  const wanted = tab === "history" ? historyView.element : listView.element;
  if (list.firstElementChild !== wanted) list.replaceChildren(wanted);
  listView.setCurrent(place.name === "question" ? place.id : undefined);
  for (const each of document.querySelectorAll("#tabs a")) {
    if (each.getAttribute("data-tab") === tab) each.setAttribute("aria-current", "page");
    else each.removeAttribute("aria-current");
  }
}

/** @type {(shell: Shell, goTo: (hash: string) => void) => Promise<void>} */
async function route(shell, goTo) {
  if (!shell.isOpen) return;
  const before = shell.place;
  const place = readPlace();
  shell.place = place;
  document.body.dataset["place"] = place.name;
  showList(shell);
  const made = makeView(shell, goTo);
  const view = made instanceof Promise ? await made : made;
  if (shell.place !== place || !shell.isOpen) return view.close?.();
  showView(shell, view);
  scrollToTop();
  if (place.name === "questions" && before.name === "question") shell.listView.focusRow(before.id);
}

/** @type {(shell: Shell, goTo: (hash: string) => void) => void} */
function leave({ view, picks, place, listView }, goTo) {
  if (view?.leave?.() === true) return;
  const { back } = PLACES[place.name];
  if (picks.isOn && place.name === "questions") listView.setPicking(false);
  else if (back !== "") goTo(back);
}

/** @type {(shell: Shell, goTo: (hash: string) => void, step: 1 | -1) => void} */
function step({ listView, place }, goTo, by) {
  const id = listView.neighbour(by);
  if (id === undefined || PLACES[place.name].tab !== "questions") return;
  if (place.name === "question") goTo(`#/q/${encodeURIComponent(id)}`);
  else listView.focusRow(id);
}

/**
 * @type {(terms: { readonly store: Store, readonly refreshSession: () => Promise<void> }, goTo:
 * (hash: string) => void) => Shell}
 */
function makeShell({ store, refreshSession }, goTo) {
  const picks = { ids: new Set(), isOn: false, review: () => goTo("#/batch") };
  const pauses = createPauses(store);
  const reviews = createReviews(store);
  const above = el("div", {}, pauses.element, reviews.element);
  return {
    store,
    picks,
    pauses,
    reviews,
    listView: createListView({ store, picks, pauses: above }),
    historyView: createHistoryView(store),
    passkeysView: createPasskeysView({ store, onChanged: refreshSession }),
    view: undefined,
    place: { name: "questions", id: "" },
    isOpen: false,
  };
}

/** @param {{ readonly store: Store, readonly refreshSession: () => Promise<void> }} terms */
export function createScreens(terms) {
  const goTo = (/** @type {string} */ hash) => {
    if (location.hash === hash) void route(shell, goTo);
    else location.hash = hash;
  };
  const shell = makeShell(terms, goTo);
  const { listView, pauses } = shell;
  pauses.onChange(() => shell.view?.update?.());
  return {
    goTo,
    route: () => void route(shell, goTo),
    isOpen: () => shell.isOpen,
    open() {
      shell.isOpen = true;
      listView.update({ what: "all" });
      void shell.pauses.load();
      void shell.reviews.load();
      void route(shell, goTo);
    },
    close() {
      shell.isOpen = false;
      shell.pauses.clear();
      shell.reviews.clear();
      shell.view?.close?.();
      shell.view = undefined;
      listView.setPicking(false);
    },
    tick() {
      if (!shell.isOpen || document.visibilityState === "hidden") return;
      listView.tick();
      shell.pauses.tick();
      shell.reviews.tick();
      shell.view?.tick?.();
    },
    /** @param {Change} change */
    update(change) {
      listView.update(change);
      shell.view?.update?.();
      shell.view?.tick?.();
    },
    /** @param {1 | -1} by */
    step: (by) => step(shell, goTo, by),
    /** @param {string} key */
    key: (key) => shell.view?.key?.(key) ?? false,
    leave: () => leave(shell, goTo),
    togglePicking() {
      if (shell.place.name === "questions") listView.togglePicking();
    },
    focusFilter: () => listView.focusFilter(),
  };
}

/** @typedef {ReturnType<typeof createScreens>} Screens */
