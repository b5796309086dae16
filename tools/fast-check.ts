/**
 * fast-check with one seed, so that a run of all tests is the same run everywhere. To search
 * further: `ACP_SEED=$RANDOM npm test`. The quick lane tries a tenth of the cases that a test asks
 * for, but never fewer than it takes to say something. Vitest puts it in the place of the library.
 */
import fc, {
  type IAsyncProperty,
  type IProperty,
  type Parameters,
} from "../node_modules/fast-check/lib/fast-check.js";
import { inLane } from "./deep.js";

/** As many as the smallest searches ask for. */
const FEWEST = 20;
/** What fast-check takes by itself. */
const DEFAULT_RUNS = 100;

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env["ACP_SEED"] ?? 1) });

/** Who sets how many there are means it. */
const isSet = process.env["ACP_RUNS"] !== undefined;

/** How many of `runs` this lane tries. */
export const runsInLane = (runs: number): number =>
  isSet ? runs : Math.min(runs, Math.max(FEWEST, inLane(runs)));

function assert<Ts>(property: IAsyncProperty<Ts>, parameters?: Parameters<Ts>): Promise<void>;
function assert<Ts>(property: IProperty<Ts>, parameters?: Parameters<Ts>): void;
function assert<Ts>(
  property: IAsyncProperty<Ts> | IProperty<Ts>,
  parameters: Parameters<Ts> = {},
): void | Promise<void> {
  const numRuns = runsInLane(parameters.numRuns ?? DEFAULT_RUNS);
  return fc.assert<Ts>(property, { ...parameters, numRuns });
}

// oxlint-disable-next-line import/no-default-export -- the library has one
export default { ...fc, assert };
