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
  /** It was shown before a restart of the gate. */
  readonly redelivery: boolean;
}

/** What a gate tells of its questions. */
export type GateChange = Exclude<QuestionChange, { readonly type: "lost" }>;

/** What a gate's log says of a question that is over. */
export interface QuestionOutcome {
  /** As its request has it: `cr_…`. */
  readonly id: string;
  /** How the question ended. */
  readonly status: EndStatus;
  /** Why it ended that way; may be empty. */
  readonly reason: string;
  /**
   * What became of a yes; left out where it was none. The error is a kind, e.g. `TypeError`, or why
   * it did not run.
   */
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
    /** Code or name of what went wrong, where it failed. */
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

/** An {@link ApproverClient} of gates elsewhere. */
export interface GateClient extends ApproverClient {
  /**
   * Has the gates end the open questions of agents that are paused. Whom they take for paused they
   * know themselves: this pauses nobody.
   *
   * @throws ConsentError `channel_failed` where the connection was lost before the gate said what
   *   it ended.
   */
  endPaused(): Promise<PausedEnd>;
}

/** The open questions of one gate or several, and the way to answer them. */
export interface ApproverClient extends AsyncDisposable {
  /** What is open now, oldest first. */
  pending(): readonly OpenQuestion[];
  /** Every change after the iteration began; ends when the client is closed or the gate is gone. */
  readonly changes: AsyncIterable<QuestionChange>;
  /**
   * Hands an answer in: S0 §4.2's JSON, as `makeResponse` writes it. Any number at once: few are on
   * their way, the others wait for those.
   *
   * @throws ConsentError `channel_unavailable` where it was not sent, so that the question is as it
   *   was; `channel_failed` where it was sent and the
   *   connection was lost before the gate said what became of it: it may have been taken.
   */
  answer(claim: JsonObject): Promise<AnswerReceipt>;
  /** Ends the connections; open questions stay open at their gates. */
  close(): Promise<void>;
}
