/**
 * Batches: many questions on one screen, answered together and judged one by one. Each answer is
 * bound to its question as the screen held it, and nothing that was not shown whole can be
 * approved.
 */
import type { ConsentRequest } from "../approval/request.js";
import { makeResponse } from "../approval/response.js";
import { ConsentError } from "../errors.js";
import { refuseAnswer } from "../gate/refuse.js";
import { BATCH_MAX } from "../limits.js";
import type { AnswerReceipt, AskSession } from "../ports.js";

/** A question that a channel holds open. */
export interface BatchQuestion {
  /** The question as the channel got it. */
  readonly request: ConsentRequest;
  /** Where its answer goes. */
  readonly session: AskSession;
}

/**
 * What a person decided about one question of the screen. Edits and offers are for one question at
 * a time, so a batch has none.
 */
export interface BatchChoice {
  /**
   * Id of the question on the screen. Id, nonce and digest must all be those of an open question.
   */
  readonly requestId: string;
  /** {@link ConsentRequest.nonce} of the question on the screen. */
  readonly nonce: string;
  /** {@link ConsentRequest.actionDigest} of the question on the screen. */
  readonly actionDigest: string;
  /** What the person decided about it. */
  readonly decision: "approved" | "denied";
  /**
   * True if the screen showed all of the question's `text`: only then can it be approved. A list of
   * descriptions does not show it.
   */
  readonly shownWhole: boolean;
  /** What the person typed for this question, where it needs a word: see `confirmationWord`. */
  readonly confirmation?: string;
  /** What the person wrote about it. */
  readonly reason?: string;
}

/** Who decided, and when. */
export interface BatchAnswerer {
  /** The channel's name; informative, as in {@link AnswerParts}. */
  readonly channel: string;
  /** Wall time of the answer, milliseconds since 1970. */
  readonly nowMs: number;
  /** Whom the channel authenticated; absent for a channel with one local person. */
  readonly by?: {
    /** How the channel knows the person. */
    readonly subject: string;
  };
}

/** Why a choice is not handed in, or `undefined`. */
function problemOf({ request }: BatchQuestion, choice: BatchChoice): AnswerReceipt | undefined {
  if (choice.nonce !== request.nonce || choice.actionDigest !== request.actionDigest)
    return refuseAnswer(
      "nonce_mismatch",
      "the screen showed a different question from the one that is open",
    );
  // A screen may be JavaScript: "false" is no true. A no needs no reading.
  const isShownWhole: unknown = choice.shownWhole;
  if (choice.decision !== "denied" && isShownWhole !== true)
    return refuseAnswer("question_not_shown", "not all of the question was shown");
  return undefined;
}

async function handIn(
  question: BatchQuestion | undefined,
  choice: BatchChoice,
  { channel, nowMs, by }: BatchAnswerer,
): Promise<AnswerReceipt> {
  if (question === undefined) return refuseAnswer("request_unknown", "no such question is open");
  const problem = problemOf(question, choice);
  if (problem !== undefined) return problem;
  const { decision, confirmation, reason } = choice;
  const claim = makeResponse(question.request, {
    decision,
    nowMs,
    channel,
    ...(confirmation === undefined ? {} : { confirmation }),
    ...(reason === undefined ? {} : { reason }),
  });
  return question.session.submit(claim, by);
}

/**
 * Submits what a person decided about several questions of one screen, every denial before any
 * approval. A question without a choice stays open.
 *
 * @param questions - The questions that the channel holds open.
 * @returns What became of each choice, by the id of its question.
 * @throws ConsentError `message_invalid` for more than 100 choices, or two for one question.
 */
export async function answerBatch(
  questions: readonly BatchQuestion[],
  choices: readonly BatchChoice[],
  answerer: BatchAnswerer,
): Promise<ReadonlyMap<string, AnswerReceipt>> {
  const ids = new Set(choices.map(({ requestId }) => requestId));
  if (choices.length > BATCH_MAX)
    throw new ConsentError(
      "message_invalid",
      `Cannot answer a batch: it has more than ${BATCH_MAX} answers`,
    );
  if (ids.size < choices.length)
    throw new ConsentError(
      "message_invalid",
      "Cannot answer a batch: it has two answers to one question",
    );
  const open = new Map(questions.map((question) => [question.request.id, question]));
  const receipts = new Map<string, AnswerReceipt>();
  for (const isNo of [true, false]) {
    const each = choices.filter(({ decision }) => (decision === "denied") === isNo);
    await Promise.all(
      each.map(
        async (choice) =>
          void receipts.set(
            choice.requestId,
            await handIn(open.get(choice.requestId), choice, answerer),
          ),
      ),
    );
  }
  return receipts;
}
