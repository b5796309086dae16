/**
 * Screens: which screen the address names, and what stands beside it. `#/`, `#/q/<id>`, `#/batch`, `#/history`, `#/history/<id>`, `#/passkeys`.
 */
import { createBatchView } from "./batch-view.js";
import { byId, el } from "./dom.js";
import { createHistoryView } from "./history-view.js";
import { createListView } from "./list-view.js";
import { createPasskeysView } from "./passkeys-view.js";
import { createQuestionView } from "./question-view.js";
import { scrollToTop } from "./reading.js";

/** @typedef {import("./store.js").Store} Store */
/** @typedef {import("./store.js").Change} Change */
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
/** @typedef {{ readonly name: "questions" | "question" | "batch" | "history" | "record" | "passkeys", readonly id: string }} Place */

/** @returns {Place} */
function readPlace() {
  const [, section = "", id = ""] = location.hash.split("/");
  const decode = () => {
    try {
      return decodeURIComponent(id);
    } catch {
      return "";
    }
  };
  if (section === "q" && id !== "") return { name: "question", id: decode() };
  if (section === "history") return { name: id === "" ? "history" : "record", id: decode() };
  if (section === "batch" || section === "passkeys") return { name: section, id: "" };
  return { name: "questions", id: "" };
}

const BACK = { questions: "", question: "#/", batch: "#/", history: "#/", record: "#/history", passkeys: "#/" };
const TABS = {
  questions: "questions",
  question: "questions",
  batch: "questions",
  history: "history",
  record: "history",
  passkeys: "passkeys",
};

/** What a wide screen shows beside a list. @param {string} text */
const placeholder = (text) => ({ element: el("p", { class: "placeholder" }, text) });

/** @param {{ readonly store: Store, readonly refreshSession: () => Promise<void> }} terms */
export function createScreens({ store, refreshSession }) {
  const picks = { ids: /** @type {Set<string>} */ (new Set()), isOn: false, review: () => goTo("#/batch") };
  const listView = createListView(store, picks);
  const historyView = createHistoryView(store);
  const passkeysView = createPasskeysView({ store, onChanged: refreshSession });
  /** @type {View | undefined} */
  let view;
  /** @type {Place} */
  let place = { name: "questions", id: "" };
  let isOpen = false;

  /** @param {string} hash */
  function goTo(hash) {
    if (location.hash === hash) route();
    else location.hash = hash;
  }

  /** @type {() => View | Promise<View>} */
  function viewOf() {
    switch (place.name) {
      case "question":
        return createQuestionView({ store, id: place.id, goTo });
      case "batch": {
        const questions = store.open().filter(({ request }) => picks.ids.has(request.id));
        if (questions.length > 0) return createBatchView({ store, questions, onDone: () => listView.setPicking(false) });
        return placeholder("Nothing is selected");
      }
      case "history":
      case "record":
        return recordView(place.id);
      case "passkeys":
        void passkeysView.load();
        return passkeysView;
      case "questions":
        return placeholder("Choose a question to see all of it");
      default:
        return placeholder("");
    }
  }

  /** @param {string} id */
  async function recordView(id) {
    await historyView.load();
    const detail = historyView.detail(id);
    if (detail !== undefined) return { element: detail };
    return placeholder(id === "" ? "Choose one to see its answers and proofs" : "The history does not have this one");
  }

  /** @param {View} next */
  function showView(next) {
    view?.close?.();
    view = next;
    byId("main").replaceChildren(next.element);
    next.tick?.();
    if (next.focus !== undefined) return next.focus();
    const title = next.element.querySelector("h1");
    if (title instanceof HTMLElement) title.focus({ preventScroll: true });
  }

  function showList() {
    const list = byId("list");
    const isHistory = TABS[place.name] === "history";
    const wanted = isHistory ? historyView.element : listView.element;
    if (list.firstElementChild !== wanted) list.replaceChildren(wanted);
    listView.setCurrent(place.name === "question" ? place.id : undefined);
    for (const tab of document.querySelectorAll("#tabs a")) {
      if (tab.getAttribute("data-tab") === TABS[place.name]) tab.setAttribute("aria-current", "page");
      else tab.removeAttribute("aria-current");
    }
  }

  function route() {
    if (!isOpen) return;
    const before = place;
    place = readPlace();
    document.body.dataset["place"] = place.name;
    showList();
    const made = viewOf();
    if (made instanceof Promise) {
      const asked = place;
      void made.then((next) => {
        if (asked === place) showView(next);
      });
    } else showView(made);
    scrollToTop();
    if (place.name === "questions" && before.name === "question") listView.focusRow(before.id);
  }

  return {
    route,
    goTo,
    isOpen: () => isOpen,
    open() {
      isOpen = true;
      listView.update({ what: "all" });
      route();
    },
    close() {
      isOpen = false;
      view?.close?.();
      view = undefined;
      picks.ids.clear();
    },
    tick() {
      if (!isOpen || document.visibilityState === "hidden") return;
      listView.tick();
      view?.tick?.();
    },
    /** @param {Change} change */
    update(change) {
      listView.update(change);
      view?.update?.();
      view?.tick?.();
    },
    /** @param {1 | -1} step */
    step(step) {
      const id = listView.neighbour(step);
      if (id === undefined || TABS[place.name] !== "questions") return;
      if (place.name === "question") goTo(`#/q/${encodeURIComponent(id)}`);
      else listView.focusRow(id);
    },
    /** @param {string} key */
    key: (key) => view?.key?.(key) ?? false,
    leave() {
      if (view?.leave?.() === true) return;
      if (picks.isOn && place.name === "questions") return listView.setPicking(false);
      if (BACK[place.name] !== "") goTo(BACK[place.name]);
    },
    togglePicking() {
      if (place.name === "questions") listView.setPicking(!picks.isOn);
    },
    focusFilter: () => listView.focusFilter(),
  };
}

/** @typedef {ReturnType<typeof createScreens>} Screens */
