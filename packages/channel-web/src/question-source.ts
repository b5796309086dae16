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
  /** It was shown before a restart of the gate. */
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

/** What became of a yes. */
export interface RunOutcome {
  /**
   * `waiting`: nobody has come for it yet. `started`: handed on, no end yet. `ran`, `failed`:
   * performed, well or not. `not_run`: given up before it began. `not_collected`: nobody came for
   * it in time. `unknown`: it was taken, and nobody said what came of it.
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
   * The kind of the error, e.g. `TypeError`, why it did not run or is not known, or that its stream
   * was left before the end; never what the action returned.
   */
  readonly error?: string;
}

/** What a gate's log says of a question that is over. */
export interface QuestionOutcome {
  /** As its request has it: `cr_…`. */
  readonly id: string;
  /** How the question ended. */
  readonly status: EndStatus;
  /** Why it ended that way; may be empty. */
  readonly reason: string;
  /** When it ended, in milliseconds since 1970. */
  readonly atMs: number;
  /** Left out where it was no yes. */
  readonly run?: RunOutcome;
}

/**
 * Questions of gates elsewhere, and the way to answer them: what `attachApprovers` of
 * @acp/channel-terminal returns is one.
 */
export interface QuestionSource {
  /** The questions that are open now. */
  pending(): readonly OpenQuestion[];
  /** Every change after the iteration began. */
  readonly changes: AsyncIterable<QuestionChange>;
  /**
   * @throws ConsentError `channel_unavailable` where the answer was not sent; anything else means
   * that it may have been taken.
   */
  answer(claim: JsonObject): Promise<AnswerReceipt>;
}

/** Where the questions of a source are answered. */
export interface AttachOptions {
  /** The channel as those gates know it, e.g. `terminal` for approve sockets: proofs name it. */
  readonly channel: string;
  /**
   * Who answers there, as those gates know them: only people with this subject may. `local` unless
   * given.
   */
  readonly subject?: string;
}
