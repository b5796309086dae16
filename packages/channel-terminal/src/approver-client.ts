/**
 * ApproverClient: what a person's screen needs of a gate, wherever the gate is. The terminal front
 * and the socket front both offer it, so there is one user interface. Types only.
 */
import type {
  AnswerReceipt,
  ConsentRequest,
  Ending,
  EndStatus,
  JsonObject,
  ConsentOutcome,
  PausedEnd,
} from "@acp/core";

/** A question that waits for an answer. */
export interface OpenQuestion {
  /** The question as its gate asks it. */
  readonly request: ConsentRequest;
  /** True if it was shown before a restart of the gate. */
  readonly redelivery: boolean;
}

/** What a gate tells of its questions. */
export type GateChange = Exclude<QuestionChange, { readonly type: "lost" }>;

/** What a gate's log says about a question that is over. */
export interface QuestionOutcome {
  /** Id of the question: `cr_…`. */
  readonly id: string;
  /** How the question ended. */
  readonly status: EndStatus;
  /** Why it ended that way; may be empty. */
  readonly reason: string;
  /** What became of an approval; absent where the question did not end with one. */
  readonly run?: {
    /** `waiting` and `started` may still change; every other one is final. */
    readonly state:
      | "waiting"
      | "started"
      | "ran"
      | "failed"
      | "not_run"
      | "not_collected"
      | "unknown";
    /**
     * Kind of the error, e.g. `TypeError`, or why it did not run; absent where there is nothing to
     * say.
     */
    readonly error?: string;
  };
}

/** What changed among the open questions. */
export type QuestionChange =
  | { readonly type: "open"; readonly question: OpenQuestion }
  | { readonly type: "ended"; readonly id: string; readonly ending: Ending }
  /**
   * The connection to its gate is lost: what becomes of it is not known here. It comes again as
   * `open` where its gate is reached again.
   */
  | { readonly type: "lost"; readonly id: string }
  /** What became of a yes; comes after the question's end, and once. */
  | { readonly type: "outcome"; readonly id: string; readonly outcome: ConsentOutcome };

/** An {@link ApproverClient} of gates in other processes. */
export interface GateClient extends ApproverClient {
  /**
   * Makes the gates end the open questions of agents that they find paused. It pauses nobody
   * itself.
   *
   * @throws ConsentError `channel_failed` where the connection was lost before the gate answered.
   */
  endPaused(): Promise<PausedEnd>;
}

/** The open questions of one gate or several, and a way to answer them. */
export interface ApproverClient extends AsyncDisposable {
  /** The questions that are open now, oldest first. */
  pending(): readonly OpenQuestion[];
  /**
   * Every change after the iteration began; it ends when the client is closed or the gate is gone.
   */
  readonly changes: AsyncIterable<QuestionChange>;
  /**
   * Sends an answer: ACP v0.2 §4.2's JSON, as `makeResponse` writes it. You can send any number at
   * once; a few are under way at a time.
   *
   * @throws ConsentError `channel_unavailable` where it was not sent, so that the question did not
   *   change; `channel_failed` where it was sent and the connection was lost before the gate
   *   replied: it may have been taken.
   */
  answer(claim: JsonObject): Promise<AnswerReceipt>;
  /** Ends the connections; open questions stay open at their gates. */
  close(): Promise<void>;
}
