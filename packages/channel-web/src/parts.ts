/**
 * Parts: what the files of the inbox hand to each other, and what its users give and get. Types
 * only. Routes and messages: spec/web-inbox.md.
 */
import type {
  AnswerReceipt,
  Channel,
  Clock,
  ConsentRequest,
  Ending,
  EndStatus,
  JsonObject,
  ConsentOutcome,
  PausedEnd,
  RiskLevel,
} from "@acp/core";
import type { InboxReviews } from "./review-parts.js";

/** A person's passkey: public, nothing in it is a secret. */
export interface Passkey {
  /** The credential id, base64url without padding. */
  readonly id: string;
  /** Whose it is: an approver id. */
  readonly approver: string;
  /** COSE_Key (RFC 9052), base64url without padding. */
  readonly publicKey: string;
  /** The domain that it was made for. */
  readonly rpId: string;
  /**
   * Where it signs: exact origins, or `http://*.<rpId>` for every name right below the domain, on
   * every port. Assertions from elsewhere do not count.
   */
  readonly origins: readonly string[];
  /** What its owner calls it. */
  readonly label: string;
  readonly createdAtMs: number;
  /** From then on it signs nothing that counts; what it signed before stays evidence. */
  readonly revokedAtMs?: number;
}

/** Keeps the passkeys of all people. */
export interface PasskeyStore {
  list(): Promise<readonly Passkey[]>;
  /** False where its id is there already. */
  add(passkey: Passkey): Promise<boolean>;
  /** False where there is none in use with this id of this approver. */
  revoke(id: string, approver: string, atMs: number): Promise<boolean>;
}

/** A question that waits for an answer. */
export interface OpenQuestion {
  readonly request: ConsentRequest;
  /** It was shown before a restart of the gate. */
  readonly redelivery: boolean;
}

/** What changed among the open questions. */
export type QuestionChange =
  | { readonly type: "open"; readonly question: OpenQuestion }
  | { readonly type: "ended"; readonly id: string; readonly ending: Ending }
  /**
   * Its gate cannot be reached any more: what becomes of it is not known here, until it opens again
   * or somebody reads the gate's log.
   */
  | { readonly type: "lost"; readonly id: string }
  /** What became of a yes; comes after the question's end, and once. */
  | { readonly type: "outcome"; readonly id: string; readonly outcome: ConsentOutcome };

/** What became of a yes. */
export interface RunOutcome {
  /**
   * `waiting`: nobody has come for it yet. `started`: handed on, no end yet. `ran`, `failed`:
   * performed, well or not. `not_run`: given up before it began. `not_collected`: nobody came for
   * it in time. `unknown`: it was taken, and nobody said what came of it.
   */
  readonly state:
    | "waiting"
    | "started"
    | "ran"
    | "failed"
    | "not_run"
    | "not_collected"
    | "unknown";
  /**
   * The kind of the error, e.g. `TypeError`, why it did not run or is not known, or that its stream
   * was left before the end; never what the action returned.
   */
  readonly error?: string;
}

/** What a gate's log says of a question that is over. */
export interface QuestionOutcome {
  readonly id: string;
  readonly status: EndStatus;
  readonly reason: string;
  readonly atMs: number;
  /** Left out where it was no yes. */
  readonly run?: RunOutcome;
}

/**
 * Questions of gates elsewhere, and the way to answer them: what `attachApprovers` of
 * @acp/channel-terminal returns is one.
 */
export interface QuestionSource {
  pending(): readonly OpenQuestion[];
  /** Every change after the iteration began. */
  readonly changes: AsyncIterable<QuestionChange>;
  /**
   * @throws ConsentError `channel_unavailable` where the answer was not sent; anything else means
   * that it may have been taken.
   */
  answer(claim: JsonObject): Promise<AnswerReceipt>;
}

/** Somebody who may sign in. */
export interface InboxPerson {
  /** The approver id, as gates know it: proofs name it. */
  readonly approver: string;
  /**
   * What the gate's `approvers` say of this person on the channel; the approver id unless given.
   */
  readonly subject?: string;
}

/** One end of a question, for the page's history. */
export interface HistoryEntry {
  readonly request: JsonObject;
  readonly status: Ending["status"];
  readonly atMs: number;
  readonly approvers: readonly string[];
  /** The answers with their proofs, where they have any. */
  readonly responses: readonly JsonObject[];
  /** What became of a yes, where that is known. */
  readonly run?: RunOutcome;
}

/** An agent that is paused. */
export interface PausedAgent {
  readonly agent: string;
  /** When that ends, in milliseconds since 1970; left out where somebody has to resume it. */
  readonly untilMs?: number;
}

