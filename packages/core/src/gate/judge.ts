/**
 * Judging: the one path for calls, edited calls and calls that adopt an edited yes. Layers →
 * argument check → assessors, with the same facts.
 */
import { assess } from "./assess.js";
import type { Evaluation } from "./consent-gate.js";
import { messageOf } from "./deny.js";
import { type Admitted, factsOf } from "./door.js";
import { combine, hear, type Hearing } from "./evaluate.js";
import type { JudgeParts } from "./gate-parts.js";

/** What stands in the log where something keeps every judge from judging. */
export function failedEvaluation(
  failure: NonNullable<Evaluation["failure"]>,
  reason: string,
): Evaluation {
  const ruling = { effect: "deny", ruleId: failure.replace("_", ":"), reason } as const;
  return {
    ruling,
    layer: "rules",
    rulings: [{ layer: "rules", ruling }],
    category: "system",
    risk: "critical",
    level: "critical",
    failure,
  };
}

/**
 * What follows from what the layers and the argument check say of a call; a deny where they cannot
 * be heard. Never throws.
 */
function hearThen<T>(
  parts: Pick<JudgeParts, "judges" | "clock">,
  { action, context }: Admitted,
  then: (hearing: Hearing) => T,
): T | Evaluation {
  try {
    return then(hear(parts.judges(), action, factsOf(context, parts.clock.now())));
  } catch (error) {
    return failedEvaluation("policy_failed", messageOf(error));
  }
}

/**
 * What everybody who judges says: the layers, the argument check and the assessors. A promise where
 * there are assessors: nobody else is waited for.
 */
export function judge(parts: JudgeParts, call: Admitted): Evaluation | Promise<Evaluation> {
  return parts.assessors.length === 0
    ? judgeNow(parts, call)
    : hearThen(parts, call, (hearing) => assess(parts, hearing, call));
}

/**
 * What the layers and the argument check say at this moment; assessors take time, so they are not
 * heard. Never throws.
 */
export function judgeNow(parts: Pick<JudgeParts, "judges" | "clock">, call: Admitted): Evaluation {
  return hearThen(parts, call, combine);
}
