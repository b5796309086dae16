/**
 * Inbox options: what an inbox is made of, and what it gives. Types only. Routes and messages:
 * spec/web-inbox.md.
 */
import type { Channel, Clock, Ending, JsonObject, PausedEnd, RiskLevel } from "@acp/core";
import type { InboxReviews } from "./inbox-reviews.js";
import type { PasskeyStore } from "./passkey.js";
import type {
  AttachOptions,
  QuestionOutcome,
  QuestionSource,
  RunOutcome,
} from "./question-source.js";

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
  /** The question on the wire (spec/consent.md). */
  readonly request: JsonObject;
  /** How the question ended. */
  readonly status: Ending["status"];
  /** When it ended, in milliseconds since 1970. */
  readonly atMs: number;
  /** IDs of those who answered. */
  readonly approvers: readonly string[];
  /** The answers with their proofs, where they have any. */
  readonly responses: readonly JsonObject[];
  /** What became of a yes, where that is known. */
  readonly run?: RunOutcome;
}

/** Whose calls are all denied for now, and until when. */
export interface PausedAgent {
  /** The agent's ID. */
  readonly agent: string;
  /** When that ends, in milliseconds since 1970; left out where somebody has to resume it. */
  readonly untilMs?: number;
}

/** Pausing agents from the page: where the gates read it from, which is not the inbox. */
export interface InboxPauses {
  /** Approver ids of those who may: whoever operates the gates. Nobody else sees who is paused. */
  readonly operators: readonly string[];
  /** The agents that are paused now. */
  list(): Promise<readonly PausedAgent[]>;
  /**
   * Pauses an agent where its gates read it, then has them end what it has open (a gate's
   * `endPaused`).
   */
  pause(agent: string, by: string): Promise<PausedEnd>;
  /** False where it was not paused. */
  resume(agent: string, by: string): Promise<boolean>;
}

/** Who answers, where the page is, and what it shows beside questions. */
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
  /** Everyone who may sign in; at most 1,000. */
  readonly people: readonly InboxPerson[];
  /** Where passkeys are kept. `memoryPasskeys()` forgets them when the process ends. */
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
  /** Default: the system's clock. */
  readonly clock?: Clock;
  /** Told what an operator should know. */
  readonly warn?: (text: string) => void;
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
