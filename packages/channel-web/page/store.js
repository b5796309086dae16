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
/**
 * @typedef {object} Known
 * @property {Map<string, Question>} open
 * @property {Map<string, Over>} over
 * @property {Link} link
 * @property {SessionFacts | undefined} session
 * @property {number} aheadMs - The inbox's clock less ours.
 */

/** Questions that ended while the page was open, and are still shown to whoever looks at them. */
const OVER_MAX = 200;

/** @type {(known: Known, question: Question, ended: Ended) => void} */
function noteEnd({ open, over }, question, ended) {
  open.delete(ended.id);
  over.set(ended.id, { question, ended });
  const [oldest] = over.keys();
  if (over.size > OVER_MAX && oldest !== undefined) over.delete(oldest);
}

/** @type {(known: Known, hello: Hello) => void} */
function takeHello(known, { now, open }) {
  known.aheadMs = now - Date.now();
  const before = new Map(known.open);
  known.open.clear();
  for (const question of open) {
    const { id } = question.request;
    const old = before.get(id);
    // What is as it was stays the same object: nothing of it is drawn again.
    known.open.set(id, old !== undefined && JSON.stringify(old) === JSON.stringify(question) ? old : question);
    known.over.delete(id);
  }
  for (const [id, question] of before) {
    // It ended while nobody told us: the history knows how.
    if (!known.open.has(id)) noteEnd(known, question, { id, status: "unknown", reason: "", at: 0 });
  }
}

/** @type {(known: Known, session: SessionFacts | undefined) => void} */
function takeSession(known, session) {
  known.session = session;
  if (session !== undefined) known.aheadMs = session.now - Date.now();
  else {
    known.open.clear();
    known.over.clear();
  }
}

export function createStore() {
  /** @type {Known} */
  const known = { open: new Map(), over: new Map(), link: "connecting", session: undefined, aheadMs: 0 };
  /** @type {Set<(change: Change) => void>} */
  const listeners = new Set();
  /** @param {Change} change */
  const tell = (change) => {
    for (const listener of listeners) listener(change);
  };
  return {
    now: () => Date.now() + known.aheadMs,
    link: () => known.link,
    /** Whether an answer can be given now. */
    isLive: () => known.link === "live",
    session: () => known.session,
    /** @param {string} id */
    find: (id) => known.open.get(id),
    /** @param {string} id */
    over: (id) => known.over.get(id),
    open: () => [...known.open.values()],
    count: () => known.open.size,
    /** @param {(change: Change) => void} listener */
    subscribe: (listener) => void listeners.add(listener),
    /** @param {Link} link */
    setLink(link) {
      if (link === known.link) return;
      known.link = link;
      tell({ what: "link" });
    },
    /** @param {SessionFacts | undefined} session */
    setSession(session) {
      takeSession(known, session);
      tell({ what: "session" });
    },
    /** @param {Hello} hello */
    hello(hello) {
      takeHello(known, hello);
      tell({ what: "all" });
    },
    /** @param {Question} question */
    put(question) {
      const { id } = question.request;
      const isNew = !known.open.has(id);
      known.open.set(id, question);
      known.over.delete(id);
      tell({ what: "open", id, isNew });
    },
    /** @param {Ended} ended */
    end(ended) {
      const question = known.open.get(ended.id);
      if (question === undefined) return;
      noteEnd(known, question, ended);
      tell({ what: "ended", id: ended.id });
    },
  };
}

/** @typedef {ReturnType<typeof createStore>} Store */
