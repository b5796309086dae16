/**
 * Escalation: who else may answer a question, and where else it is shown, after a time. Format:
 * spec/consent.md §7.
 */

import { includesPerson, personKey } from "./person.js";

/** One step of an escalation: who may answer from then on, and where the question is shown too. */
export interface EscalationStep {
  /** Milliseconds after the question was asked at which the step is taken. */
  readonly afterMs: number;
  /**
   * Ids of the people who may answer from this step on, and not before; in the terms of an ask also
   * group names. Absent: nobody new.
   */
  readonly approvers?: readonly string[];
  /** Name of the channel that also shows the question from this step on; absent: none. */
  readonly channel?: string;
}

/** Who may answer when, as one ask says it: from the start, and by whom later. */
export interface AnswerTimes {
  /** From the start; `undefined`: everybody who is named nowhere in `escalate`. */
  readonly approvers?: readonly string[] | undefined;
  readonly escalate?: readonly EscalationStep[] | undefined;
}

/** The times of several asks as one; what is left out is not there. */
export interface Merged {
  readonly approvers?: readonly string[];
  readonly escalate?: readonly EscalationStep[];
}

/** The first step that names a person; -1 for none. */
export function stepOf(steps: readonly EscalationStep[] | undefined, approverId: string): number {
  return (steps ?? []).findIndex(({ approvers = [] }) => includesPerson(approvers, approverId));
}

/**
 * When each person who is named later may answer. Who is named from the start as well need not
 * wait.
 */
function timesOf({
  approvers = [],
  escalate = [],
}: AnswerTimes): ReadonlyMap<string, EscalationStep> {
  const times = new Map<string, EscalationStep>();
  for (const step of escalate) {
    for (const id of step.approvers ?? []) {
      const known = times.get(id);
      if (!approvers.includes(id) && (known === undefined || step.afterMs < known.afterMs))
        times.set(id, step);
    }
  }
  return times;
}

const keyOf = ({ afterMs, channel }: EscalationStep): string =>
  JSON.stringify([afterMs, channel ?? ""]);

function compareSteps(a: EscalationStep, b: EscalationStep): number {
  if (a.afterMs !== b.afterMs) return a.afterMs - b.afterMs;
  return keyOf(a) < keyOf(b) ? -1 : 1;
}

/** The same asks, with each person's name spelled as it comes first. */
function inOneSpelling(asks: readonly AnswerTimes[]): readonly AnswerTimes[] {
  const spellings = new Map<string, string>();
  const spell = (names: readonly string[]): readonly string[] =>
    names.map((name) => {
      const key = personKey(name);
      const known = spellings.get(key);
      if (known === undefined) spellings.set(key, name);
      return known ?? name;
    });
  return asks.map(({ approvers, escalate }) => ({
    approvers: approvers === undefined ? undefined : spell(approvers),
    escalate: escalate?.map((step) =>
      step.approvers === undefined ? step : { ...step, approvers: spell(step.approvers) },
    ),
  }));
}

/**
 * The terms of several asks as one: a person may answer when every ask lets them, so the latest
 * time counts, and who any of them does not know may not answer at all. The question is shown
 * wherever any of them wants it.
 */
export function mergeTimes(given: readonly AnswerTimes[]): Merged {
  const asks = inOneSpelling(given);
  const latest = new Map<string, EscalationStep>();
  for (const times of asks.map(timesOf)) {
    for (const [id, step] of times) {
      const known = latest.get(id);
      if (known === undefined || compareSteps(known, step) < 0) latest.set(id, step);
    }
  }
  const lists = asks.flatMap((ask) =>
    ask.approvers === undefined ? [] : [[...ask.approvers, ...timesOf(ask).keys()]],
  );
  const [first, ...others] = lists;
  const approvers = first?.filter((id) => others.every((list) => list.includes(id)));
  const steps = new Map<string, EscalationStep>();
  for (const { approvers: _named, ...bare } of asks.flatMap(({ escalate = [] }) => escalate))
    steps.set(keyOf(bare), bare);
  const escalate = [...steps.values()]
    .toSorted(compareSteps)
    .flatMap((step): readonly EscalationStep[] => {
      const named = [...latest].filter(
        ([id, at]) =>
          keyOf(at) === keyOf(step) && (approvers === undefined || approvers.includes(id)),
      );
      if (named.length > 0) return [{ ...step, approvers: named.map(([id]) => id).toSorted() }];
      return step.channel === undefined ? [] : [step];
    });
  return {
    ...(approvers === undefined ? {} : { approvers: [...new Set(approvers)] }),
    ...(escalate.length === 0 ? {} : { escalate }),
  };
}

/**
 * The times behind a question that was made of merged ones: who waits for no step may answer from
 * the start.
 */
export function timesBehind({ approvers, escalate }: Merged): AnswerTimes {
  return { approvers: approvers?.filter((id) => stepOf(escalate, id) < 0), escalate };
}

/** Steps counted from a later moment. What was due by then, or was taken early, is due at once. */
export function rebaseSteps(
  steps: readonly EscalationStep[],
  { elapsedMs, taken }: { readonly elapsedMs: number; readonly taken: number },
): readonly EscalationStep[] {
  return steps.map((step, at) => ({
    ...step,
    afterMs: at < taken ? 1 : Math.max(1, step.afterMs - elapsedMs),
  }));
}
