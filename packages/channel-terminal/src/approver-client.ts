/**
 * ApproverClient: what a person's screen needs of a gate, wherever the gate is. The terminal front and the socket front both offer it,
 * so there is one user interface. Types only.
 */
import type { AnswerReceipt, ConsentRequest, Ending, JsonObject } from "@acp/core";

/** A question that waits for an answer. */
export interface OpenQuestion {
  readonly request: ConsentRequest;
  /** It was shown before a restart of the gate. */
  readonly redelivery: boolean;
}

/** What changed among the open questions. */
export type QuestionChange =
  | { readonly type: "open"; readonly question: OpenQuestion }
  | { readonly type: "ended"; readonly id: string; readonly ending: Ending };

/** The open questions of one gate or several, and the way to answer them. */
export interface ApproverClient extends AsyncDisposable {
  /** What is open now, oldest first. */
  pending(): readonly OpenQuestion[];
  /** Every change after the iteration began; ends when the client is closed or the gate is gone. */
  readonly changes: AsyncIterable<QuestionChange>;
  /**
   * Hands an answer in: S0 §4.2's JSON, as `makeResponse` writes it.
   *
   * @throws ConsentError `channel_failed` where the gate is gone before it says what became of the answer.
   */
  answer(claim: JsonObject): Promise<AnswerReceipt>;
  close(): Promise<void>;
}
