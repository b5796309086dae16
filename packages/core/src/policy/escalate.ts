/**
 * Escalation of a rule: who else is asked, and where else, after a time without an answer. Format:
 * spec/policy.md §2.2.
 */
import type { EscalationStep } from "../approval/escalation.js";
import { ASK_TIMEOUT_MS_MAX, ESCALATION_STEPS_MAX, NAME_CHARS_MAX } from "../limits.js";
import { quote } from "@acp/exec-safety/text";
import { invalid, readList, readMap, readNumber, readText } from "./spot.js";
import type { Spot } from "./spot.js";

const KEYS = ["to", "channel", "after"] as const;
const CHANNEL = /^[a-z][a-z0-9-]*$/;
const AFTER_S = { min: 0.001, max: ASK_TIMEOUT_MS_MAX / 1_000 };

/** Reads the list `escalate`. */
export function parseEscalate(spot: Spot): readonly EscalationStep[] {
  const list = readList(spot);
  if (list.length === 0)
    throw invalid(spot, "the list is empty; leave the key out for no escalation");
  if (list.length > ESCALATION_STEPS_MAX)
    throw invalid(spot, `there are more than ${ESCALATION_STEPS_MAX} steps`);
  const steps = list.map(parseStep);
  for (const [at, { afterMs }] of steps.entries()) {
    if (afterMs < (steps[at - 1]?.afterMs ?? 0))
      throw invalid(list[at] ?? spot, "the steps are not in the order of their times");
  }
  return steps;
}

function parseStep(spot: Spot): EscalationStep {
  const entries = readMap(spot, KEYS);
  const [to, channel, after] = [entries.get("to"), entries.get("channel"), entries.get("after")];
  if (after === undefined || (to === undefined && channel === undefined))
    throw invalid(spot, 'a step has "after", and "to" or "channel" or both');
  return {
    afterMs: Math.round(readNumber(after, AFTER_S) * 1_000),
    ...(to === undefined ? {} : { approvers: readNames(to) }),
    ...(channel === undefined ? {} : { channel: readChannel(channel) }),
  };
}

/** One id or group name, or a list of them. */
function readNames(spot: Spot): readonly string[] {
  if (typeof spot.value === "string") return [readText(spot, NAME_CHARS_MAX)];
  const names = readList(spot).map((each) => readText(each, NAME_CHARS_MAX));
  if (names.length === 0)
    throw invalid(spot, "the list is empty: the question would be escalated to nobody");
  return names;
}

function readChannel(spot: Spot): string {
  const name = readText(spot, NAME_CHARS_MAX);
  if (!CHANNEL.test(name))
    throw invalid(
      spot,
      `${quote(name)} is no channel's name: those are of the form [a-z][a-z0-9-]*`,
    );
  return name;
}
