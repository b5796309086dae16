/**
 * Question source: where the questions of gates elsewhere come from and go back to, and what became
 * of them. Types only.
 */
import type {
  AnswerReceipt,
  ConsentOutcome,
  ConsentRequest,
  Ending,
  EndStatus,
  JsonObject,
} from "@acp/core";

/** A question that waits for an answer. */
export interface OpenQuestion {
  /** The question as its gate asks it. */
  readonly request: ConsentRequest;
  /** True if it was shown before a restart of the gate. */
  readonly redelivery: boolean;
}

/** What changed among the open questions. */
export type QuestionChange =
  | { readonly type: "open"; readonly question: OpenQuestion }
  | { readonly type: "ended"; readonly id: string; readonly ending: Ending }
  /**
   * Its gate cannot be reached any more: what becomes of it is not known here, until it opens again
   * or somebody reads the gate's log.
   */
  | { readonly type: "lost"; readonly id: string }
  /** What became of a yes; comes after the question's end, and once. */
  | { readonly type: "outcome"; readonly id: string; readonly outcome: ConsentOutcome };

/** What became of an approval. */
export interface RunOutcome {
  /**
   * `waiting`: nobody has collected it yet. `started`: handed on, and not ended. `ran`, `failed`:
   * performed, with or without success. `not_run`: given up before it began. `not_collected`:
   * nobody collected it in time. `unknown`: it was collected, and nobody reported what came of it.
   */
  readonly state:
    | "waiting"
    | "started"
    | "ran"
    | "failed"
    | "not_run"
    | "not_collected"
    | "unknown";
  /**
   * Kind of the error, e.g. `TypeError`, why it did not run or is not known, or that its stream was
   * left before the end; never what the action returned. Absent where there is nothing to say.
   */
  readonly error?: string;
}

/** What a gate's log says about a question that is over. */
export interface QuestionOutcome {
  /** Id of the question: `cr_…`. */
  readonly id: string;
  /** How the question ended. */
  readonly status: EndStatus;
  /** Why it ended that way; may be empty. */
  readonly reason: string;
  /** When it ended, in milliseconds since 1970. */
  readonly atMs: number;
  /** What became of an approval; absent where the question did not end with one. */
  readonly run?: RunOutcome;
}

/**
 * The open questions of gates in other processes, and a way to answer them. `attachApprovers` of
 * @acp/channel-terminal returns one.
 */
export interface QuestionSource {
  /** The questions that are open now. */
  pending(): readonly OpenQuestion[];
  /** Every change after the iteration began. */
  readonly changes: AsyncIterable<QuestionChange>;
  /**
   * Sends an answer: ACP v0.2 §4.2's JSON.
   *
   * @throws ConsentError `channel_unavailable` where the answer was not sent; any other error means
   *   that it may have been taken.
   */
  answer(claim: JsonObject): Promise<AnswerReceipt>;
}

/** As whom the questions of a source are answered. */
export interface AttachOptions {
  /**
   * Name of the channel as those gates know it, e.g. `terminal` for approve sockets; proofs name
   * it.
   */
  readonly channel: string;
  /**
   * Subject of the person who answers, as those gates know it: only people with this subject may
   * answer. `local` unless given.
   */
  readonly subject?: string;
}
