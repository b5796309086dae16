/**
 * Whether this run searches to the end: `npm run test:deep`. Without it a test takes the part that
 * still turns red for every guard.
 */
export const isDeep = process.env["ACP_DEEP"] === "1";

/** `count` in the deep lane, a tenth of it in the quick one. */
export const inLane = (count: number): number => (isDeep ? count : Math.ceil(count / 10));
