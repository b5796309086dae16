/**
 * Whether this run searches to the end: `npm run test:deep`. Without it a test takes the part that
 * still turns red for every guard.
 */
export const isDeep = process.env["ACP_DEEP"] === "1";
