/**
 * Options: what an inbox is made of, checked once.
 */
import { type Clock, ConsentError, personKey, type RiskLevel, systemClock } from "@acp/core";
import type { HistoryEntry, InboxOptions, InboxPauses } from "./inbox-options.js";
import type { PasskeyStore } from "./passkey.js";
import type { QuestionOutcome } from "./question-source.js";
import type { InboxReviews } from "./inbox-reviews.js";

/** People of one inbox. */
const PEOPLE_MAX = 1_000;
/** Characters of an approver id and of a subject; as core's names. */
const NAME_CHARS_MAX = 256;

/** Somebody who may sign in. */
export interface Person {
  readonly approver: string;
  readonly subject: string;
}

/** The options, checked and completed. */
export interface Settings {
  readonly origin: string;
  /** Host and port as the `Host` header names them. */
  readonly host: string;
  /** What passkeys are made for: the origin's domain, or the one above it that stays the same. */
  readonly rpId: string;
  /**
   * Where passkeys that are made here count: this origin, or every one below {@link Settings.rpId}.
   */
  readonly passkeyOrigin: string;
  readonly isSecure: boolean;
  /** By approver id. */
  readonly people: ReadonlyMap<string, Person>;
  readonly passkeys: PasskeyStore;
  readonly passkeyFrom: RiskLevel | "rules-only";
  readonly history: (limit: number) => Promise<readonly HistoryEntry[]>;
  readonly outcomes: ((ids: readonly string[]) => Promise<readonly QuestionOutcome[]>) | undefined;
  readonly pauses: InboxPauses | undefined;
  readonly reviews: InboxReviews | undefined;
  readonly clock: Clock;
  readonly warn: (text: string) => void;
}

function requireOption(holds: boolean, why: string): void {
  if (!holds) throw new ConsentError("options_invalid", `Cannot create an inbox: ${why}`);
}

const isName = (name: unknown): boolean =>
  typeof name === "string" && name !== "" && name.length <= NAME_CHARS_MAX;

function readOrigin(origin: string): URL {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url === undefined || url.origin !== origin)
    throw new ConsentError(
      "options_invalid",
      `Cannot create an inbox: "origin" is not an origin such as https://inbox.example.com`,
    );
  const isLocal = url.hostname === "localhost" || url.hostname.endsWith(".localhost");
  requireOption(
    url.protocol === "https:" || (url.protocol === "http:" && isLocal),
    `"origin" has http, which is for localhost only`,
  );
  requireOption(
    !/^[\d.]+$|^\[/.test(url.hostname),
    `"origin" has an IP address, but a passkey needs a name; this machine's is http://localhost`,
  );
  return url;
}

/**
 * What passkeys are made for. A browser wants the page's own name or one above it, and has the last
 * word.
 */
function readRpId(rpId: string | undefined, { hostname }: URL): string {
  const id = rpId ?? hostname;
  requireOption(
    typeof id === "string" &&
      (id === hostname || (hostname.endsWith(`.${id}`) && id.includes("."))),
    `"rpId" is neither the origin's name nor a parent domain of it`,
  );
  return id;
}

function readPeople(people: InboxOptions["people"]): ReadonlyMap<string, Person> {
  requireOption(
    Array.isArray(people) && people.length <= PEOPLE_MAX,
    `"people" is not a list of at most ${PEOPLE_MAX}`,
  );
  const known = people.map(({ approver, subject = approver }): Person => ({ approver, subject }));
  for (const { approver, subject } of known)
    requireOption(
      isName(approver) && isName(subject),
      `a person's "approver" or "subject" is not a string of 1 to ${NAME_CHARS_MAX} characters`,
    );
  // Two people whom a gate cannot tell apart would be one in its log.
  for (const key of ["approver", "subject"] as const)
    requireOption(
      new Set(known.map((person) => personKey(person[key]))).size === known.length,
      `two people have the same "${key}"`,
    );
  return new Map(known.map((person) => [person.approver, person]));
}

/** Who may pause is named, one by one: somebody without a name here may not. */
function readPauses({ pauses, people }: InboxOptions): InboxPauses | undefined {
  if (pauses === undefined) return undefined;
  requireOption(
    ["list", "pause", "resume"].every(
      (verb) => typeof Reflect.get(Object(pauses), verb) === "function",
    ),
    `"pauses" lacks list(), pause() or resume()`,
  );
  requireOption(
    Array.isArray(pauses.operators) &&
      pauses.operators.every((id) => people.some(({ approver }) => approver === id)),
    `"pauses" names an operator who is not one of the people`,
  );
  // A copy: whoever holds the list cannot add to it later.
  return {
    operators: [...pauses.operators],
    list: () => pauses.list(),
    pause: (agent, by) => pauses.pause(agent, by),
    resume: (agent, by) => pauses.resume(agent, by),
  };
}

/** Who may take what agents wrote is named as well. */
function readReviews({ reviews, people }: InboxOptions): InboxReviews | undefined {
  if (reviews === undefined) return undefined;
  requireOption(
    ["list", "show", "take", "drop"].every(
      (verb) => typeof Reflect.get(Object(reviews), verb) === "function",
    ),
    `"reviews" lacks list(), show(), take() or drop()`,
  );
  requireOption(
    Array.isArray(reviews.reviewers) &&
      reviews.reviewers.every((id) => people.some(({ approver }) => approver === id)),
    `"reviews" names a reviewer who is not one of the people`,
  );
  return {
    reviewers: [...reviews.reviewers],
    list: () => reviews.list(),
    show: (id) => reviews.show(id),
    take: (order, by) => reviews.take(order, by),
    drop: (order, by) => reviews.drop(order, by),
  };
}

/** Who listens to warnings can break nothing. */
function quietly(warn: (text: string) => void): (text: string) => void {
  return (text) => {
    try {
      warn(text);
    } catch {
      // Their own affair.
    }
  };
}

/**
 * Checks the options and completes them.
 *
 * @throws ConsentError `options_invalid`.
 */
export function readOptions(options: InboxOptions): Settings {
  const {
    passkeys,
    passkeyFrom = "high",
    history = async () => [],
    outcomes,
    clock = systemClock,
  } = options;
  const url = readOrigin(options.origin);
  const rpId = readRpId(options.rpId, url);
  requireOption(
    ["list", "add", "revoke"].every(
      (verb) => typeof Reflect.get(Object(passkeys), verb) === "function",
    ),
    `"passkeys" is not a PasskeyStore`,
  );
  requireOption(
    ["low", "medium", "high", "critical", "rules-only"].includes(passkeyFrom),
    `"passkeyFrom" is not one of low, medium, high, critical, rules-only`,
  );
  return {
    origin: url.origin,
    host: url.host,
    rpId,
    passkeyOrigin: rpId === url.hostname ? url.origin : `${url.protocol}//*.${rpId}`,
    isSecure: url.protocol === "https:",
    people: readPeople(options.people),
    passkeys,
    passkeyFrom,
    history,
    outcomes,
    pauses: readPauses(options),
    reviews: readReviews(options),
    clock,
    warn: quietly(options.warn ?? (() => undefined)),
  };
}
