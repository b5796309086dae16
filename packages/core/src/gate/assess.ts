/** Assessors: outside help that may only tighten. One that throws, hangs or returns nonsense denies. */
import type { Action } from "../action/action.js";
import { factsOf } from "./allow.js";
import type { Evaluation, GateContext, LayerRuling } from "./consent-gate.js";
import { messageOf } from "./deny.js";
import { checkRuling, combine, type Hearing } from "./evaluate.js";
import type { Ruling } from "../layers.js";
import type { GateParts } from "./parts.js";

const failed = (name: string, why: string): Ruling => ({
  effect: "deny",
  ruleId: `${name}:failed`,
  reason: `the assessor "${name}" could not assess: ${why}`,
});

/** The evaluation with what every assessor adds. */
export async function assess(
  parts: GateParts,
  hearing: Hearing,
  { action, context }: { readonly action: Action; readonly context: GateContext },
): Promise<Evaluation> {
  const rulings: LayerRuling[] = [...hearing.rulings];
  const { ruling } = combine(hearing);
  const signal = context.signal ?? parts.shutdown.signal;
  for (const assessor of parts.assessors) {
    try {
      const facts = factsOf(context, parts.clock.now());
      const given = await parts.within(assessor.assess(action, facts, ruling, signal), `the assessor "${assessor.name}"`);
      const checked = checkRuling(assessor.name, given);
      if (checked !== given) throw new Error("it returned no ruling");
      // An assessor's "allow" adds nothing: it may only tighten.
      if (checked !== undefined && checked.effect !== "allow") rulings.push({ layer: assessor.name, ruling: checked });
    } catch (error) {
      rulings.push({ layer: assessor.name, ruling: failed(assessor.name, messageOf(error)) });
      return { ...combine({ ...hearing, rulings }), failure: "assessor_failed" };
    }
  }
  return combine({ ...hearing, rulings });
}
