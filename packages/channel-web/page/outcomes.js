/**
 * Outcomes: asks the inbox what became of questions of which the page was told nothing: its stream,
 * or their gate, was lost.
 */

/** @typedef {import("./store.js").Store} Store */
/** @typedef {import("./types.js").Outcome} Outcome */

const LOOK_EVERY_MS = 2_000;
/** Questions of one request. */
const AT_ONCE = 500;

/**
 * Asks once for everything that is not settled.
 *
 * @param {Store} store
 * @param {(body: object) => Promise<{ readonly outcomes: readonly Outcome[] }>} post
 */
export async function lookUp(store, post) {
  const ids = store.unsettled();
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const { outcomes } = await post({ ids: ids.slice(at, at + AT_ONCE) });
    for (const outcome of outcomes) store.learn(outcome);
  }
}

/**
 * Asks from now on, while there is something to ask and somebody to answer.
 *
 * @param {Store} store
 * @param {(body: object) => Promise<{ readonly outcomes: readonly Outcome[] }>} post
 */
export function followOutcomes(store, post) {
  let isAsking = false;
  const ask = async () => {
    if (isAsking || !store.isLive() || store.unsettled().length === 0) return;
    isAsking = true;
    await lookUp(store, post).catch(() => undefined);
    isAsking = false;
  };
  setInterval(() => void ask(), LOOK_EVERY_MS);
}
