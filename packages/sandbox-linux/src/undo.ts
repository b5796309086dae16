/** Undo: what has to be taken back at the end, in the other order, once. */

/** Steps to take back. */
export interface Undo {
  /** Adds a step; it is taken back before those that are there. */
  add(step: () => Promise<void> | void): void;
  /**
   * Takes all of them back. Every call gets the same outcome.
   *
   * @throws the first error, after the other steps; the last step of all is then left out.
   */
  all(): Promise<void>;
}

/**
 * Makes a list.
 *
 * @param last - Done only where nothing went wrong: removes the record of what there is to take
 *   back.
 */
export function createUndo(last: () => Promise<void>): Undo {
  const steps: (() => Promise<void> | void)[] = [];
  let outcome: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    const errors: unknown[] = [];
    for (const step of steps.toReversed()) {
      try {
        await step();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
    await last();
  };
  return {
    add: (step) => void steps.push(step),
    all: () => (outcome ??= run()),
  };
}
