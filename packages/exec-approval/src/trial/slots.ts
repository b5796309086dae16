/**
 * Trial slots: how many trials run at once. Whoever gets none asks a person, as without trials, so
 * that no agent's flood is at the cost of others.
 */

/** Trials at once of one agent, and of all. */
const [OF_ONE, OF_ALL] = [2, 4];

/** Hands out the places. */
export interface TrialSlots {
  /** A place until it is disposed of; `undefined` where none is free. */
  take(agent: string): Disposable | undefined;
}

/** Makes them. */
export function createTrialSlots(): TrialSlots {
  const taken: string[] = [];
  return {
    take(agent) {
      if (taken.length >= OF_ALL || taken.filter((each) => each === agent).length >= OF_ONE)
        return undefined;
      taken.push(agent);
      let isOver = false;
      return {
        [Symbol.dispose]: () => {
          if (!isOver) taken.splice(taken.indexOf(agent), 1);
          isOver = true;
        },
      };
    },
  };
}
