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

/** An inbox: one page for the questions of any number of gates. */
export interface InboxPerson {
  /** The approver id, as gates know it; proofs name it. */
  readonly approver: string;
  /**
   * The person's `subject` in the gates' `approvers` on this channel; the approver id unless given.
   */
  readonly subject?: string;
}

/** A question that is over, for the page's history. */
export interface HistoryEntry {
  /** The question as JSON, as `encodeRequest` writes it. */
  readonly request: JsonObject;
  /** How the question ended. */
  readonly status: Ending["status"];
  /** When it ended, in milliseconds since 1970. */
  readonly atMs: number;
  /** IDs of those who answered. */
  readonly approvers: readonly string[];
  /** The answers with their proofs, where they have any. */
  readonly responses: readonly JsonObject[];
  /** What became of an approval; absent where that is not known. */
  readonly run?: RunOutcome;
}

/** An agent whose calls are all denied for now. */
export interface PausedAgent {
  /** The agent's ID. */
  readonly agent: string;
  /** When the pause ends, in milliseconds since 1970; absent: when somebody resumes the agent. */
  readonly untilMs?: number;
}

/**
 * Lets operators pause agents from the page. The inbox calls these functions; gates read pauses
 * from wherever these functions store them.
 */
export interface InboxPauses {
  /**
   * Approver ids of those who may pause agents: the operators of the gates. Nobody else sees who is
   * paused.
   */
  readonly operators: readonly string[];
  /** The agents that are paused now. */
  list(): Promise<readonly PausedAgent[]>;
  /**
   * Pauses an agent where its gates read it, then makes them end its open questions (`endPaused`).
   */
  pause(agent: string, by: string): Promise<PausedEnd>;
  /** Ends an agent's pause; false if it was not paused. */
  resume(agent: string, by: string): Promise<boolean>;
}

/** Options of {@link createInbox}. */
export interface InboxOptions {
  /**
   * Where people reach the page, e.g. `http://localhost:8789` or `https://inbox.example.com`;
   * requests from other origins are refused.
   */
  readonly origin: string;
  /**
   * The relying party id that passkeys are created for, if the origin has another name at each
   * start: the origin's own host name or one above it, e.g. `k3v9.localhost` for
   * `http://x7f2.k3v9.localhost:8789`. The origin's host name unless given.
   */
  readonly rpId?: string;
  /** Everyone who may sign in; at most 1,000. */
  readonly people: readonly InboxPerson[];
  /** Where passkeys are kept. `memoryPasskeys()` forgets them when the process ends. */
  readonly passkeys: PasskeyStore;
  /**
   * The level from which approving needs a passkey, whatever the rule says; `high` unless given.
   * `rules-only`: only where a rule says so.
   */
  readonly passkeyFrom?: RiskLevel | "rules-only";
  /**
   * Reads questions that ended before this inbox started, newest first; unless given, the history
   * has only what ended here.
   */
  readonly history?: (limit: number) => Promise<readonly HistoryEntry[]>;
  /**
   * Reads from the gates' logs what became of questions that are over; unless given, the page does
   * not show what became of an approval or of a question whose gate is gone.
   */
  readonly outcomes?: (ids: readonly string[]) => Promise<readonly QuestionOutcome[]>;
  /** Pausing agents from the page; not possible unless given. */
  readonly pauses?: InboxPauses;
  /**
   * Settling what agents wrote into overlays of their workspaces; not possible from the page unless
   * given.
   */
  readonly reviews?: InboxReviews;
  /** Default: the system's clock. */
  readonly clock?: Clock;
  /** Called with texts that an operator should read. */
  readonly warn?: (text: string) => void;
}

/** An inbox: one page, any number of gates. */
export interface Inbox extends AsyncDisposable {
  /**
   * Serves the page and its requests, as a web-standard handler. Mount it at the root of its
   * origin. Never rejects.
   */
  readonly handler: (request: Request) => Promise<Response>;
  /** Makes a channel to this inbox for a gate of this process; named `web` unless given. */
  channel(name?: string): Channel;
  /** Also shows the questions of gates in other processes, until the source ends. */
  attach(source: QuestionSource, options: AttachOptions): void;
  /**
   * Makes a one-time code that signs this person in within 10 minutes.
   *
   * @throws ConsentError `options_invalid` where nobody has this approver id.
   */
  signInCode(approver: string): string;
  /** Ends every session and stream; open questions stay open at their gates. */
  close(): Promise<void>;
}
