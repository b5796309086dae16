/**
 * The gate: joins policy, people and log into one function, Action → Verdict. Settle, record, release; every failure is a deny.
 */
import type { Action } from "../action/action.js";
import { endQuestion } from "./advance.js";
import { factsOf } from "./allow.js";
import type { ConsentGate, GateContext, GateOptions } from "./consent-gate.js";
import { decide } from "./decide.js";
import { deny, messageOf } from "./deny.js";
import { evaluate } from "./evaluate.js";
import { type GateParts, makeParts } from "./parts.js";
import { performOnce } from "./perform.js";
import type { Release } from "../permit.js";
import { showQuestion, submitAnswer } from "./questions.js";
import { revokeGrant } from "./revoke-grant.js";
import type { RunResult, Verdict } from "../verdict.js";

/** After a restart: what is out of time ends, what is still open is shown again. */
async function resumeQuestions(parts: GateParts): Promise<number> {
  let redelivered = 0;
  for await (const record of parts.store.pending.open()) {
    if (parts.questions.has(record.id)) continue;
    const nowMs = parts.clock.now();
    if (nowMs >= record.request.expiresAtMs) {
      await endQuestion(parts, record.id, { type: "expire", atMs: nowMs });
      continue;
    }
    showQuestion(parts, record, true);
    redelivered++;
  }
  return redelivered;
}

async function revokeHere({ store, append, clock, ids, revoked }: GateParts, grantId: string, by: string): Promise<boolean> {
  // Before anything is waited for: a permit that is redeemed by hand asks no store.
  revoked.add(grantId);
  return (await revokeGrant({ grants: store.grants, audit: { append }, clock, ids }, grantId, by)) !== undefined;
}

/**
 * Makes a gate.
 *
 * @example
 * ```ts
 * const gate = createConsentGate({ policy, channel, audit });
 * const result = await gate.run(toolAction("files", "write_file", { path }), () => write(path), { agent: { id: "demo" } });
 * ```
 * @throws ConsentError `options_invalid` where the parts do not fit together.
 */
export function createConsentGate(options: GateOptions): ConsentGate {
  const parts = makeParts(options);

  const gate = async (action: Action, context: GateContext): Promise<Verdict> => {
    const opened = await decide(parts, action, context);
    return opened.decision === "pending" ? opened.settled : opened;
  };
  const run = async <T>(action: Action, perform: (release: Release) => Promise<T>, context: GateContext): Promise<RunResult<T>> => {
    const verdict = await gate(action, context);
    return verdict.decision === "deny" ? { ran: false, verdict } : performOnce(parts, verdict, { perform });
  };
  const close = (): Promise<void> => {
    parts.shutdown.abort(new Error("the gate is closed"));
    for (const closer of parts.closers) closer();
    return Promise.resolve();
  };

  return Object.assign(gate, {
    evaluate: (action: Action, context: Pick<GateContext, "agent" | "session" | "task">) =>
      evaluate(parts.judges(), action, factsOf(context, parts.clock.now())),
    run,
    perform: <T>(
      verdict: Parameters<ConsentGate["perform"]>[0],
      perform: (release: Release) => Promise<T>,
      { signal }: { readonly signal?: AbortSignal } = {},
    ) => performOnce(parts, verdict, { perform, signal }),
    wrap:
      <I, T>(toAction: (input: I) => Action, perform: (release: Release, input: I) => Promise<T>) =>
      async (input: I, context: GateContext): Promise<RunResult<T>> => {
        let action: Action;
        try {
          action = toAction(input);
        } catch (error) {
          return { ran: false, verdict: deny("action_invalid", messageOf(error)) };
        }
        return run(action, (release) => perform(release, input), context);
      },
    open: (action: Action, context: GateContext) => decide(parts, action, context),
    answer: (claim: unknown, by: { readonly channel: string; readonly subject: string }) => submitAnswer(parts, claim, by),
    revoke: (grantId: string, by: string) => revokeHere(parts, grantId, by),
    resume: () => resumeQuestions(parts),
    close,
    [Symbol.asyncDispose]: close,
  });
}
