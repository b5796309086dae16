/**
 * Whether this run searches to the end: `npm run test:deep`. Without it a test takes the part that
 * still turns red for every guard.
 */
export const isDeep = process.env["ACP_DEEP"] === "1";

/** `count` in the deep lane, a tenth of it in the quick one. */
export const inLane = (count: number): number => (isDeep ? count : Math.ceil(count / 10));

/** In the quick lane one item of this many stands for the others. */
const SHARE = 10;

/**
 * All `items` in the deep lane. In the quick one each tenth, counted on from the place `first`: who
 * asks for several shares of one list gives each another place.
 */
export const someInLane = <T>(items: readonly T[], first = 0): readonly T[] =>
  isDeep ? items : items.filter((_, at) => at % SHARE === first % Math.min(SHARE, items.length));

/** The whole numbers below `count`, as many of them as `someInLane()` says. */
export const numbersInLane = (count: number): readonly number[] =>
  someInLane(Array.from({ length: count }, (_, at) => at));