/** Pausing agents from the page: where the gates read it from, which is not the inbox. */
export interface InboxPauses {
  /** Approver ids of those who may: whoever operates the gates. Nobody else sees who is paused. */
  readonly operators: readonly string[];
  list(): Promise<readonly PausedAgent[]>;
  /**
   * Pauses an agent where its gates read it, then has them end what it has open (a gate's
   * `endPaused`).
   */
  pause(agent: string, by: string): Promise<PausedEnd>;
  /** False where it was not paused. */
  resume(agent: string, by: string): Promise<boolean>;
}

/** Parts of an inbox. */
export interface InboxOptions {
  /**
   * Where people reach it, e.g. `http://localhost:8789` or `https://inbox.example.com`: requests
   * from elsewhere are refused.
   */
  readonly origin: string;
  /**
   * The name that passkeys are made for, where the origin is another one at each start: its own
   * name or one above it, e.g. `k3v9.localhost` for `http://x7f2.k3v9.localhost:8789`. The origin's
   * own name unless given.
   */
  readonly rpId?: string;
  readonly people: readonly InboxPerson[];
  readonly passkeys: PasskeyStore;
  /** From which level on a yes takes a passkey, whatever the rule says; `high` unless given. */
  readonly passkeyFrom?: RiskLevel | "rules-only";
  /** What ended before this inbox started, newest first; left out: what ended here. */
  readonly history?: (limit: number) => Promise<readonly HistoryEntry[]>;
  /**
   * What the gates' logs say of these questions, those that are over alone; left out: what became
   * of a yes, and of a gate that is lost, is not known.
   */
  readonly outcomes?: (ids: readonly string[]) => Promise<readonly QuestionOutcome[]>;
  /** Left out: nobody pauses agents from the page. */
  readonly pauses?: InboxPauses;
  /**
   * What agents wrote into overlays of their workspaces; left out: nobody takes it from the page.
   */
  readonly reviews?: InboxReviews;
  readonly clock?: Clock;
  /** Told what an operator should know. */
  readonly warn?: (text: string) => void;
}

/** Where the questions of a source are answered. */
export interface AttachOptions {
  /** The channel as those gates know it, e.g. `terminal` for approve sockets: proofs name it. */
  readonly channel: string;
  /**
   * Who answers there, as those gates know them: only people with this subject may. `local` unless
   * given.
   */
  readonly subject?: string;
}

/** What a registration gave. */
export type PasskeyRegistration =
  | { readonly ok: true; readonly id: string; readonly publicKey: string }
  | { readonly ok: false; readonly reason: string };

/** A good assertion: whose passkey, and the four fields of its proof (spec/proof.md §3). */
export type PasskeyAssertion =
  | { readonly ok: true; readonly passkey: Passkey; readonly signed: PasskeySignature }
  | { readonly ok: false; readonly reason: string };

/** What the authenticator signed, base64url without padding. */
export interface PasskeySignature {
  readonly credential_id: string;
  readonly authenticator_data: string;
  readonly client_data_json: string;
  readonly signature: string;
}

/**
 * WebAuthn for one origin, without a memory of its own; challenges are 32 bytes as base64url. What
 * does not hold is a value, never a throw.
 */
export interface PasskeyCeremony {
  /**
   * `PublicKeyCredentialCreationOptionsJSON`; `known` are this person's, so that no authenticator
   * is taken twice.
   */
  makeRegistrationOptions(terms: {
    readonly approver: string;
    readonly challenge: string;
    readonly known: readonly Passkey[];
  }): Promise<JsonObject>;
  checkRegistration(terms: {
    readonly registration: JsonObject;
    readonly challenge: string;
  }): Promise<PasskeyRegistration>;
  /**
   * `PublicKeyCredentialRequestOptionsJSON`; none `allowed` lets the person choose among all that
   * they have for this domain.
   */
  makeAssertionOptions(terms: {
    readonly challenge: string;
    readonly allowed: readonly Passkey[];
  }): Promise<JsonObject>;
  /**
   * Type, challenge, origin, RP ID, presence, user verification and the signature of one of these
   * passkeys.
   */
  checkAssertion(terms: {
    readonly assertion: JsonObject;
    readonly challenge: string;
    readonly passkeys: readonly Passkey[];
  }): Promise<PasskeyAssertion>;
}

/** An inbox: one page, any number of gates. */
export interface Inbox extends AsyncDisposable {
  /** The page and its requests, web-standard; mount it at the root of its origin. Never rejects. */
  readonly handler: (request: Request) => Promise<Response>;
  /**
   * A channel for a gate of this process; each call makes one of the same inbox. `web` unless
   * named.
   */
  channel(name?: string): Channel;
  /** Shows the questions of gates elsewhere too; ends when the source ends. */
  attach(source: QuestionSource, options: AttachOptions): void;
  /**
   * A new one-time code that signs this person in: 10 minutes, one use.
   *
   * @throws ConsentError `options_invalid` where nobody has this approver id.
   */
  signInCode(approver: string): string;
  /** Ends every session and stream; open questions stay as they are with their gates. */
  close(): Promise<void>;
}
