/**
 * ConsentGate: the shape of what createConsentGate returns, and of what it takes. Types only; gate.ts composes it.
 */
import type { Action } from "../action/action.js";
import type { GrantOffer, OfferTerms } from "../approval/grants.js";
import type { ConsentSigner } from "../consent-signer.js";
import type { Agent, AskTerms, Category, Layer, RiskLevel, Ruling } from "../layers.js";
import type { DenyCode } from "../deny-codes.js";
import type { Release } from "../permit.js";
import type { Policy } from "../policy/policy.js";
import type { AnswerReceipt, Assessor, AuditSink, Channel, Clock, EvidenceVerifier, Ids, Store, Vault } from "../ports.js";
import type { Allowed, Pending, RunResult, Verdict } from "../verdict.js";

/** A named person and how one channel knows them. */
export interface Approver {
  readonly id: string;
  readonly channel: string;
  readonly subject: string;
}

/** Who acts, and until when the caller waits. */
export interface GateContext {
  readonly agent: Agent;
  readonly session?: string;
  readonly task?: string;
  /** Aborting takes an open question back and ends in a deny. */
  readonly signal?: AbortSignal;
}

/** One layer's word. */
export interface LayerRuling {
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
  readonly rulings: readonly LayerRuling[];
  readonly category: Category;
  /** The classification's risk. */
  readonly risk: RiskLevel;
  /** The highest level that a ruling wants, or the risk. */
  readonly level: RiskLevel;
  /** Present for an ask: the terms of all asks merged, always the stricter of two. */
  readonly ask?: Required<Pick<AskTerms, "timeoutMs" | "quorum" | "evidence">> &
    Pick<AskTerms, "approvers" | "escalate"> & { readonly offers: readonly GrantOffer[] };
  /** For an ask: names of the secrets whose placeholders the action holds, where it holds any. The question shows them. */
  readonly placeholders?: readonly string[];
  /** Set where a part failed, so that the ruling is a deny of the gate's own. */
  readonly failure?: DenyCode;
  /** What the observed policy says, where one is given. */
  readonly observed?: { readonly effect: Ruling["effect"]; readonly ruleId: string };
}

/** Parts of a gate. */
export interface GateOptions {
  /** Read once per decision. Left out: every action that no layer allows is denied. */
  readonly policy?: Policy | (() => Policy);
  /** Judges beside the policy's rules. */
  readonly layers?: readonly Layer[];
  readonly channel: Channel;
  /** Channels beside it, for the steps of rules that name one. */
  readonly channels?: readonly Channel[];
  readonly audit: AuditSink;
  /** Left out: the channel's own authenticated person. Empty: nobody. */
  readonly approvers?: readonly Approver[];
  /** Group names that rules may use for several approver ids. */
  readonly groups?: Readonly<Record<string, readonly string[]>>;
  /**
   * What a yes may also cover where an ask says nothing about offers, e.g. `offerHost(180_000)`. Left out: no more than the call. An ask that offers
   * an empty list offers nothing.
   */
  readonly defaultOffers?: (action: Action) => readonly OfferTerms[];
  readonly assessors?: readonly Assessor[];
  readonly vault?: Vault;
  /** Signs every accepted answer before it is recorded; from `createConsentSigner`. Left out: answers carry no proof. */
  readonly signer?: ConsentSigner;
  /** Judge proofs that come with answers, made by the person's own key, e.g. a passkey's. Left out: what wants a passkey is denied. */
  readonly verifiers?: readonly EvidenceVerifier[];
  /** Each store that is left out lives in memory. */
  readonly store?: Partial<Store>;
  /** A second policy, judged and recorded beside the one in force; changes no verdict. */
  readonly observe?: Policy | (() => Policy);
  /** Read once per ask: a reason while all questions are paused. */
  readonly paused?: () => string | undefined;
  /** What keeps the agent from going around the gate, as written into every event; `"none"` unless a sandbox says otherwise. */
  readonly isolation?: string;
  readonly askTimeoutMs?: number;
  /**
   * How many questions one agent, with all that it started, may put to people within a time; more are denied with `too_many_questions`. A call
   * that a rule or a grant answers is no question. Left out: as many as it likes.
   */
  readonly promptLimit?: { readonly max: number; readonly windowMs: number };
  readonly clock?: Clock;
  readonly ids?: Ids;
}

/** A question about an action: callable, and more. */
export interface ConsentGate extends AsyncDisposable {
  /** Decides one action; asks a person where the policy says so. Never rejects. */
  (action: Action, context: GateContext): Promise<Verdict>;
  /** What would be decided, and why; no side effect. */
  evaluate(action: Action, context: Pick<GateContext, "agent" | "session" | "task">): Evaluation;
  /** Decides, then performs. Rejects only with what `perform` itself throws. */
  run<T>(action: Action, perform: (release: Release) => Promise<T>, context: GateContext): Promise<RunResult<T>>;
  /** Redeems the verdict's permit, injects secrets, records, performs once, records, masks. A streaming `perform` settles at the end of its stream. */
  perform<T>(
    verdict: Allowed,
    perform: (release: Release) => Promise<T>,
    options?: { readonly signal?: AbortSignal },
  ): Promise<RunResult<T>>;
  /** A function that cannot run unasked. */
  wrap<I, T>(
    toAction: (input: I) => Action,
    perform: (release: Release, input: I) => Promise<T>,
  ): (input: I, context: GateContext) => Promise<RunResult<T>>;
  /** Like the call, but hands out the open question instead of waiting for its end. */
  open(action: Action, context: GateContext): Promise<Verdict | Pending>;
  /** Takes an answer from a web handler, a CLI, another process. Never rejects. */
  answer(claim: unknown, by: { readonly channel: string; readonly subject: string }): Promise<AnswerReceipt>;
  /**
   * Ends a grant, for whoever manages them: no ask is answered by it from now on, and no permit that it gave is performed.
   *
   * @param by - Who revoked it, for the log.
   * @returns False where there is no such grant.
   * @throws What the store or the log throws; where the log does, the grant is revoked all the same.
   */
  revoke(grantId: string, by: string): Promise<boolean>;
  /** After a restart: ends what is out of time, redelivers what is still open; returns how many were redelivered. */
  resume(): Promise<number>;
  /** Ends open questions with a deny and takes no new action. */
  close(): Promise<void>;
}
