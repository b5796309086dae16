/**
 * Once a turn: a look at the disk serves all who need it in one turn of the event loop. A turn is a
 * callback of the system with the promises that it settles, in which nothing else happens in this
 * process; in the next one everything is looked at again. So nothing is ever judged by a look that
 * is older than what asked for it.
 */

/**
 * The same function, which looks once a turn for each of its arguments. What it throws is thrown,
 * and not kept.
 *
 * @param look - Synchronous: what it finds is good until this turn is over.
 */
export function onceATurn<K, V>(look: (key: K) => V): (key: K) => V {
  const found = new Map<K, { readonly value: V }>();
  const forget = (): void => found.clear();
  return (key) => {
    const known = found.get(key);
    if (known !== undefined) return known.value;
    const value = look(key);
    // After the promises of this turn, and before anything else the system has to say.
    if (found.size === 0) process.nextTick(forget);
    found.set(key, { value });
    return value;
  };
}
