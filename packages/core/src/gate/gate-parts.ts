/**
 * GateParts: what a gate is made of, in groups by what uses them. Types only; create-gate-parts.ts
 * makes them.
 *
 * A step names the groups that it takes, and can touch nothing else. At run time all groups are one
 * object, made once for each gate: a decision makes none, and every step sees objects of one shape.
 */
import type { ConsentOutcome } from "../approval/consent-outcome.js";
import type { ConsentSigner } from "../consent-signer.js";
import type { Agent } from "../types/agent.js";
import type { Clock, Ids } from "../types/clock.js";
import type { Permit } from "../types/permit.js";
import type { Assessor, AuditSink, Channel, EvidenceVerifier, Store, Vault } from "../ports.js";
import type { Approver, GateOptions } from "./consent-gate.js";
import type { DenialCount } from "./count-denials.js";
import type { Deadline } from "./deadline.js";
import type { Judges } from "./evaluate.js";
import type { OnIgnored } from "./ignored.js";
import type { OpenQuestions } from "./open-questions.js";

/** What came of a yes that was taken. */
export interface Settlement {
  readonly outcome: ConsentOutcome;
  /** What the caller was denied with, where nothing was performed. */
  readonly code?: string;
}

/** A person's yes on its way. Only the first word about it counts. */
export interface Yes {
  /** Its permit is redeemed, and who redeemed it will say what came of it. */
  begin(): void;
  /** What came of it, as the log has it. */
  settle(outcome: ConsentOutcome): void;
  /** Nothing came of it, or nobody will say what did; the log hears of it here. */
  stop(settlement: Settlement): void;
}

/** A question that is held. */
export interface Held {
  /** Whose share of held questions it counts for. */
  readonly root: string;
  /** Ends the hold, and the question with it where it still waits for a retry. */
  readonly lapse: () => Promise<void>;
  /** Ends the hold only: a retry came, or the question is over. */
  readonly release: () => void;
}

/** Time and ids, and whether the gate is closed. */
export interface TimeParts {
  readonly clock: Clock;
  readonly ids: Ids;
  /** Waits for a part, but not for too long. */
  readonly within: Deadline;
  /** Its signal aborts when the gate closes. Only the gate itself aborts it. */
  readonly shutdown: Pick<AbortController, "signal">;
}

/** What is written down. */
export interface LogParts extends TimeParts {
  /**
   * Appends events; resolves when they are durable, rejects when they are not or the sink is silent
   * for too long.
   */
  readonly append: AuditSink["append"];
  /** What keeps the agent from going around the gate, as every event says it. */
  readonly isolation: string;
  /** What was refused so often that it is counted. */
  readonly denials: DenialCount;
}

/** What is kept: questions, grants, claims and allowances. */
export interface KeptParts extends TimeParts {
  /** What is read from it was written by a gate with this one's key. */
  readonly store: Store;
  /** Notes a stored record that does not count. */
  readonly onIgnored: OnIgnored;
  /**
   * Wall time of the latest event that is known to be in the log; `undefined` where the gate was
   * not told where the log ended.
   */
  readonly lastEventMs: () => number | undefined;
}

/** What judges a call. */
export interface JudgeParts extends TimeParts {
  /** Reads the policies in force. Throws what their functions throw. */
  readonly judges: () => Judges;
  readonly assessors: readonly Assessor[];
  /** Why an agent is paused; `undefined` where it is not. Never throws. */
  readonly pausedAgent: (agent: Agent) => string | undefined;
}

/** Who may answer, and what an answer is proven with. */
export interface PeopleParts {
  readonly approvers: readonly Approver[] | undefined;
  readonly verifiers: readonly EvidenceVerifier[];
  readonly signer: ConsentSigner | undefined;
  /**
   * By id, of questions that an earlier process left unanswered: a nonce of this process for those
   * whose answers that one claimed and did not record.
   */
  readonly rounds: Map<string, string>;
}

/** Where people are asked, and whether they are asked at all. */
export interface AskParts {
  readonly channel: Channel;
  /** Channels that a step may name. */
  readonly channels: ReadonlyMap<string, Channel>;
  readonly paused: () => string | undefined;
  readonly promptLimit: NonNullable<GateOptions["promptLimit"]>;
}

/** What is open in this process: questions that are shown, held or waited for. */
export interface OpenParts {
  /** The questions that this gate shows. */
  readonly questions: OpenQuestions;
  /** Ids of the questions that this gate shows or showed, until their yes has an outcome. */
  readonly followed: Set<string>;
  /** Questions that are held for a retry, by id, oldest first. */
  readonly held: Map<string, Held>;
  /** How long a question whose caller went away is held for a retry; 0: not at all. */
  readonly retryWindowMs: number;
  /** What takes the open questions of waiting callers back when the gate closes. */
  readonly closers: Set<() => void>;
}

/** What a yes is handed out as. */
export interface PermitParts {
  /** Which gate it is: what it issues carries this, and no other gate takes it. */
  readonly identity: object;
  /** Every yes on its way, by the permit that it became. */
  readonly yeses: WeakMap<Permit, Yes>;
  /** Ids of the grants that this gate revoked. */
  readonly revoked: Set<string>;
  /** The key of now; the same array while it is the same key. */
  readonly recordKey: () => Uint8Array;
}

/** What judges a proof. */
export type ProofParts = Pick<PeopleParts, "verifiers"> & Pick<TimeParts, "within">;

/** What changes a question: it is kept, and written down. */
export interface QuestionParts extends KeptParts, LogParts {}

/** What takes an answer: also who gave it, and who judges an edit. */
export interface AnswerParts extends QuestionParts, PeopleParts, JudgeParts {}

/** What shows a question: also where, and what is open already. */
export interface ShowParts extends AnswerParts, AskParts, OpenParts {}

/** What makes a verdict of an earlier consent: also the permit. */
export interface VerdictParts extends AnswerParts, PermitParts {}

/** What waits for a verdict. */
export interface WaitParts extends VerdictParts, OpenParts {}

/** What decides a call, asking a person where it must. The vault is not among it. */
export interface DecideParts extends ShowParts, WaitParts {}

/** What performs what was allowed: the only step that has the vault. */
export interface PerformParts extends LogParts, PermitParts {
  readonly vault: Vault | undefined;
}

/** All parts of one gate: for what makes and closes it. */
export interface GateParts extends DecideParts, PerformParts {
  readonly shutdown: AbortController;
}
