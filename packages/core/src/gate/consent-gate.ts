/**
 * ConsentGate: the shape of what createConsentGate returns, and of what it takes. Types only;
 * gate.ts composes it.
 */
/// <reference lib="esnext.disposable" preserve="true" />
import type { Action } from "../action/action.js";
import type { PausedEnd, ReportedOutcome } from "./reports.js";
import type { Agent, ToolDefinition } from "../types/agent.js";
import type { Clock, Ids } from "../types/clock.js";
import type { Release } from "../types/permit.js";
import type { GrantOffer, OfferTerms } from "../types/scope.js";
import type { Category, RiskLevel } from "../types/words.js";
import type { ConsentSigner } from "../consent-signer.js";
import type { AskTerms, Layer, Ruling } from "../layers.js";
import type { DenyCode } from "../deny-codes.js";
import type { Policy } from "../policy/policy.js";
import type {
  AnswerReceipt,
  ArgumentCheck,
  Assessor,
  AuditSink,
  Channel,
  EvidenceVerifier,
  Store,
  Vault,
} from "../ports.js";
import type { Allowed, Pending, RunResult, Verdict } from "../verdict.js";

/** A named person and how one channel knows them. */
export interface Approver {
  /** Name of the person in policies, questions and the log. */
  readonly id: string;
  /** Name of the channel that authenticates them. */
  readonly channel: string;
  /** Who they are to that channel, e.g. a user id or an email address. */
  readonly subject: string;
}

/** Who acts, in which session and for which task, and until when the caller waits. */
export interface GateContext {
  /** Who acts. */
  readonly agent: Agent;
  /** The agent's session, at most 256 characters; rules can match it. */
  readonly session?: string | undefined;
  /** The task that the call belongs to, at most 256 characters; rules can match it. */
  readonly task?: string | undefined;
  /**
   * The tool of a tool call, as its server presents it. Use `parseToolDefinition` once where many
   * calls share one.
   */
  readonly tool?: ToolDefinition | undefined;
  /**
   * Why the caller could not perform the action even after a yes, where it knows that already.
   * Nobody is asked then: what would be a question is denied with `not_performable`, and the log
   * has it. Changes nothing where no person is asked.
   */
  readonly obstacle?: string | undefined;
  /**
   * Aborting ends in a deny. An open question is held for the same call of the same agent for
   * `retryWindowMs`, then taken back.
   */
  readonly signal?: AbortSignal | undefined;
}

/** What one layer says about an action. */
export interface LayerRuling {
  /** {@link Layer.name}. */
  readonly layer: string;
  /** `undefined`: the layer abstained. */
  readonly ruling: Ruling | undefined;
}

/** What every layer says, and what follows. No side effect. */
export interface Evaluation {
  /** The winner: deny > ask > allow, or the policy's default where every layer abstains. */
  readonly ruling: Ruling;
  /** Which layer won; `"default"` where every layer abstained. */
  readonly layer: string;
  /** What each layer says, in their order. */
  readonly rulings: readonly LayerRuling[];
  /** What kind of effect the action has, as the policy classifies it. */
  readonly category: Category;
  /** The classification's risk. */
  readonly risk: RiskLevel;
  /** The highest level that a ruling wants, or the risk. */
  readonly level: RiskLevel;
  /** Present for an ask: the terms of all asks merged, always the stricter of two. */
  readonly ask?: Required<Pick<AskTerms, "timeoutMs" | "quorum" | "evidence">> &
    Pick<AskTerms, "approvers" | "escalate"> & {
      /** What a yes may also cover; empty where nothing is offered. */
      readonly offers: readonly GrantOffer[];
    };
  /**
   * For an ask: names of the secrets whose placeholders the action holds, where it holds any. The
   * question shows them.
   */
  readonly placeholders?: readonly string[];
  /** Set where a part failed, so that the ruling is a deny of the gate's own. */
  readonly failure?: DenyCode;
  /** What the observed policy says, where one is given. */
  readonly observed?: {
    /** What the observed policy would have done. */
    readonly effect: Ruling["effect"];
    /** The rule of the observed policy that says so. */
    readonly ruleId: string;
  };
}

