/**
 * Everything that can be reached from some values: own and inherited members, symbols, getters,
 * what iterators yield.
 */

const ITERATED_MAX = 3;

const isReachable = (value: unknown): value is object =>
  (typeof value === "object" && value !== null) || typeof value === "function";

/** What a promise holds by now, or nothing; a rejection is what it rejects with. */
async function settled(work: unknown): Promise<unknown> {
  const soon = new Promise((resolve) => setImmediate(resolve));
  try {
    return await Promise.race([work, soon]);
  } catch (error) {
    return error;
  }
}

/** Members of one object, whatever it takes to read them. */
function membersOf(value: object): readonly unknown[] {
  const members: unknown[] = [Reflect.getPrototypeOf(value)];
  for (const key of Reflect.ownKeys(value)) {
    const { get, set } = Reflect.getOwnPropertyDescriptor(value, key) ?? {};
    members.push(get, set);
    try {
      members.push(Reflect.get(value, key));
    } catch {
      // An accessor that belongs to instances.
    }
  }
  // Accessors of its prototypes, read of the object itself.
  for (let from = Reflect.getPrototypeOf(value); from !== null; from = Reflect.getPrototypeOf(from))
    for (const key of Reflect.ownKeys(from)) {
      try {
        if (Reflect.getOwnPropertyDescriptor(from, key)?.get !== undefined)
          members.push(Reflect.get(from, key, value));
      } catch {
        // As above.
      }
    }
  return members;
}

function inertMembersOf(value: object): readonly unknown[] {
  const properties = Reflect.ownKeys(value).map((key) =>
    Reflect.getOwnPropertyDescriptor(value, key),
  );
  return [
    Reflect.getPrototypeOf(value),
    ...properties.flatMap((each) => [each?.get, each?.set, each?.value]),
  ];
}

/** What an iterable of either kind yields first; its iterator too. */
async function yieldedBy(value: object): Promise<readonly unknown[]> {
  const yielded: unknown[] = [];
  for (const symbol of [Symbol.iterator, Symbol.asyncIterator]) {
    try {
      const make: unknown = Reflect.get(value, symbol);
      if (typeof make !== "function") continue;
      const iterator: unknown = Reflect.apply(make, value, []);
      yielded.push(iterator);
      if (!isReachable(iterator) || !("next" in iterator) || typeof iterator.next !== "function")
        continue;
      for (let taken = 0; taken < ITERATED_MAX; taken++)
        yielded.push(await settled(Reflect.apply(iterator.next, iterator, [])));
    } catch (error) {
      yielded.push(error);
    }
  }
  return yielded;
}

/** More than that is no package's surface, but something that makes new objects for ever. */
const REACHED_MAX = 50_000;

/** How far a walk goes. */
export interface Reach {
  /** What is not looked into. */
  readonly known?: ReadonlySet<object>;
  /** Whether nothing is called on the way: no accessor, no iterator, no promise. */
  readonly inert?: boolean;
}

/** Every object and function that the roots lead to. */
export async function reachableFrom(
  roots: readonly unknown[],
  { known = new Set(), inert = false }: Reach = {},
): Promise<ReadonlySet<object>> {
  const seen = new Set<object>();
  const waiting = [...roots];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (!isReachable(value) || seen.has(value) || known.has(value)) continue;
    if (seen.add(value).size > REACHED_MAX) throw new Error("too much is reachable");
    if (inert) {
      waiting.push(...inertMembersOf(value));
      continue;
    }
    waiting.push(...membersOf(value), ...(await yieldedBy(value)));
    if (value instanceof Map || value instanceof Set) waiting.push(...value.values());
    if (value instanceof Promise) waiting.push(await settled(value));
  }
  return seen;
}
