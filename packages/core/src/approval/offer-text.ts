/**
 * The text of offers: what a yes may also cover, and of grants, in the words a person sees. Part of the question's text, and hashed with it.
 */
import { quoteText } from "./escape.js";
import type { GrantOffer, GrantScope } from "./grants.js";

const PLAIN_NAME = /^[A-Za-z0-9][A-Za-z0-9_.@:/+-]*$/;

/** A name as it is where it is plain, otherwise quoted. */
export function showName(name: string): string {
  return PLAIN_NAME.test(name) ? name : quoteText(name);
}

/** A time span in the largest unit that it is a whole number of. */
export function showDuration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds % 3600 === 0) return `${seconds / 3600} h`;
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
}

/** What a scope covers. */
export function showScope(scope: GrantScope): string {
  switch (scope.kind) {
    case "action":
      return "this exact call";
    case "tool":
      return `every call of ${showName(scope.name)} on ${showName(scope.server)}`;
    case "host":
      return `every request to ${showName(scope.host)} port ${scope.port}`;
    default:
      scope satisfies never;
      return "";
  }
}

/** One line for one offer. */
export function showOffer(offer: GrantOffer): string {
  const uses = offer.uses === undefined ? "" : `, at most ${offer.uses} times`;
  return `  [${offer.id}] ${showScope(offer.scope)} for ${showDuration(offer.ttlMs)}${uses}`;
}