/** What {@link createConsentGate} joins: who judges, who is asked, and where it is written down. */
export interface GateOptions {
  /** Read once per decision. Left out: every action that no layer allows is denied. */
  readonly policy?: Policy | (() => Policy);
  /** Judges beside the policy's rules. */
  readonly layers?: readonly Layer[];
  /** Where people are asked. */
  readonly channel: Channel;
  /** Channels beside it, for the steps of rules that name one. */
  readonly channels?: readonly Channel[];
  /** Where every decision is written before anything is released. */
  readonly audit: AuditSink;
  /** Left out: the channel's own authenticated person. Empty: nobody. */
  readonly approvers?: readonly Approver[];
  /** Group names that rules may use for several approver ids. */
  readonly groups?: Readonly<Record<string, readonly string[]>>;
  /**
   * What a yes may also cover where an ask says nothing about offers, e.g. `offerHost(180_000)`.
   * Left out: no more than the call. An ask that offers an empty list offers nothing.
   */
  readonly defaultOffers?: (action: Action) => readonly OfferTerms[];
  /** Outside help that looks at each action after the layers, and may only tighten. */
  readonly assessors?: readonly Assessor[];
  /**
   * Checks arguments against the tool's schema, of calls and of edits. Left out: they are not
   * checked.
   */
  readonly argumentCheck?: ArgumentCheck;
  /** Puts secrets into what is performed. Left out: nothing is put in. */
  readonly vault?: Vault;
  /**
   * Signs every accepted answer before it is recorded; from `createConsentSigner`. Left out:
   * answers carry no proof.
   */
  readonly signer?: ConsentSigner;
  /**
   * Judge proofs that come with answers, made by the person's own key, e.g. a passkey's. Left out:
   * what wants a passkey is denied.
   */
  readonly verifiers?: readonly EvidenceVerifier[];
  /** Each store that is left out lives in memory. */
  readonly store?: Partial<Store>;
  /** A second policy, judged and recorded beside the one in force; changes no verdict. */
  readonly observe?: Policy | (() => Policy);
  /**
   * Says which questions and grants in the store a gate wrote: at least 32 bytes, the same for
   * every gate of one store, known to nobody else. Others count as absent, with
   * `stored_record_ignored` in the log. Left out: a random one for each process, so that nothing
   * counts there that an earlier process kept.
   */
  readonly recordKey?: Uint8Array;
  /**
   * Wall time of the last event in the log when it was opened. Where the wall clock is behind it,
   * what was kept before the machine started anew no longer counts. Left out: nothing counts that
   * was kept in another boot, and with core's own clock that is another process.
   */
  readonly lastEventMs?: number;
  /** Read once per ask: a reason while all questions are paused. */
  readonly paused?: () => string | undefined;
  /**
   * Read for every call, before every yes is handed out and before anything is performed: a reason
   * while this agent, or one that it was started by, is paused. Each of its calls is denied with
   * `agent_paused`, also those that a rule allows. What throws counts as paused.
   */
  readonly pausedAgent?: (agent: Agent) => string | undefined;
  /**
   * What keeps the agent from going around the gate, as written into every event; `"none"` unless a
   * sandbox says otherwise.
   */
  readonly isolation?: string;
  /**
   * How long a question stays open where no rule says so, in milliseconds: 120,000 unless
   * given, at most a week.
   */
  readonly askTimeoutMs?: number;
  /**
   * How long a question whose caller went away stays open for the same call of the same agent:
   * clients give a call up sooner than people answer. 60 s unless given, at most 10 minutes; 0 ends
   * it at once. No more than 8 questions of one agent are held, and none beyond its own time-out.
   */
  readonly retryWindowMs?: number;
  /**
   * How many questions one agent, with all that it started, may put to people within a time; more
   * are denied with `too_many_questions`. A call that a rule or a grant answers is no question.
   * Left out: 60 in ten minutes. `"none"`: as many as it likes, so that one agent can bury its
   * people in questions.
   */
  readonly promptLimit?:
    | {
        /** Questions within `windowMs`, at least 1. */
        readonly max: number;
        /** Length of the sliding window in milliseconds, at most a day. */
        readonly windowMs: number;
      }
    | "none";
  /** Time; the machine's own unless given. */
  readonly clock?: Clock;
  /** Ids and randomness; {@link randomIds} unless given. */
  readonly ids?: Ids;
}

/** A question about an action: callable, and more. */
export interface ConsentGate extends AsyncDisposable {
  /**
   * Whether the gate has an `argumentCheck`. A proxy in front of one that has none checks its calls
   * itself.
   */
  readonly checksArguments: boolean;
  /** Decides one action; asks a person where the policy says so. Never rejects. */
  (action: Action, context: GateContext): Promise<Verdict>;
  /** What would be decided, and why; no side effect. */
  evaluate(action: Action, context: Omit<GateContext, "signal">): Evaluation;
  /** Decides, then performs. Rejects only with what `perform` itself throws. */
  run<T>(
    action: Action,
    perform: (release: Release) => Promise<T>,
    context: GateContext,
  ): Promise<RunResult<T>>;
  /**
   * Redeems the verdict's permit, injects secrets, records, performs once, records, masks. A
   * streaming `perform` settles at the end of its stream.
   */
  perform<T>(
    verdict: Allowed,
    perform: (release: Release) => Promise<T>,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<RunResult<T>>;
  /**
   * Tells the log what became of an action that the caller performs itself, with the verdict's
   * permit redeemed by hand: `forwarded` before, if it likes, and once how it ended. A `perform` of
   * the gate's needs none.
   *
   * @throws ConsentError `permit_unknown` for what is not a verdict of this gate itself (a copy is
   *   not one), `permit_other_gate`, `permit_unspent`, `permit_reported`, `options_invalid` for an
   *   outcome that is none, or `audit_failed`.
   */
  report(verdict: Allowed, outcome: ReportedOutcome): Promise<void>;
  /** A function that cannot run unasked. */
  wrap<I, T>(
    toAction: (input: I) => Action,
    perform: (release: Release, input: I) => Promise<T>,
  ): (input: I, context: GateContext) => Promise<RunResult<T>>;
  /** Like the call, but hands out the open question instead of waiting for its end. */
  open(action: Action, context: GateContext): Promise<Verdict | Pending>;
  /** Takes an answer from a web handler, a CLI, another process. Never rejects. */
  answer(
    claim: unknown,
    by: { readonly channel: string; readonly subject: string },
  ): Promise<AnswerReceipt>;
  /**
   * Ends a grant, for whoever manages them: no ask is answered by it from now on, and no permit
   * that it gave is performed.
   *
   * @param by - Who revoked it, for the log.
   * @returns False where there is no such grant.
   * @throws What the store or the log throws; where the log does, the grant is revoked all the
   *   same.
   */
  revoke(grantId: string, by: string): Promise<boolean>;
  /**
   * Ends the open questions of agents that `pausedAgent` says are paused: denied with
   * `agent_paused`. For whoever paused one; it pauses nobody itself. Never rejects.
   */
  endPaused(): Promise<PausedEnd>;
  /**
   * After a restart: ends what is out of time, redelivers what is still open, and keeps each yes
   * that nobody took for the same call of the same agent until its time is over; returns how many
   * were redelivered.
   */
  resume(): Promise<number>;
  /** Ends open questions with a deny and takes no new action. */
  close(): Promise<void>;
}
