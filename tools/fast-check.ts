/**
 * fast-check with one seed, so that a run of all tests is the same run everywhere. To search
 * further: `ACP_SEED=$RANDOM npm test`. Vitest puts it in the place of the library.
 */
import fc from "../node_modules/fast-check/lib/fast-check.js";

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env["ACP_SEED"] ?? 1) });

// oxlint-disable-next-line import/no-default-export -- the library has one
export default fc;
