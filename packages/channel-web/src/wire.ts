/**
 * Wire: what the inbox and its page tell each other. Types only: the page's types.d.ts takes them
 * from here, so that neither side changes alone. Format: spec/web-inbox.md.
 *
 * Types and not interfaces: only those are JSON to the compiler.
 */
import type { Decision, EndStatus, JsonObject, RefusalCode, RiskLevel } from "@acp/core";
import type { ReviewRow } from "./inbox-reviews.js";
import type { RunOutcome } from "./question-source.js";

/** A question as one person's page is told of it; the page knows what is in a request. */
export type QuestionMessage<Request = JsonObject> = {
  readonly request: Request;
  readonly redelivery: boolean;
  readonly channel: string;
  readonly needs_passkey: boolean;
  /** What a yes takes, typed; `null` where it takes no word. */
  readonly word: string | null;
  readonly may_answer: boolean;
  readonly answered: boolean;
  /** Yeses so far. */
  readonly have: number;
};

/** The first event of a stream: everything that is open. */
export type HelloMessage<Request = JsonObject> = {
  readonly approver: string;
  readonly now: number;
  readonly open: readonly QuestionMessage<Request>[];
};

/** A question ended. */
export type EndedMessage = {
  readonly id: string;
  readonly status: EndStatus;
  readonly reason: string;
  readonly successor_id?: string;
  readonly at: number;
};

/** The gate of a question is lost: what becomes of it is not known here. */
export type LostMessage = { readonly id: string; readonly at: number };

/** What became of a yes. */
export type RunMessage = { readonly id: string; readonly run: WireForm<RunOutcome> };

/** What is known of a question that was asked about; where it ended, how and when. */
export type OutcomeMessage = {
  readonly id: string;
  readonly status: EndStatus | "open" | "unknown";
  readonly reason?: string;
  readonly at?: number;
  readonly run?: WireForm<RunOutcome>;
};

/** Who is signed in. */
export type SessionMessage = {
  readonly approver: string;
  /** Passkeys in use. */
  readonly passkeys: number;
  readonly passkey_from: RiskLevel | "rules-only";
  readonly now: number;
};

/** What a person decided, for the answer that is prepared. */
export type ChoiceMessage = {
  readonly request_id: string;
  readonly decision: Decision;
  readonly modifications?: JsonObject | undefined;
  readonly grant?: string | undefined;
  readonly word?: string | undefined;
  readonly reason?: string | undefined;
};

/** A prepared answer. */
export type PreparedMessage<Options = JsonObject> = {
  readonly ticket: string;
  readonly response: JsonObject;
  readonly payload_hash: string;
  /** What the passkey signs; `null` where it takes none. */
  readonly passkey: Options | null;
};

/** Why an answer was not taken: the gate's word, or the inbox's own. */
export type RefusedCode = RefusalCode | "passkey_required" | "gate_lost";

/** What became of an answer. */
export type ReceiptMessage =
  | { readonly status: "final"; readonly outcome: EndStatus }
  | { readonly status: "counted"; readonly have: number; readonly need: number }
  | { readonly status: "reshow"; readonly request_id: string }
  | { readonly status: "refused"; readonly code: RefusedCode; readonly reason: string }
  /** Sent, and nobody said what became of it yet. */
  | { readonly status: "unknown" };

/** One end of a question. */
export type HistoryMessage<Request = JsonObject, Response = JsonObject> = {
  readonly request: Request;
  readonly status: EndStatus;
  readonly at: number;
  readonly approvers: readonly string[];
  readonly responses: readonly Response[];
  readonly run?: WireForm<RunOutcome>;
};

/** An agent that is paused; `until` is left out where somebody has to resume it. */
export type PausedMessage = { readonly agent: string; readonly until?: number };

/** A passkey of the person who is signed in. */
export type PasskeyMessage = {
  readonly id: string;
  readonly label: string;
  readonly created_at: number;
  readonly revoked_at?: number;
};

/** What an agent wrote and nobody has settled. */
export type ReviewMessage = {
  readonly id: string;
  readonly workspace: string;
  readonly agent: string;
  readonly command?: string;
  readonly started: number;
  readonly running: boolean;
  readonly changes?: number;
};

/** A review as it was frozen. */
export type ReviewShownMessage = ReviewMessage & {
  readonly digest: string;
  readonly rows: readonly WireForm<ReviewRow>[];
  readonly more: number;
  readonly refused: readonly string[];
  readonly complete: boolean;
  readonly needs_passkey: boolean;
};

type SnakeCase<Name> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Name;

/** What we have of something, with its names as they are on the wire. */
export type WireForm<T> = { readonly [Name in keyof T as SnakeCase<Name>]: T[Name] };
