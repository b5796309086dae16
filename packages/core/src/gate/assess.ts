/**
 * Assessors: outside help that may only tighten. One that throws, hangs or returns nonsense denies.
 */
import { type Admitted, factsOf } from "./door.js";
import type { Evaluation, LayerRuling } from "./consent-gate.js";
import { messageOf } from "./deny.js";
import { combine, type Hearing } from "./evaluate.js";
import { frozenCopy } from "../json/own.js";
import type { Ruling } from "../layers.js";
import type { JudgeParts } from "./gate-parts.js";
import { readRuling } from "./read-ruling.js";

const failed = (name: string, why: string): Ruling => ({
  effect: "deny",
  ruleId: `${name}:failed`,
  reason: `the assessor "${name}" could not assess: ${why}`,
});

/** The evaluation with what every assessor adds. */
export async function assess(
  parts: JudgeParts,
  hearing: Hearing,
  { action, context }: Admitted,
): Promise<Evaluation> {
  const rulings: LayerRuling[] = [...hearing.rulings];
  // Frozen: it is the layer's word itself, and an assessor that could change it could lift a deny.
  const ruling = frozenCopy(combine(hearing).ruling);
  const signal = context.signal ?? parts.shutdown.signal;
  for (const assessor of parts.assessors) {
    try {
      const facts = Object.freeze(factsOf(context, parts.clock.now()));
      const given = await parts.within(
        assessor.assess(action, facts, ruling, signal),
        `the assessor "${assessor.name}"`,
      );
      const checked = readRuling(given);
      // An assessor's "allow" adds nothing: it may only tighten.
      if (checked !== undefined && checked.effect !== "allow")
        rulings.push({ layer: assessor.name, ruling: checked });
    } catch (error) {
      rulings.push({ layer: assessor.name, ruling: failed(assessor.name, messageOf(error)) });
      return { ...combine({ ...hearing, rulings }), failure: "assessor_failed" };
    }
  }
  return combine({ ...hearing, rulings });
}
