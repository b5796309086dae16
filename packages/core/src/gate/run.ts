/** Running: decides, and performs at once what is allowed. */
import type { Action } from "../action/action.js";
import type { ConsentGate, GateContext, Performance } from "./consent-gate.js";
import { decide } from "./decide.js";
import { readPerformance, readPerformOptions } from "./door.js";
import type { DecideParts, PerformParts } from "./gate-parts.js";
import { performOnce } from "./perform.js";
import type { Pending, RunResult } from "../verdict.js";

/** The ways of a gate to perform something. */
export function runsOf(
  parts: DecideParts & PerformParts,
): Pick<ConsentGate, "run" | "runOrOpen" | "perform"> {
  const runOrOpen = async <T>(
    action: Action,
    performance: Performance<T>,
    context: GateContext,
  ): Promise<RunResult<T> | Pending> => {
    const read = readPerformance(performance);
    if ("decision" in read) return { ran: false, verdict: read };
    // Nobody else ever sees a permit that takes its own events along.
    const opened = await decide(parts, { action, context, isRun: true });
    if (opened.decision === "pending") return opened;
    return opened.decision === "deny"
      ? { ran: false, verdict: opened }
      : performOnce(parts, opened, read);
  };
  return {
    runOrOpen,
    async run(action, perform, context) {
      const result = await runOrOpen(action, { perform }, context);
      if ("ran" in result) return result;
      const verdict = await result.settled;
      return verdict.decision === "deny"
        ? { ran: false, verdict }
        : performOnce(parts, verdict, { perform });
    },
    async perform(verdict, perform, options) {
      const read = readPerformOptions(options);
      return "decision" in read
        ? { ran: false, verdict: read }
        : performOnce(parts, verdict, { perform, ...read });
    },
  };
}
