/**
 * Escalation of a rule: who else is asked, and where else, after a time without an answer. Format:
 * spec/policy.md §2.2.
 */
import type { EscalationStep } from "../approval/escalation.js";
import { ASK_TIMEOUT_MS_MAX, ESCALATION_STEPS_MAX, NAME_CHARS_MAX } from "../limits.js";
import { quote } from "@acp/exec-safety/text";
import { atLeastOne } from "./key-rules.js";
import { optional, required, section } from "./section.js";
import { below, list, number, refined, text, textLike } from "./shape.js";
import type { Shape } from "./shape.js";
import { invalid } from "./spot.js";

const AFTER_S = { min: 0.001, max: ASK_TIMEOUT_MS_MAX / 1_000 };
const MISSING = 'a step has "after", and "to" or "channel" or both';

const name = text(NAME_CHARS_MAX);
const names = list(name, {
  min: 1,
  problem: "the list is empty: the question would be escalated to nobody",
});

/** One id or group name, or a list of them. */
const people: Shape<readonly string[]> = {
  schema: { anyOf: [name.schema, names.schema] },
  read(spot) {
    if (typeof spot.value !== "string") return names.read(spot, undefined);
    const one = name.read(spot, undefined);
    return one.mistakes === undefined ? { value: [one.value] } : one;
  },
};

const channel: Shape<string> = textLike(/^[a-z][a-z0-9-]*$/, {
  charsMax: NAME_CHARS_MAX,
  problem: (written) =>
    `${quote(written)} is not a channel's name, which has the form [a-z][a-z0-9-]*`,
});

const step: Shape<EscalationStep> = refined(
  section(
    {
      afterS: required("after", number(AFTER_S), "Seconds since the question was asked."),
      approvers: optional("to", people, "Who may answer from then on: IDs and group names."),
      channel: optional("channel", channel, "The channel that shows the question from then on."),
    },
    [atLeastOne(["to", "channel"], MISSING)],
    { missing: () => MISSING },
  ),
  ({ afterS, ...rest }) => ({ afterMs: Math.round(afterS * 1_000), ...rest }),
);

/** The list `escalate`. */
export const escalate: Shape<readonly EscalationStep[]> = refined(
  list(step, {
    min: 1,
    max: ESCALATION_STEPS_MAX,
    problem: `there are more than ${ESCALATION_STEPS_MAX} steps`,
    empty: "the list is empty; leave the key out for no escalation",
  }),
  (steps, spot) => {
    for (const [at, { afterMs }] of steps.entries())
      if (afterMs < (steps[at - 1]?.afterMs ?? 0))
        throw invalid(below(spot, at), 'the steps are not in ascending order of "after"');
    return steps;
  },
);
