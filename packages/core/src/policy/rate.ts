/**
 * Rate limits: `"20/minute"` into the claim that the gate reserves. Counted for each rule and agent
 * with all that it started. Format: spec/policy.md §8.
 */
import { rootOf } from "../layers.js";
import type { Agent } from "../types/agent.js";
import type { LimitClaim } from "../types/limit-claim.js";
import { quote } from "@acp/exec-safety/text";
import { nearest } from "@acp/exec-safety/text";
import { shapeOf } from "./shape.js";
import type { Shape } from "./shape.js";
import { invalid, readText } from "./spot.js";
import type { Spot } from "./spot.js";

const WINDOWS_MS = { second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;
const COUNT_MAX = 1_000_000;
const RATE = /^([1-9]\d{0,6})\/([a-z]+)$/;

/** A rate: at most `max` uses within any `windowMs` milliseconds. */
export type Rate = Pick<LimitClaim, "max" | "windowMs">;

/**
 * Reads a rate limit such as `20/minute`: a number up to 1,000,000 per second, minute, hour or day.
 * Source: spec/policy.md §8.
 *
 * @throws ConsentError of the spot's subject.
 */
export function parseRate(spot: Spot): Rate {
  const text = readText(spot, 32);
  const [, count, unit] = RATE.exec(text) ?? [];
  const windowMs = Object.entries(WINDOWS_MS).find(([name]) => name === unit)?.[1];
  if (windowMs !== undefined && Number(count) <= COUNT_MAX) return { max: Number(count), windowMs };
  const near = unit === undefined ? undefined : nearest(unit, Object.keys(WINDOWS_MS));
  const suggestion =
    windowMs !== undefined || near === undefined ? undefined : `"${count}/${near}"`;
  throw invalid(
    spot,
    `expected a rate limit such as "20/minute", up to ${COUNT_MAX} a second, minute, hour or day, got ${quote(text)}`,
    {
      suggestion,
    },
  );
}

/** A rate limit, such as `20/minute`. */
export const rate: Shape<Rate> = shapeOf(
  {
    type: "string",
    pattern: `^([1-9][0-9]{0,5}|${COUNT_MAX})/(${Object.keys(WINDOWS_MS).join("|")})$`,
  },
  parseRate,
);

/**
 * What one action takes of a rule's rate. The length in front keeps two pairs of names from making
 * one key.
 */
export function rateClaim({ max, windowMs }: Rate, ruleId: string, agent: Agent): LimitClaim {
  return { key: `rate:${ruleId.length}:${ruleId}:${rootOf(agent)}`, amount: 1, max, windowMs };
}
