/**
 * Rota: what several owners wait for, one of each in turn, so that many of one are no queue before
 * one of another. Each owner's own keep their order.
 */

/** What waits. */
export interface Rota<T> {
  /** A place for one owner: what it puts in comes out in this order. */
  owner(): (item: T) => void;
  /** Takes out what is next; `undefined` where nothing waits. */
  next(): T | undefined;
}

/** Nothing waits. */
export function createRota<T>(): Rota<T> {
  /** Owners of whom something waits, in the order of their turns. */
  const waiting: T[][] = [];
  return {
    owner() {
      const own: T[] = [];
      return (item) => {
        own.push(item);
        if (own.length === 1) waiting.push(own);
      };
    },
    next() {
      const own = waiting.shift();
      const item = own?.shift();
      if (own !== undefined && own.length > 0) waiting.push(own);
      return item;
    },
  };
}
