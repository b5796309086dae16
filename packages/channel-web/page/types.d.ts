/**
 * Types of what the server says (spec/web-inbox.md) and of the page's own parts. Not served: for
 * the type check of the page.
 */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export type RiskLevel = "low" | "medium" | "high" | "critical";
export type EndStatus =
  | "approved"
  | "approved_with_modifications"
  | "denied"
  | "expired"
  | "cancelled"
  | "failed"
  | "superseded";
/** `unknown`: it ended while nobody told the page. */
export type SeenStatus = EndStatus | "unknown";
export type Decision = "approved" | "denied" | "approved_with_modifications";

export type Scope =
  | { readonly kind: "action"; readonly digest: string }
  | { readonly kind: "shell"; readonly command: string }
  | {
      readonly kind: "arguments";
      readonly server: string;
      readonly name: string;
      readonly args: JsonObject;
    }
  | { readonly kind: "tool"; readonly server: string; readonly name: string }
  | {
      readonly kind: "host";
      readonly host: string;
      readonly port: number;
      readonly methods?: readonly string[];
      readonly twin?: string;
    };

export interface Offer {
  readonly id: string;
  readonly scope: Scope;
  readonly ttl_ms: number;
  readonly uses?: number;
}

export interface Step {
  readonly after_ms: number;
  readonly approvers?: readonly string[];
  readonly channel?: string;
}

export interface ConsentRequest {
  readonly id: string;
  readonly timestamp: string;
  readonly expires_at: string;
  readonly agent: {
    readonly id: string;
    readonly name: string;
    readonly command: string;
    readonly parents?: readonly string[];
  };
  readonly action: {
    readonly tool: string;
    readonly server: string;
    readonly category: string;
    readonly risk_level: RiskLevel;
    readonly parameters: JsonObject;
    readonly description: string;
  };
  readonly policy: {
    readonly rule_id: string;
    readonly rule_name: string;
    readonly required_level: RiskLevel;
  };
  readonly action_digest: string;
  readonly text: string;
  readonly approvers?: readonly string[];
  readonly escalation?: readonly Step[];
  readonly quorum: number;
  readonly evidence: "any" | "passkey";
  readonly offers: readonly Offer[];
  readonly secrets: readonly string[];
}

export interface Question {
  readonly request: ConsentRequest;
  readonly redelivery: boolean;
  readonly channel: string;
  readonly needs_passkey: boolean;
  readonly word: string | null;
  readonly may_answer: boolean;
  readonly answered: boolean;
  readonly have: number;
}

/** What became of a yes. */
export interface RunOutcome {
  readonly state:
    | "waiting"
    | "started"
    | "ran"
    | "failed"
    | "not_run"
    | "not_collected"
    | "unknown";
  readonly error?: string;
}

/** What the inbox says of a question that is asked for. */
export interface Outcome {
  readonly id: string;
  readonly status: EndStatus | "open" | "unknown";
  readonly reason?: string;
  readonly at?: number;
  readonly run?: RunOutcome;
}

export interface Ended {
  readonly id: string;
  readonly status: SeenStatus;
  readonly reason: string;
  readonly successor_id?: string;
  readonly at: number;
  readonly run?: RunOutcome;
}

export interface Hello {
  readonly approver: string;
  readonly now: number;
  readonly open: readonly Question[];
}

export interface SessionFacts {
  readonly approver: string;
  readonly passkeys: number;
  readonly passkey_from: RiskLevel | "rules-only";
  readonly now: number;
}

export type Receipt =
  | { readonly status: "final"; readonly outcome: EndStatus }
  | { readonly status: "counted"; readonly have: number; readonly need: number }
  | { readonly status: "reshow"; readonly request_id: string }
  | { readonly status: "refused"; readonly code: string; readonly reason: string }
  /** Sent, and nobody said what became of it yet. */
  | { readonly status: "unknown" };

export interface Choice {
  readonly request_id: string;
  readonly decision: Decision;
  readonly modifications?: JsonObject;
  readonly grant?: string;
  readonly word?: string;
  readonly reason?: string;
}

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

export interface Prepared {
  readonly ticket: string;
  readonly response: JsonObject;
  readonly payload_hash: string;
  readonly passkey: RequestOptions | null;
}

export interface HistoryEntry {
  readonly request: ConsentRequest;
  readonly status: EndStatus;
  readonly at: number;
  readonly approvers: readonly string[];
  readonly responses: readonly ConsentResponse[];
  readonly run?: RunOutcome;
}

export interface ConsentResponse {
  readonly decision: Decision;
  readonly timestamp?: string;
  readonly approver?: { readonly id: string; readonly channel: string };
  readonly modifications?: JsonObject | null;
  readonly conditions?: { readonly valid_until: string; readonly single_use: boolean };
  readonly reason?: string;
  readonly proof?: { readonly algorithm: string } & JsonObject;
}

/** An agent that is paused; `until` is left out where somebody has to resume it. */
export interface PausedAgent {
  readonly agent: string;
  readonly until?: number;
}

export interface PasskeyFacts {
  readonly id: string;
  readonly label: string;
  readonly created_at: number;
  readonly revoked_at?: number;
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

/** What an agent wrote and nobody has settled (spec/web-inbox.md §7). */
export interface ReviewFacts {
  readonly id: string;
  readonly workspace: string;
  readonly agent: string;
  readonly command?: string;
  readonly started: number;
  readonly running: boolean;
  readonly changes?: number;
}

export interface ReviewRow {
  readonly index: number;
  readonly text: string;
  readonly lines: readonly string[];
  readonly part: "plain" | "apart" | "here" | "folder";
}

export interface ReviewShown extends ReviewFacts {
  readonly digest: string;
  readonly rows: readonly ReviewRow[];
  readonly more: number;
  readonly refused: readonly string[];
  readonly complete: boolean;
  readonly needs_passkey: boolean;
}
