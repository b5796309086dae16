/**
 * Sessions: who is signed in. A cookie alone is nobody: a request also takes the session's key,
 * which one origin's page keeps for itself (a browser sends a cookie of localhost to every port of
 * it). Both are kept as hashes.
 */
import type { Clock } from "@acp/core";
import { type Moment, isOver, momentOf } from "./moment.js";
import type { Person } from "./options.js";
import { hasHash, hashOf, makeToken } from "./token.js";

/** How long a session lives at most. */
const LIFETIME_MS: number = 12 * 3_600_000;
/** Sessions of one person; the oldest ends. */
const SESSIONS_MAX = 16;
/** Cookies of our name that are looked at. */
const COOKIES_MAX = 8;
/**
 * Every inbox has a name of its own, which nobody else knows: a browser sends one host's cookies to
 * all of its ports, and those that another port set must not stand before ours.
 */
const makeCookieName = (): string => `acp_inbox_${makeToken().slice(0, 22)}`;

/** Somebody who is signed in. */
export interface Session {
  readonly person: Person;
  readonly startedAt: Moment;
  /** The passkey that signed in; left out for a code. */
  readonly passkeyId?: string;
  readonly keyHash: Uint8Array;
  /** Aborts when the session is over. */
  readonly over: AbortSignal;
}

/** A session, and the two values that only its browser is told. */
export interface Started {
  readonly session: Session;
  readonly cookie: string;
  readonly key: string;
}

/** Who is signed in. */
export interface Sessions {
  start(person: Person, passkeyId?: string): Started;
  /** A `set-cookie` that makes the browser forget its session. */
  readonly forgetting: string;
  /** By the request's cookie. */
  find(request: Request): Session | undefined;
  /** Whether it is not over yet. */
  holds(session: Session): boolean;
  /** Notes that the person just used a passkey. */
  notePasskey(session: Session): void;
  /** Whether the person used a passkey within so many milliseconds. */
  usedPasskey(session: Session, withinMs: number): boolean;
  end(session: Session): void;
  /** Ends what a passkey signed in to, or everything. */
  endAll(passkeyId?: string): void;
}

interface Held {
  readonly session: Session;
  readonly over: AbortController;
  passkeyAt: Moment | undefined;
}

/** Whether the request names the session's key. In constant time. */
export function hasKey(request: Request, { keyHash }: Session): boolean {
  return hasHash(request.headers.get("x-acp-inbox") ?? "", keyHash);
}

function cookiesOf(request: Request, name: string): readonly string[] {
  const pairs = (request.headers.get("cookie") ?? "").split(";").map((pair) => pair.trim());
  const ours = pairs.filter((pair) => pair.startsWith(`${name}=`));
  return ours.slice(0, COOKIES_MAX).map((pair) => pair.slice(name.length + 1));
}

/** A `set-cookie` that makes the browser keep the value, or forget it where there is none. */
function cookieOf(name: string, value: string, isSecure: boolean): string {
  const lifetime = value === "" ? 0 : LIFETIME_MS / 1_000;
  return `${name}=${value}; Path=/; Max-Age=${lifetime}; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;
}

/** A new session with everything that is held of it, and the key that only its page is told. */
function makeHeld(
  clock: Clock,
  person: Person,
  passkeyId: string | undefined,
): { readonly held: Held; readonly key: string } {
  const key = makeToken();
  const over = new AbortController();
  const startedAt = momentOf(clock);
  const session: Session = {
    person,
    startedAt,
    keyHash: hashOf(key),
    over: over.signal,
    ...(passkeyId === undefined ? {} : { passkeyId }),
  };
  return {
    held: { session, over, passkeyAt: passkeyId === undefined ? undefined : startedAt },
    key,
  };
}

/** The sessions that are not over, by the values of their cookies, of which it keeps hashes. */
function createHeldSessions(clock: Clock) {
  const held = new Map<string, Held>();
  // Looked up by its hash: what the time of that tells is the hash's, not the value's.
  const idOf = (value: string): string => hashOf(value).toString("hex");
  const drop = (isGone: (each: Held) => boolean): void => {
    for (const [id, each] of held) {
      if (!isGone(each)) continue;
      held.delete(id);
      each.over.abort();
    }
  };
  return {
    drop,
    dropOld: (): void => drop(({ session }) => isOver(clock, session.startedAt, LIFETIME_MS)),
    add: (value: string, each: Held): void => void held.set(idOf(value), each),
    by: (value: string): Session | undefined => held.get(idOf(value))?.session,
    of: (session: Session): Held | undefined =>
      [...held.values()].find((each) => each.session === session),
    ofPerson: (person: Person): readonly Held[] =>
      [...held.values()].filter(({ session }) => session.person === person),
  };
}

/** Creates the sessions of one inbox: nobody is signed in yet. */
export function createSessions({
  clock,
  isSecure,
}: {
  readonly clock: Clock;
  readonly isSecure: boolean;
}): Sessions {
  const sessions = createHeldSessions(clock);
  const name = makeCookieName();
  return {
    start(person, passkeyId) {
      sessions.dropOld();
      const [oldest, ...others] = sessions.ofPerson(person);
      if (others.length + 1 >= SESSIONS_MAX) sessions.drop((each) => each === oldest);
      const value = makeToken();
      const { held, key } = makeHeld(clock, person, passkeyId);
      sessions.add(value, held);
      return { session: held.session, cookie: cookieOf(name, value, isSecure), key };
    },
    forgetting: cookieOf(name, "", isSecure),
    find(request) {
      sessions.dropOld();
      for (const value of cookiesOf(request, name)) {
        const found = sessions.by(value);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    holds(session) {
      sessions.dropOld();
      return sessions.of(session) !== undefined;
    },
    notePasskey(session) {
      const found = sessions.of(session);
      if (found !== undefined) found.passkeyAt = momentOf(clock);
    },
    usedPasskey(session, withinMs) {
      const at = sessions.of(session)?.passkeyAt;
      return at !== undefined && !isOver(clock, at, withinMs);
    },
    end: (session) => sessions.drop((each) => each.session === session),
    endAll: (passkeyId) =>
      sessions.drop(({ session }) => passkeyId === undefined || session.passkeyId === passkeyId),
  };
}
