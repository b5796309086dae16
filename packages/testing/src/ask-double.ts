/**
 * AskDouble: one question's session in a test's hands. It checks an answer as a gate does
 * (question, nonce, who answered, the typed word, one end only) and remembers what it was handed.
 */
import {
  type AnswerReceipt,
  type AskSession,
  type ConsentRequest,
  type Ending,
  type ConsentOutcome,
  confirmationWord,
  isConsentError,
  parseResponse,
  randomIds,
  refuseAnswer,
  systemClock,
} from "@acp/core";

/** An answer that a channel submitted. */
export interface Submission {
  /** What was passed to `submit`, unchecked. */
  readonly claim: unknown;
  /** Who answered, according to the channel; `local` where it did not say. */
  readonly subject: string;
  /** What the session returned. */
  readonly receipt: AnswerReceipt;
}

/** A question and a session for it, to test a channel without a gate. */
export interface AskDouble {
  /** The question that the channel is to show. */
  readonly request: ConsentRequest;
  /** The session to pass to `deliver` with it. */
  readonly session: AskSession;
  /** Every answer that the channel submitted, in order. */
  readonly submissions: readonly Submission[];
  /** How the question ended; `undefined` while it is open. */
  ending(): Ending | undefined;
  /** Ends the question from outside, as time, an agent or another channel would. */
  end(ending: Ending): void;
  /**
   * Sets what became of an approval. After any other end, `outcome` settles by itself with
   * `undefined`.
   */
  settle(outcome: ConsentOutcome): void;
}

/** Options of {@link askDouble}. */
export interface AskDoubleOptions {
  /** Subjects who may answer; anybody unless given. */
  readonly subjects?: readonly string[];
  /** Whether the question counts as shown before, as after a restart; `false` unless given. */
  readonly redelivery?: boolean;
}

/**
 * A question for tests, with a text that says what it is about.
 *
 * @param overrides - Members to replace.
 */
export function sampleRequest(overrides: Partial<ConsentRequest> = {}): ConsentRequest {
  const createdAtMs = overrides.createdAtMs ?? systemClock.now();
  return Object.freeze({
    id: randomIds.next("cr"),
    createdAtMs,
    expiresAtMs: createdAtMs + 120_000,
    agent: { id: "agent-1", name: "agent-1", command: "" },
    action: {
      tool: "write_file",
      server: "files",
      category: "write",
      riskLevel: "medium",
      parameters: { path: "notes.txt", content: "hello" },
      description: "call write_file on files",
    },
    policy: { ruleId: "rule_1", ruleName: "writes are asked", requiredLevel: "medium" },
    nonce: randomIds.next("n"),
    actionDigest: `sha256:${"0".repeat(64)}`,
    text: 'Agent: agent-1\nWants: call write_file on files\nWith:\n  {\n    "path": "notes.txt",\n    "content": "hello"\n  }',
    quorum: 1,
    evidence: "any",
    offers: [],
    secrets: [],
    ...overrides,
  } satisfies ConsentRequest);
}

/** How a question ends, and what became of a yes: each once. */
function createEnd() {
  let ending: Ending | undefined;
  let tell: (ending: Ending) => void = () => undefined;
  const ended = new Promise<Ending>((resolve) => {
    tell = resolve;
  });
  let settle: (outcome: ConsentOutcome | undefined) => void = () => undefined;
  const outcome = new Promise<ConsentOutcome | undefined>((resolve) => {
    settle = resolve;
  });
  const end = (next: Ending): void => {
    ending ??= next;
    tell(ending);
    if (ending.status !== "approved" && ending.status !== "approved_with_modifications")
      settle(undefined);
  };
  return { ending: () => ending, end, ended, outcome, settle };
}

/** Makes a question with a session of its own. */
export function askDouble(
  request: ConsentRequest = sampleRequest(),
  options: AskDoubleOptions = {},
): AskDouble {
  const submissions: Submission[] = [];
  const { ending, end, ended, outcome, settle } = createEnd();
  const judge = (claim: unknown, subject: string): AnswerReceipt => {
    const response = parseResponse(claim);
    if (response.requestId !== request.id)
      return refuseAnswer("request_unknown", "the answer names another question");
    if (ending() !== undefined) return refuseAnswer("request_ended", "the question is over");
    if (response.nonce !== request.nonce)
      return refuseAnswer("nonce_mismatch", "the nonce is another one");
    if (options.subjects?.includes(subject) === false)
      return refuseAnswer("approver_unknown", "nobody known answered");
    const word = confirmationWord(request);
    if (response.decision !== "denied" && word !== undefined && response.confirmation !== word)
      return refuseAnswer(
        "confirmation_required",
        "the question is critical, and the word was not typed",
      );
    end({ status: response.decision, reason: response.reason });
    return { status: "final", outcome: response.decision };
  };

  return {
    request,
    submissions,
    ending,
    end,
    settle,
    session: {
      redelivery: options.redelivery ?? false,
      ended,
      outcome,
      async submit(claim, by) {
        const subject = by?.subject ?? "local";
        let receipt: AnswerReceipt;
        try {
          receipt = judge(claim, subject);
        } catch (error) {
          if (!isConsentError(error)) throw error;
          receipt = refuseAnswer("response_invalid", error.message);
        }
        submissions.push({ claim, subject, receipt });
        return receipt;
      },
    },
  };
}
