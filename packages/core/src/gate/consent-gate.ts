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
  QuestionRoom,
  Store,
  Vault,
} from "../ports.js";
import type { Allowed, Pending, RunResult, Verdict } from "../verdict.js";

/** A named person and how one channel knows them. */
export interface Approver {
  /** Name of the person in policies, questions and the log; compared as `personKey` does. */
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
   * Why the caller could not perform the action even after an approval, where it knows that
   * already. Then nobody is asked: what would be a question is denied with `not_performable`.
   * Changes nothing where no person would be asked.
   */
  readonly obstacle?: string | undefined;
  /**
   * An id of this very call, by which its caller finds it again after a crash: `cc_` and 32
   * lower-case hex digits, never used for another call. It stands in the call's events as
   * `metadata.call`. A caller that gives one performs only through {@link ConsentGate.perform}: what
   * the log does not show as forwarded was then not done, and the same call may go on. Source:
   * spec/audit.md §2.
   */
  readonly call?: string | undefined;
  /**
   * Ends the call: it is denied. An open question stays open for the same call of the same agent
   * for `retryWindowMs`, and is then taken back.
   */
  readonly signal?: AbortSignal | undefined;
}

/** What a host knows of what earlier processes left, of calls with an id of their callers'. */
export interface ResumeOptions {
  /**
   * Ids of questions whose answer the log has, although their records do not say so: those answers
   * count. Default: none.
   */
  readonly answered?: ReadonlySet<string>;
  /**
   * Ids of questions whose approval the log shows as forwarded: their approvals end as unknown.
   * Default: none.
   */
  readonly forwarded?: ReadonlySet<string>;
  /**
   * Ids of open questions that the log shows as asked, not as ended, and as answered by nobody whom
   * their records have not counted. Who answered one as its process ended may answer it again; of
   * other questions that answer stays used, and counts for nothing. Default: none.
   */
  readonly unanswered?: ReadonlySet<string>;
  /**
   * True where no caller can come back for what is in the store: then it ends, and nothing is
   * delivered again. Default: false.
   */
  readonly areCallersGone?: boolean;
}

/** What one layer says about an action. */
export interface LayerRuling {
  /** The layer's {@link Layer.name}. */
  readonly layer: string;
  /** What it says; `undefined` where it abstained. */
  readonly ruling: Ruling | undefined;
}

/** What every layer says, and what follows. No side effect. */
export interface Evaluation {
  /**
   * The ruling that counts: deny before ask before allow, or the policy's default where every layer
   * abstains.
   */
  readonly ruling: Ruling;
  /** Name of the layer that gave it; `"default"` where every layer abstained. */
  readonly layer: string;
  /** What each layer says, in their order. */
  readonly rulings: readonly LayerRuling[];
  /** What kind of effect the action has, as the policy classifies it. */
  readonly category: Category;
  /** How risky the action is, as the policy classifies it. */
  readonly risk: RiskLevel;
  /** The highest level that a ruling names, or the risk. */
  readonly level: RiskLevel;
  /** For an ask: the terms of all asks merged, the stricter of two each time. Absent otherwise. */
  readonly ask?: Required<Pick<AskTerms, "timeoutMs" | "quorum" | "evidence">> &
    Pick<AskTerms, "approvers" | "escalate"> & {
      /** What an approval may also cover; empty where nothing is offered. */
      readonly offers: readonly GrantOffer[];
    };
  /**
   * For an ask: names of the secrets whose placeholders the action holds, as the question shows
   * them. Absent where it holds none.
   */
  readonly placeholders?: readonly string[];
  /** Why a part of the gate failed, where one did: the ruling is then the gate's own denial. */
  readonly failure?: DenyCode;
  /** What `GateOptions.observe` says; absent where no such policy is given. */
  readonly observed?: {
    /** What the observed policy would have done. */
    readonly effect: Ruling["effect"];
    /** The rule of the observed policy that says so. */
    readonly ruleId: string;
  };
}

/**
 * What {@link createConsentGate} joins: who judges, who is asked, and where decisions are recorded.
 */
