/** Deferred: a promise that somebody else settles. */

/** The promise, and what settles it. */
export function deferred<T>(): readonly [Promise<T>, (value: T) => void] {
  let settle: (value: T) => void = () => {};
  const promise = new Promise<T>((resolve) => {
    settle = resolve;
  });
  return [promise, settle];
}
