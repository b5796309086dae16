/**
 * Tickets: answers that were made and not sent yet. Each serves its session once, for two minutes.
 */
import type { Clock, JsonObject } from "@acp/core";
import { type Moment, isOver, momentOf } from "./moment.js";
import type { Entry } from "./questions.js";
import type { Session } from "./session.js";
import { makeToken } from "./token.js";

const LIFETIME_MS = 120_000;
/** Tickets of one person; the oldest goes. */
const TICKETS_MAX = 32;

/** Whose a ticket is. */
interface OfSession {
  readonly session: Session;
}

/** An answer that was made. */
export interface Ticket extends OfSession {
  readonly entry: Entry;
  /** The consent_response, without proof. */
  readonly response: JsonObject;
  /** `sha256:<hex>`. */
  readonly payloadHash: string;
  /** `sha256:<hex>`. */
  readonly requestHash: string;
  /** What a passkey must sign; nothing where it takes none. */
  readonly challenge: string | undefined;
}

/** Answers of one inbox that were not sent yet. */
export interface Tickets<T extends OfSession = Ticket> {
  issue(ticket: T): string;
  /** The ticket, from then on used up. */
  take(id: string, session: Session): T | undefined;
  clear(): void;
}

/** No tickets yet. */
export function createTickets<T extends OfSession = Ticket>(clock: Clock): Tickets<T> {
  // 256 random bits are not guessed; in the order they were made.
  const tickets = new Map<string, { readonly ticket: T; readonly madeAt: Moment }>();
  const forgetOld = (): void => {
    for (const [id, { madeAt, ticket }] of tickets)
      if (ticket.session.over.aborted || isOver(clock, madeAt, LIFETIME_MS)) tickets.delete(id);
  };
  return {
    issue(ticket) {
      forgetOld();
      const [oldest, ...others] = [...tickets].filter(
        (each) => each[1].ticket.session.person === ticket.session.person,
      );
      if (oldest !== undefined && others.length + 1 >= TICKETS_MAX) tickets.delete(oldest[0]);
      const id = makeToken();
      tickets.set(id, { ticket, madeAt: momentOf(clock) });
      return id;
    },
    take(id, session) {
      forgetOld();
      const found = tickets.get(id)?.ticket;
      // Another session's stays for that one: who guesses it uses nothing up.
      if (found?.session !== session) return undefined;
      tickets.delete(id);
      return found;
    },
    clear: () => tickets.clear(),
  };
}
