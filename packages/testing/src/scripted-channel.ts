/**
 * ScriptedChannel: a Channel whose person follows a script, for the tests of whoever builds on a
 * gate.
 */
import {
  type AnswerParts,
  type AnswerReceipt,
  type AskSession,
  type Channel,
  type Clock,
  ConsentError,
  type ConsentRequest,
  confirmationWord,
  type Ending,
  type JsonObject,
  makeResponse,
  systemClock,
} from "@acp/core";

/** One answer per question, in order, or a function of the question. */
export type ScriptedAnswer =
  | "approve"
  | "deny"
  /** It is shown and nobody answers. */
  | "ignore"
  /** It cannot be shown. */
  | "throw"
  /** Showing it never comes to an end. */
  | "hang"
  /** Two people, or one twice: a yes, and a yes again. */
  | "approve_twice"
  | { readonly approve: { readonly offer?: string; readonly subject?: string } }
  | { readonly deny: { readonly reason?: string; readonly subject?: string } }
  /** A yes to other parameters: the whole new object. */
  | { readonly modify: JsonObject; readonly subject?: string }
  /** Any claim at all, made from the question. */
  | { readonly claim: (request: ConsentRequest) => unknown; readonly subject?: string };

/** A script: one answer a question, in order, or a function of the question. */
export type Script = readonly ScriptedAnswer[] | ((request: ConsentRequest) => ScriptedAnswer);

/** A channel that answers from a script and remembers what it saw. */
export interface ScriptedChannel extends Channel {
  /** Every question, in order. */
  readonly asked: readonly ConsentRequest[];
  /** What became of every answer, in order. */
  readonly receipts: readonly AnswerReceipt[];
  /** How the questions that are over ended, by id. */
  readonly endings: ReadonlyMap<string, Ending>;
}

/** Options of {@link scriptedChannel}. */
export interface ScriptedChannelOptions {
  /** The channel's name; `scripted` unless given. */
  readonly name?: string;
  /** Source of the time of answers; the system's clock unless given. */
  readonly clock?: Clock;
}

interface Claim {
  readonly claim: unknown;
  readonly subject?: string;
}

type Parts = Pick<AnswerParts, "decision" | "modifications" | "grantId" | "reason">;

function claimsFor(
  answer: Exclude<ScriptedAnswer, "ignore" | "throw" | "hang">,
  write: (parts: Parts) => JsonObject,
  request: ConsentRequest,
): readonly Claim[] {
  const yes: Claim = { claim: write({ decision: "approved" }) };
  if (answer === "approve") return [yes];
  if (answer === "approve_twice") return [yes, yes];
  if (answer === "deny") return [{ claim: write({ decision: "denied" }) }];
  const by = (subject: string | undefined): { readonly subject?: string } =>
    subject === undefined ? {} : { subject };
  if ("approve" in answer) {
    const { offer, subject } = answer.approve;
    return [
      {
        claim: write({ decision: "approved", ...(offer === undefined ? {} : { grantId: offer }) }),
        ...by(subject),
      },
    ];
  }
  if ("deny" in answer) {
    const { reason, subject } = answer.deny;
    return [
      {
        claim: write({ decision: "denied", ...(reason === undefined ? {} : { reason }) }),
        ...by(subject),
      },
    ];
  }
  if ("modify" in answer)
    return [
      {
        claim: write({ decision: "approved_with_modifications", modifications: answer.modify }),
        ...by(answer.subject),
      },
    ];
  return [{ claim: answer.claim(request), ...by(answer.subject) }];
}

/**
 * Makes a channel that answers from a script. A question beyond the end of a list cannot be shown:
 * the gate denies it with `channel_failed`.
 *
 * @example
 * ```ts
 * import { scriptedChannel } from "@acp/testing";
 *
 * const channel = scriptedChannel(["approve", { deny: { reason: "not now" } }]);
 * ```
 */
export function scriptedChannel(
  script: Script,
  { name = "scripted", clock = systemClock }: ScriptedChannelOptions = {},
): ScriptedChannel {
  const asked: ConsentRequest[] = [];
  const receipts: AnswerReceipt[] = [];
  const endings = new Map<string, Ending>();

  const follow = async (
    request: ConsentRequest,
    session: AskSession,
    answer: Parameters<typeof claimsFor>[0],
  ): Promise<void> => {
    const word = confirmationWord(request);
    const typed = word === undefined ? {} : { confirmation: word };
    const write = (parts: Parts): JsonObject =>
      makeResponse(request, { ...typed, ...parts, nowMs: clock.now(), channel: name });
    for (const { claim, subject } of claimsFor(answer, write, request)) {
      receipts.push(await session.submit(claim, subject === undefined ? undefined : { subject }));
    }
  };
  const noteEnd = async (id: string, session: AskSession): Promise<void> =>
    void endings.set(id, await session.ended);

  return {
    name,
    asked,
    receipts,
    endings,
    async deliver(request, session) {
      const answer = typeof script === "function" ? script(request) : script[asked.length];
      asked.push(request);
      void noteEnd(request.id, session);
      if (answer === undefined)
        throw new ConsentError(
          "channel_failed",
          `Cannot ask: the script ends after ${asked.length - 1} questions`,
        );
      if (answer === "throw")
        throw new ConsentError("channel_failed", "Cannot ask: the script says so");
      if (answer === "hang") return new Promise(() => undefined);
      if (answer !== "ignore") void follow(request, session, answer);
    },
  };
}
