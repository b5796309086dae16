/** GateParts: what a gate is made of, as its steps see it. Types only; parts.ts makes them. */
import type { ConsentOutcome } from "../approval/consent-outcome.js";
import type { ConsentSigner } from "../consent-signer.js";
import type { Agent } from "../types/agent.js";
import type { AuditEventInput, AuditReceipt } from "../types/audit-event.js";
import type { Clock, Ids } from "../types/clock.js";
import type { Permit } from "../types/permit.js";
import type { Assessor, Channel, EvidenceVerifier, Store, Vault } from "../ports.js";
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

/** The parts of one gate. */
export interface GateParts {
  /** Which gate it is: what it issues carries this, and no other gate takes it. */
  readonly identity: object;
  /** Reads the policies in force. Throws what their functions throw. */
  readonly judges: () => Judges;
  readonly channel: Channel;
  /** Channels that a step may name. */
  readonly channels: ReadonlyMap<string, Channel>;
  /**
   * Appends events; resolves when they are durable, rejects when they are not or the sink is silent
   * for too long.
   */
  readonly append: (events: readonly AuditEventInput[]) => Promise<AuditReceipt>;
  readonly approvers: readonly Approver[] | undefined;
  readonly assessors: readonly Assessor[];
  readonly vault: Vault | undefined;
  readonly signer: ConsentSigner | undefined;
  readonly verifiers: readonly EvidenceVerifier[];
  /** What is read from it was written by a gate with this one's key. */
  readonly store: Store;
  /** Notes a stored record that does not count. */
  readonly onIgnored: OnIgnored;
  /**
   * Wall time of the latest event that is known to be in the log; `undefined` where the gate was
   * not told where the log ended.
   */
  readonly lastEventMs: () => number | undefined;
  readonly paused: () => string | undefined;
  readonly isolation: string;
  readonly pausedAgent: (agent: Agent) => string | undefined;
  readonly promptLimit: NonNullable<GateOptions["promptLimit"]>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly within: Deadline;
  readonly shutdown: AbortController;
  /** What takes the open questions of waiting callers back when the gate closes. */
  readonly closers: Set<() => void>;
  /** Ids of the grants that this gate revoked. */
  readonly revoked: Set<string>;
  /** The questions that this gate shows. */
  readonly questions: OpenQuestions;
  /** Ids of the questions that this gate shows or showed, until their yes has an outcome. */
  readonly followed: Set<string>;
  /** How long a question whose caller went away is held for a retry; 0: not at all. */
  readonly retryWindowMs: number;
  /** Questions that are held for a retry, by id, oldest first. */
  readonly held: Map<string, Held>;
  /** What was refused so often that it is counted. */
  readonly denials: DenialCount;
  /** Every yes on its way, by the permit that it became. */
  readonly yeses: WeakMap<Permit, Yes>;
}
