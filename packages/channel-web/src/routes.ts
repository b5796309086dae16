/**
 * Routes: what a route is, and what its handler is given. Types only; the tables stand beside the
 * handlers.
 */
import type { JsonObject } from "@acp/core";
import type { Challenges } from "./challenges.js";
import type { Streams } from "./events.js";
import type { History } from "./history.js";
import type { Keyring } from "./keyring.js";
import type { Settings } from "./options.js";
import type { PasskeyCeremony } from "./passkey.js";
import type { QuestionOutcome } from "./question-source.js";
import type { Questions } from "./questions.js";
import type { ReviewOrder } from "./inbox-reviews.js";
import type { Session, Sessions } from "./session.js";
import type { SignInCodes } from "./sign-in-codes.js";
import type { Tickets } from "./tickets.js";
import type { Tries } from "./tries.js";

/** What is known of questions that are over. */
export interface Outcomes {
  /** Looks now at what is not settled. Never rejects. */
  look(): Promise<void>;
  /**
   * What became of these questions; those of which nobody knows are left out. Rejects where the
   * logs cannot be read.
   */
  find(ids: readonly string[]): Promise<ReadonlyMap<string, QuestionOutcome>>;
  clear(): void;
}

/** An order that was made and not given yet. */
export interface ReviewTicket {
  readonly session: Session;
  readonly order: ReviewOrder;
  /** What a passkey must sign; nothing where it takes none. */
  readonly challenge: string | undefined;
}

/** The parts of one inbox. */
export interface InboxParts {
  readonly settings: Settings;
  readonly ceremony: PasskeyCeremony;
  readonly keyring: Keyring;
  readonly sessions: Sessions;
  readonly codes: SignInCodes;
  readonly tries: Tries;
  readonly challenges: Challenges;
  readonly questions: Questions;
  readonly tickets: Tickets;
  readonly reviewTickets: Tickets<ReviewTicket>;
  readonly history: History;
  readonly outcomes: Outcomes;
  readonly streams: Streams;
}

/** A request that passed the rules for every request. */
export interface Call {
  readonly url: URL;
  /** The JSON sent; empty for GET and DELETE. */
  readonly body: JsonObject;
  /** Aborts where the server knows that nobody waits any more. */
  readonly gone: AbortSignal;
  /** What stands for `:id` in the route's path. */
  readonly id: string;
}

/** A request of somebody who is signed in. */
export interface SessionCall extends Call {
  readonly session: Session;
}

type Method = "GET" | "POST" | "DELETE";

/** One route below `/api/`. */
export type Route =
  | {
      readonly method: Method;
      readonly path: string;
      /** For anybody. */
      readonly access: "open";
      handle(parts: InboxParts, call: Call): Promise<Response> | Response;
    }
  | {
      readonly method: Method;
      readonly path: string;
      readonly access: "session";
      handle(parts: InboxParts, call: SessionCall): Promise<Response> | Response;
    };
