/**
 * Types of what the server says and of the page's own parts. Not served: for the type check of the
 * page. What the server makes has its type there, and here it has the page's name for it.
 */
import type {
  Agent,
  ConsentRequest as Asked,
  Decision,
  EndStatus,
  GrantOffer,
  JsonObject,
  JsonValue,
  RiskLevel,
} from "@acp/core";
import type { ReviewRow } from "../src/inbox-reviews.js";
import type { RunOutcome } from "../src/question-source.js";
import type {
  ChoiceMessage,
  EndedMessage,
  HelloMessage,
  HistoryMessage,
  OutcomeMessage,
  PasskeyMessage,
  PausedMessage,
  PreparedMessage,
  QuestionMessage,
  ReceiptMessage,
  ReviewMessage,
  ReviewShownMessage,
  SessionMessage,
  WireForm,
} from "../src/wire.js";

export type {
  ChoiceMessage as Choice,
  EndStatus,
  JsonObject,
  JsonValue as Json,
  OutcomeMessage as Outcome,
  PasskeyMessage as PasskeyFacts,
  PausedMessage as PausedAgent,
  ReviewMessage as ReviewFacts,
  ReviewRow,
  ReviewShownMessage as ReviewShown,
  RiskLevel,
  RunOutcome,
  SessionMessage as SessionFacts,
};

/** `unknown`: it ended while nobody told the page. */
export type SeenStatus = EndStatus | "unknown";
export type Offer = WireForm<GrantOffer>;
export type Step = WireForm<NonNullable<Asked["escalation"]>[number]>;

/** A question on the wire (spec/consent.md §2). */
export type ConsentRequest = WireForm<
  Pick<Asked, "id" | "actionDigest" | "text" | "approvers" | "quorum" | "evidence" | "secrets">
> & {
  readonly timestamp: string;
  readonly expires_at: string;
  readonly agent: Required<Pick<Agent, "id" | "name" | "command">> & Pick<Agent, "parents">;
  readonly action: WireForm<Asked["action"]>;
  readonly policy: WireForm<Asked["policy"]>;
  readonly offers: readonly Offer[];
  readonly escalation?: readonly Step[];
};

export type Question = QuestionMessage<ConsentRequest>;
export type Hello = HelloMessage<ConsentRequest>;

/** What became of an answer: the inbox's word, or why the page could not send it. */
export type Receipt =
  | Exclude<ReceiptMessage, { readonly status: "refused" }>
  | { readonly status: "refused"; readonly code: string; readonly reason: string };

/** A question that ended while the page was open, and what became of its yes since. */
export type Ended = Omit<EndedMessage, "status"> & {
  readonly status: SeenStatus;
  readonly run?: RunOutcome;
};

/** What a passkey signs, and what else the page is told of it. */
export interface RequestOptions {
  readonly challenge: string;
  readonly rpId?: string;
  readonly timeout?: number;
  readonly userVerification?: UserVerificationRequirement;
  readonly allowCredentials?: readonly Descriptor[];
}

export interface Descriptor {
  readonly id: string;
  readonly type: "public-key";
  readonly transports?: readonly AuthenticatorTransport[];
}

export interface CreationOptions {
  readonly challenge: string;
  readonly rp: { readonly id?: string; readonly name: string };
  readonly user: { readonly id: string; readonly name: string; readonly displayName: string };
  readonly pubKeyCredParams: readonly { readonly type: "public-key"; readonly alg: number }[];
  readonly timeout?: number;
  readonly excludeCredentials?: readonly Descriptor[];
  readonly authenticatorSelection?: AuthenticatorSelectionCriteria;
  readonly attestation?: AttestationConveyancePreference;
}

export type Prepared = PreparedMessage<RequestOptions>;
export type HistoryEntry = HistoryMessage<ConsentRequest, ConsentResponse>;

export interface ConsentResponse {
  readonly decision: Decision;
  readonly timestamp?: string;
  readonly approver?: { readonly id: string; readonly channel: string };
  readonly modifications?: JsonObject | null;
  readonly conditions?: { readonly valid_until: string; readonly single_use: boolean };
  readonly reason?: string;
  readonly proof?: { readonly algorithm: string } & JsonObject;
}

/** `live`: the stream stands. Anything else: nothing can be answered. */
export type Link = "connecting" | "live" | "lost" | "offline";

/**
 * The few parts of a service worker's scope that sw.js uses: the library of types has pages or
 * workers, not both.
 */
export interface WorkerScope {
  addEventListener(
    name: "install" | "activate",
    listener: (event: { waitUntil(work: Promise<unknown>): void }) => void,
  ): void;
  skipWaiting(): Promise<void>;
  readonly registration: { unregister(): Promise<boolean> };
  readonly clients: {
    matchAll(options: {
      type: "window";
    }): Promise<readonly { readonly url: string; navigate(url: string): Promise<unknown> }[]>;
  };
}