export interface GateOptions {
  /**
   * The policy, or a function that is called once per decision. Absent: every action that no layer
   * allows is denied.
   */
  readonly policy?: Policy | (() => Policy);
  /** Layers that judge in addition to the policy's rules, such as `execSafety`. */
  readonly layers?: readonly Layer[];
  /** Where people are asked. */
  readonly channel: Channel;
  /** Further channels, for the steps of rules that name one. */
  readonly channels?: readonly Channel[];
  /** Where every decision is written before anything is released. */
  readonly audit: AuditSink;
  /** The people who may answer. Absent: whoever the channel authenticates. Empty: nobody. */
  readonly approvers?: readonly Approver[];
  /** Group names that rules may use for several approver ids. */
  readonly groups?: Readonly<Record<string, readonly string[]>>;
  /**
   * What an approval may also cover where an ask says nothing about offers, e.g.
   * `offerHost(180_000)`. Absent: only the call itself. An ask with an empty list offers nothing.
   */
  readonly defaultOffers?: (action: Action) => readonly OfferTerms[];
  /**
   * Outside checks that look at each action after the layers, and can only make the ruling
   * stricter.
   */
  readonly assessors?: readonly Assessor[];
  /**
   * Checks the arguments of calls and of edits against the tool's schema. Absent: they are not
   * checked.
   */
  readonly argumentCheck?: ArgumentCheck;
  /** Puts secrets into what is performed. Absent: placeholders stay as they are. */
  readonly vault?: Vault;
  /**
   * Signs every accepted answer before it is recorded; from `createConsentSigner`. Left out:
   * answers carry no proof.
   */
  readonly signer?: ConsentSigner;
  /**
   * Verify proofs that come with answers and are made with the person's own key, such as a
   * passkey's. Absent: a question that needs a passkey is denied with `evidence_unavailable`.
   */
  readonly verifiers?: readonly EvidenceVerifier[];
  /** Stores of the gate's state. Each one that is absent is in memory and lost with the process. */
  readonly store?: Partial<Store>;
  /** A second policy, judged and recorded beside the one in force; changes no verdict. */
  readonly observe?: Policy | (() => Policy);
  /**
   * Key that shows which questions and grants in the store a gate wrote: at least 32 bytes, the
   * same for every gate of one store, known to nobody else. Other records count as absent, and the
   * log gets `stored_record_ignored`. Absent: a random key per process, so that nothing counts that
   * an earlier process kept.
   *
   * A function is called whenever the key is needed, and returns the same array as long as the key
   * is the same. After it returns another one, what was kept under the key before no longer counts,
   * and permits that were issued under it end (`permit_refused`): for keys that are rotated while a
   * gate runs.
   */
  readonly recordKey?: Uint8Array | (() => Uint8Array);
  /**
   * Wall time of the last event in the log when it was opened, milliseconds since 1970. If the wall
   * clock is behind it, what was kept before the machine restarted no longer counts. Absent:
   * nothing counts that was kept in another boot; with core's own clock, every other process is
   * another boot.
   */
  readonly lastEventMs?: number;
  /**
   * Called once per ask: returns a reason while all questions are paused, `undefined` otherwise.
   */
  readonly paused?: () => string | undefined;
  /**
   * Called for every call, before an approval is collected and before anything is performed:
   * returns a reason while this agent, or one that started it, is paused. Each of its calls is
   * denied with `agent_paused`, also those that a rule allows. A function that throws counts as
   * paused.
   */
  readonly pausedAgent?: (agent: Agent) => string | undefined;
  /** What keeps the agent from bypassing the gate, as every event says; `"none"` unless given. */
  readonly isolation?: string;
  /**
   * How long a question stays open where no rule says so, in milliseconds: 120,000 unless
   * given, at most a week.
   */
  readonly askTimeoutMs?: number;
  /**
   * How long a question whose caller went away stays open for the same call of the same agent, in
   * milliseconds: clients give up sooner than people answer. 60,000 unless given, at most 600,000;
   * 0 ends it at once. At most 8 questions of one agent are held, and none beyond its own timeout.
   */
  readonly retryWindowMs?: number;
  /**
   * How many questions one agent, with all agents that it started, may put to people within a time;
   * further ones are denied with `too_many_questions`. A call that a rule or a grant decides is not
   * a question. 60 in ten minutes unless given. `"none"`: without limit, so that one agent can
   * flood its people with questions.
   */
  readonly promptLimit?:
    | {
        /** Questions within `windowMs`, at least 1. */
        readonly max: number;
        /** Length of the sliding window in milliseconds, at most a day. */
        readonly windowMs: number;
      }
    | "none";
  /**
   * A limit of open questions that this gate shares with others, beside its own; further questions
   * are denied with `client_limit_reached`. Absent: none.
   */
  readonly questionRoom?: QuestionRoom;
  /** Source of time; `systemClock` unless given. */
  readonly clock?: Clock;
  /** Source of ids; {@link randomIds} unless given. */
  readonly ids?: Ids;
}

/** How something is performed. */
export interface PerformOptions {
  /** Ends it: what did not begin does not. */
  readonly signal?: AbortSignal | undefined;
  /**
   * True: what `perform` returned comes before the log has its completion; `completed` of the result
   * says whether it gets there. After a crash in between, the log says that the outcome is unknown.
   * What `perform` throws comes after it all the same. Default: false.
   */
  readonly completesLater?: boolean | undefined;
}

