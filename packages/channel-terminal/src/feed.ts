/**
 * Feed: one writer, any number of readers; every reader sees what is pushed after it began to
 * iterate.
 */

/** An async iterable that is written to. */
export interface Feed<T> extends AsyncIterable<T> {
  /** Hands a value to every reader; ignored after {@link Feed.end}. */
  push(value: T): void;
  /** Ends every reader once it has read what it was handed. */
  end(): void;
}

interface Reader<T> {
  push(value: T): void;
  end(): void;
}

const over = <T>(): IteratorResult<T> => ({ done: true, value: undefined });

function createReader<T>(leave: (reader: Reader<T>) => void): Reader<T> & AsyncIterator<T> {
  const values: T[] = [];
  const waiting: ((result: IteratorResult<T>) => void)[] = [];
  let ended = false;
  const reader: Reader<T> & AsyncIterator<T> = {
    push(value) {
      const take = waiting.shift();
      if (take === undefined) values.push(value);
      else take({ done: false, value });
    },
    end() {
      ended = true;
      for (const take of waiting.splice(0)) take(over());
    },
    next() {
      const value = values.shift();
      if (value !== undefined) return Promise.resolve({ done: false, value });
      if (ended) return Promise.resolve(over<T>());
      return new Promise((resolve) => waiting.push(resolve));
    },
    return() {
      leave(reader);
      values.length = 0;
      reader.end();
      return Promise.resolve(over<T>());
    },
  };
  return reader;
}

/** A feed without values. Values are objects, so that `undefined` means "none yet". */
export function createFeed<T extends object>(): Feed<T> {
  const readers = new Set<Reader<T>>();
  let ended = false;
  return {
    push(value) {
      for (const reader of readers) reader.push(value);
    },
    end() {
      ended = true;
      for (const reader of readers) reader.end();
      readers.clear();
    },
    [Symbol.asyncIterator]() {
      const reader = createReader<T>((gone) => readers.delete(gone));
      if (ended) reader.end();
      else readers.add(reader);
      return reader;
    },
  };
}
