/**
 * Store: what the page knows: who is signed in, whether the inbox is reached, what is open and what became of the rest. Told only by the inbox.
 */

/** @typedef {import("./types.js").Question} Question */
/** @typedef {import("./types.js").Ended} Ended */
/** @typedef {import("./types.js").Hello} Hello */
/** @typedef {import("./types.js").Link} Link */
/** @typedef {import("./types.js").SessionFacts} SessionFacts */
/** @typedef {{ readonly question: Question, readonly ended: Ended }} Over */
/**
 * What changed: `id` names the one question that it is about.
 * @typedef {{ readonly what: "all" | "open" | "ended" | "link" | "session", readonly id?: string, readonly isNew?: boolean }} Change
 */

/** Questions that ended while the page was open, and are still shown to whoever looks at them. */
const OVER_MAX = 200;

export function createStore() {
  /** @type {Map<string, Question>} */
  const open = new Map();
  /** @type {Map<string, Over>} */
  const over = new Map();
  /** @type {Set<(change: Change) => void>} */
  const listeners = new Set();
  /** @type {Link} */
  let link = "connecting";
  /** @type {SessionFacts | undefined} */
  let session;
  /** The inbox's clock less ours. */
  let aheadMs = 0;

  /** @param {Change} change */
  const tell = (change) => {
    for (const listener of listeners) listener(change);
  };

  /** @param {Ended} ended */
  function end(ended) {
    const question = open.get(ended.id);
    open.delete(ended.id);
    if (question === undefined) return;
    over.set(ended.id, { question, ended });
    const [oldest] = over.keys();
    if (over.size > OVER_MAX && oldest !== undefined) over.delete(oldest);
  }

  return {
    now: () => Date.now() + aheadMs,
    link: () => link,
    /** Whether an answer can be given now. */
    isLive: () => link === "live",
    session: () => session,
    /** @param {string} id */
    find: (id) => open.get(id),
    /** @param {string} id */
    over: (id) => over.get(id),
    open: () => [...open.values()],
    count: () => open.size,
    /** @param {(change: Change) => void} listener */
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /** @param {Link} next */
    setLink(next) {
      if (next === link) return;
      link = next;
      tell({ what: "link" });
    },
    /** @param {SessionFacts | undefined} next */
    setSession(next) {
      session = next;
      if (next === undefined) {
        open.clear();
        over.clear();
      } else aheadMs = next.now - Date.now();
      tell({ what: "session" });
    },
    /** @param {Hello} hello */
    hello(hello) {
      aheadMs = hello.now - Date.now();
      const before = new Map(open);
      open.clear();
      for (const question of hello.open) open.set(question.request.id, question);
      // What ended while nobody told us: the history knows how.
      for (const [id, question] of before) {
        if (open.has(id)) continue;
        over.set(id, { question, ended: { id, status: "unknown", reason: "", at: 0 } });
      }
      tell({ what: "all" });
    },
    /** @param {Question} question */
    put(question) {
      const { id } = question.request;
      const isNew = !open.has(id);
      open.set(id, question);
      over.delete(id);
      tell({ what: "open", id, isNew });
    },
    /** @param {Ended} ended */
    end(ended) {
      end(ended);
      tell({ what: "ended", id: ended.id });
    },
  };
}

/** @typedef {ReturnType<typeof createStore>} Store */