/** What is performed where it is allowed, and how. */
export interface Performance<T> extends PerformOptions {
  /** Performs it with what was released; called once at most. */
  readonly perform: (release: Release) => Promise<T>;
}

/** A gate: call it with an action to get a Verdict. Made by {@link createConsentGate}. */
export interface ConsentGate extends AsyncDisposable {
  /**
   * True if the gate has an `argumentCheck`. A proxy in front of a gate without one checks the
   * arguments itself.
   */
  readonly checksArguments: boolean;
  /** Decides one action; asks a person where the policy says so. Never rejects. */
  (action: Action, context: GateContext): Promise<Verdict>;
  /**
   * What the layers and the policy say, and why. Asks nobody, not even the assessors, records
   * nothing, uses up no limit and throws nothing.
   */
  evaluate(action: Action, context: Omit<GateContext, "signal">): Evaluation;
  /**
   * Whether every call of a tool is denied as the policy and the layers are now, whatever its
   * arguments; false where that cannot be told. For lists that leave out what cannot be called.
   *
   * @param action - A call of the tool; its arguments are not looked at.
   */
  deniesAll(action: Action): boolean;
  /** Decides, then performs what is allowed. Rejects only as {@link ConsentGate.perform} does. */
  run<T>(
    action: Action,
    perform: (release: Release) => Promise<T>,
    context: GateContext,
  ): Promise<RunResult<T>>;
  /**
   * As {@link ConsentGate.run}, but returns the open question at once instead of waiting for its
   * end: give what it settles with to {@link ConsentGate.perform}. For who has something to do while
   * a person decides. What needs no person waits for the log once, not twice as after {@link
   * ConsentGate.open}.
   */
  runOrOpen<T>(
    action: Action,
    performance: Performance<T>,
    context: GateContext,
  ): Promise<RunResult<T> | Pending>;
  /**
   * Performs what a verdict allows: redeems its permit, injects secrets, records, calls `perform`
   * once, records how it ended, and masks the result. A `perform` that streams settles when its
   * stream ends.
   *
   * @throws What `perform` itself throws, masked; ConsentError `secret_refused` where secrets were
   *   injected and the result is not data that can be searched for them. Anything else that fails
   *   is a denial in the result.
   */
  perform<T>(
    verdict: Allowed,
    perform: (release: Release) => Promise<T>,
    options?: PerformOptions,
  ): Promise<RunResult<T>>;
  /**
   * Records what became of an action that the caller performs itself, after it redeemed the
   * verdict's permit: optionally `forwarded` before, and once how it ended. After `perform` or
   * `run` there is nothing to report.
   *
   * @throws ConsentError `permit_unknown` for anything but a verdict of a gate itself (a copy is
   *   not one), `permit_other_gate`, `permit_unspent`, `permit_reported`, `options_invalid` for an
   *   unknown outcome, or `audit_failed`.
   */
  report(verdict: Allowed, outcome: ReportedOutcome): Promise<void>;
  /**
   * Makes a function that asks the gate about each call before it performs it. An error of
   * `toAction` denies the call with `action_invalid`.
   */
  wrap<I, T>(
    toAction: (input: I) => Action,
    perform: (release: Release, input: I) => Promise<T>,
  ): (input: I, context: GateContext) => Promise<RunResult<T>>;
  /** As calling the gate, but returns the open question at once instead of waiting for its end. */
  open(action: Action, context: GateContext): Promise<Verdict | Pending>;
  /**
   * Takes an answer from outside a channel, such as a web handler or another process. Never
   * rejects.
   *
   * @param claim - ACP v0.2 §4.2's JSON: text, bytes or object.
   * @param by - Who answered, as the caller authenticated them.
   */
  answer(
    claim: unknown,
    by: { readonly channel: string; readonly subject: string },
  ): Promise<AnswerReceipt>;
  /**
   * Ends a grant: from now on it answers no ask, and no permit that it gave is performed.
   *
   * @param by - Who revoked it, for the log.
   * @returns False where there is no such grant.
   * @throws What the store or the log throws; where the log does, the grant is revoked nonetheless.
   */
  revoke(grantId: string, by: string): Promise<boolean>;
  /**
   * Ends the open questions of agents that `pausedAgent` says are paused: denied with
   * `agent_paused`. Call it after you pause an agent; it pauses nobody itself. Never rejects.
   */
  endPaused(): Promise<PausedEnd>;
  /**
   * Call it after a restart: ends questions that are out of time, delivers those that are still
   * open again, and keeps each approval that nobody collected for the same call of the same agent
   * until its time is over. An approval that a call with an id of its own had collected
   * ({@link GateContext.call}) ends as not performed.
   *
   * @returns How many questions were delivered again.
   */
  resume(options?: ResumeOptions): Promise<number>;
  /** Ends open questions with a denial and takes no new action. */
  close(): Promise<void>;
}
