/**
 * The gate: joins policy, people and log into one function, Action → Verdict. Settle, record,
 * release; every failure is a deny.
 */
import type { Action } from "../action/action.js";
import type {
  ConsentGate,
  Evaluation,
  GateContext,
  GateOptions,
  ResumeOptions,
} from "./consent-gate.js";
import { decide } from "./decide.js";
import { deniesAll } from "./denies-all.js";
import { deny, messageOf } from "./deny.js";
import { admit, readAnswerer } from "./door.js";
import { endPaused } from "./end-paused.js";
import { failedEvaluation, judgeNow } from "./judge.js";
import { ID_CHARS_MAX, NAME_CHARS_MAX } from "../limits.js";
import { createGateParts } from "./create-gate-parts.js";
import type { GateParts, JudgeParts, PermitParts, QuestionParts } from "./gate-parts.js";
import type { ReportedOutcome } from "./reports.js";
import type { Release } from "../types/permit.js";
import { runsOf } from "./run.js";
import { cutText } from "@acp/exec-safety/text";
import { submitAnswer } from "./questions.js";
import { resumeQuestions } from "./resume.js";
import { revokeGrant } from "./revoke-grant.js";
import { reportOutcome } from "./report.js";
import type { Allowed, RunResult, Verdict } from "../verdict.js";

async function revokeHere(
  { store, append, clock, ids, revoked }: QuestionParts & Pick<PermitParts, "revoked">,
  grantId: unknown,
  revoker: unknown,
): Promise<boolean> {
  if (typeof grantId !== "string" || grantId.length > ID_CHARS_MAX) return false;
  // A name that is none keeps nothing from being revoked.
  const by = typeof revoker === "string" ? cutText(revoker, NAME_CHARS_MAX) : "unknown";
  // Before anything is waited for: a permit that is redeemed by hand asks no store.
  revoked.add(grantId);
  return (
    (await revokeGrant(
      { grants: store.grants, claims: store.claims, audit: { append }, clock, ids },
      grantId,
      by,
    )) !== undefined
  );
}

function evaluateHere(
  parts: JudgeParts,
  action: Action,
  context: Omit<GateContext, "signal">,
): Evaluation {
  const admitted = admit(action, context);
  return "decision" in admitted
    ? failedEvaluation(admitted.code, admitted.reason)
    : judgeNow(parts, admitted);
}

async function closeHere({
  shutdown,
  closers,
  denials,
  append,
}: Pick<GateParts, "shutdown" | "closers" | "denials" | "append">): Promise<void> {
  shutdown.abort(new Error("the gate is closed"));
  for (const closer of closers) closer();
  const counted = denials.rest();
  // A log that takes nothing any more has said so already.
  if (counted.length > 0) await append(counted).catch(() => undefined);
}

/**
 * Joins policy, people and log into one function that decides whether an agent may do something
 * now. Anything that no rule or layer allows and no person approves is denied, and so is anything
 * that a part fails at. A decision is durable in the log before anything is performed.
 *
 * @throws ConsentError `options_invalid` where an option is wrong, by itself or with another one.
 *
 * @example
 * ```ts
 * import { writeFile } from "node:fs/promises";
 * import { createConsentGate, toolAction } from "@acp/core";
 *
 * const gate = createConsentGate({ policy, channel, audit });
 * const path = "notes.txt";
 * const result = await gate.run(
 *   toolAction("files", "write_file", { path }),
 *   () => writeFile(path, "hello"),
 *   { agent: { id: "demo" } },
 * );
 * if (!result.ran) console.log(result.verdict.code);
 * ```
 */
export function createConsentGate(options: GateOptions): ConsentGate {
  const parts = createGateParts(options);

  const gate = async (action: Action, context: GateContext): Promise<Verdict> => {
    const opened = await decide(parts, { action, context });
    return opened.decision === "pending" ? opened.settled : opened;
  };
  const runs = runsOf(parts);
  const close = (): Promise<void> => closeHere(parts);

  return Object.assign(gate, {
    checksArguments: options.argumentCheck !== undefined,
    evaluate: (action: Action, context: Omit<GateContext, "signal">) =>
      evaluateHere(parts, action, context),
    deniesAll(action: Action) {
      try {
        return deniesAll(parts.judges(), action);
      } catch {
        return false; // each call hears what is wrong with the policy
      }
    },
    ...runs,
    report: (verdict: Allowed, outcome: ReportedOutcome) => reportOutcome(parts, verdict, outcome),
    wrap:
      <I, T>(toAction: (input: I) => Action, perform: (release: Release, input: I) => Promise<T>) =>
      async (input: I, context: GateContext): Promise<RunResult<T>> => {
        let action: Action;
        try {
          action = toAction(input);
        } catch (error) {
          return { ran: false, verdict: deny("action_invalid", messageOf(error)) };
        }
        return runs.run(action, (release) => perform(release, input), context);
      },
    open: (action: Action, context: GateContext) => decide(parts, { action, context }),
    answer: (claim: unknown, by: { readonly channel: string; readonly subject: string }) =>
      submitAnswer(parts, claim, readAnswerer(by)),
    revoke: (grantId: string, by: string) => revokeHere(parts, grantId, by),
    endPaused: () => endPaused(parts),
    resume: (resuming?: ResumeOptions) => resumeQuestions(parts, resuming),
    close,
    [Symbol.asyncDispose]: close,
  });
}
