/**
 * Store: what the page knows: who is signed in, whether the inbox is reached, what is open and what
 * became of the rest. Told only by the inbox.
 */

/** @typedef {import("./types.js").Question} Question */
/** @typedef {import("./types.js").Ended} Ended */
/** @typedef {import("./types.js").Hello} Hello */
/** @typedef {import("./types.js").Link} Link */
/** @typedef {import("./types.js").SessionFacts} SessionFacts */
/** @typedef {{ readonly question: Question, readonly ended: Ended }} Over */
/**
 * What changed: `id` names the one question that it is about.
 * @typedef {{ readonly what: "all" | "open" | "ended" | "run" | "link" | "session", readonly id?:
 *   string, readonly isNew?: boolean }} Change
 */
/**
 * @typedef {object} Known
 * @property {Map<string, Question>} open
 * @property {Map<string, Over>} over
 * @property {Map<string, number>} looks - How often the inbox said nothing of what became of a yes.
 * @property {Link} link
 * @property {SessionFacts | undefined} session
 * @property {number} aheadMs - The inbox's clock less ours.
 */

/** Questions that ended while the page was open, and are still shown to whoever looks at them. */
const OVER_MAX = 2_000;
/** States of a yes that has more to come. */
const RUNNING = ["waiting", "started"];
/**
 * How often the inbox is asked what became of a yes, where it says nothing about that: it may have
 * no log to read.
 */
const LOOKS_MAX = 30;

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
    known.open.set(
      id,
      old !== undefined && JSON.stringify(old) === JSON.stringify(question) ? old : question,
    );
    known.over.delete(id);
  }
  for (const [id, question] of before) {
    // It ended while nobody told us: the history knows how.
    if (!known.open.has(id)) noteEnd(known, question, { id, status: "unknown", reason: "", at: 0 });
  }
}

/**
 * What the inbox says now of a question that is over for this page. @type {(known: Known, outcome:
 * import("./types.js").Outcome) => boolean}
 */
function takeOutcome({ over, looks }, { id, status, reason = "", at = 0, run }) {
  const old = over.get(id);
  if (old === undefined || status === "unknown" || status === "open") return false;
  if (run === undefined) looks.set(id, (looks.get(id) ?? 0) + 1);
  if (old.ended.status === status && old.ended.run?.state === run?.state) return false;
  const { successor_id: successor } = old.ended;
  const ended = {
    id,
    status,
    reason,
    at,
    ...(successor === undefined ? {} : { successor_id: successor }),
    ...(run === undefined ? {} : { run }),
  };
  over.set(id, { question: old.question, ended });
  return true;
}

/**
 * The connection to its gate is lost. @type {(known: Known, lost: { readonly id: string,
 * readonly at: number }) => boolean}
 */
function takeLoss(known, { id, at }) {
  const question = known.open.get(id);
  if (question !== undefined) noteEnd(known, question, { id, status: "unknown", reason: "", at });
  return question !== undefined;
}

/**
 * What became of a yes. @type {(known: Known, told: { readonly id: string, readonly run:
 * import("./types.js").RunOutcome }) => boolean}
 */
function takeRun({ over }, { id, run }) {
  const old = over.get(id);
  if (old !== undefined) over.set(id, { question: old.question, ended: { ...old.ended, run } });
  return old !== undefined;
}

/** Ids of which there is more to learn. @param {Known} known */
const unsettledOf = ({ over, looks }) =>
  [...over.values()]
    .filter(({ ended: { id, status, run } }) => {
      if (status === "unknown" || (run !== undefined && RUNNING.includes(run.state))) return true;
      return status.startsWith("approved") && run === undefined && (looks.get(id) ?? 0) < LOOKS_MAX;
    })
    .map(({ ended: { id } }) => id);

/** @type {(known: Known, session: SessionFacts | undefined) => void} */
function takeSession(known, session) {
  known.session = session;
  if (session !== undefined) known.aheadMs = session.now - Date.now();
  else {
    known.open.clear();
    known.over.clear();
    known.looks.clear();
  }
}

/**
 * What the stream and the inbox tell.
 *
 * @param {Known} known
 * @param {(change: Change) => void} tell
 */
function told(known, tell) {
  return {
    /** @param {Link} link */
    setLink(link) {
      if (link === known.link) return;
      known.link = link;
      tell({ what: "link" });
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
      const question = known.open.get(ended.id) ?? known.over.get(ended.id)?.question;
      if (question === undefined) return;
      noteEnd(known, question, ended);
      tell({ what: "ended", id: ended.id });
    },
    /** @param {Parameters<typeof takeLoss>[1]} lost */
    lose(lost) {
      if (takeLoss(known, lost)) tell({ what: "ended", id: lost.id });
    },
    /** @param {Parameters<typeof takeRun>[1]} outcome */
    run(outcome) {
      if (takeRun(known, outcome)) tell({ what: "run", id: outcome.id });
    },
    /** @param {import("./types.js").Outcome} outcome */
    learn(outcome) {
      if (takeOutcome(known, outcome)) tell({ what: "run", id: outcome.id });
    },
  };
}

export function createStore() {
  /** @type {Known} */
  const known = {
    open: new Map(),
    over: new Map(),
    looks: new Map(),
    link: "connecting",
    session: undefined,
    aheadMs: 0,
  };
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
    unsettled: () => unsettledOf(known),
    /** @param {(change: Change) => void} listener */
    subscribe: (listener) => void listeners.add(listener),
    /** @param {SessionFacts | undefined} session */
    setSession(session) {
      takeSession(known, session);
      tell({ what: "session" });
    },
    ...told(known, tell),
  };
}

/** @typedef {ReturnType<typeof createStore>} Store */
