/**
 * The text of offers: what a yes may also cover, and of grants, in the words a person sees. Part of
 * the question's text, and hashed with it.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../json/value.js";
import { escapeText } from "@acp/exec-safety/text";
import type { EscalationStep } from "./escalation.js";
import { ANY_METHOD } from "./grants.js";
import { showName, showText } from "./show.js";
import type { GrantOffer, GrantScope, HostScope } from "../types/scope.js";

/**
 * A time in milliseconds, rounded to seconds, in the largest of `h`, `min` and `s` that gives a
 * whole number: `90 s`, `10 min`.
 */
export function showDuration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds % 3600 === 0) return `${seconds / 3600} h`;
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
}

/** A pattern as a person reads it; nested ones as JSON. */
function showPattern(key: string, pattern: JsonValue): string {
  const name = showName(key);
  if (typeof pattern === "number" || typeof pattern === "boolean")
    return `${name} is ${JSON.stringify(pattern)}`;
  if (typeof pattern === "string")
    return `${name} ${/[*?]/.test(pattern) ? "is like" : "is"} ${showText(pattern)}`;
  const path =
    isJsonObject(pattern) && Object.keys(pattern).length === 1 ? pattern["path"] : undefined;
  return typeof path === "string"
    ? `${name} is a path like ${showText(path)}`
    : `${name} is like ${escapeText(JSON.stringify(pattern))}`;
}

const showArguments = (args: JsonObject): string =>
  Object.entries(args)
    .map(([key, pattern]) => showPattern(key, pattern))
    .join(" and ");

/** Which requests a host's scope covers. */
function showMethods({ methods = [] }: HostScope): string {
  if (methods.length === 0) return "no request";
  if (methods.includes(ANY_METHOD)) return "every request, of any method, and every tunnel";
  if (methods.length === 1 && methods[0] === "CONNECT")
    return "every tunnel, whatever passes inside it,";
  return `every ${methods.map(showName).join(" and ")} request`;
}

/**
 * What a scope covers, as a person reads it, e.g. `every call of read_file on files`. Texts of
 * others are escaped.
 */
export function showScope(scope: GrantScope): string {
  switch (scope.kind) {
    case "action":
      return "this exact call";
    case "shell":
      return `this exact command: ${showText(scope.command)}`;
    case "arguments":
      return `every call of ${showName(scope.name)} on ${showName(scope.server)} where ${showArguments(scope.args)}`;
    case "tool":
      return `every call of ${showName(scope.name)} on ${showName(scope.server)}`;
    case "host": {
      const twin = scope.twin === undefined ? "" : ` or ${showName(scope.twin)}`;
      return `${showMethods(scope)} to ${showName(scope.host)}${twin} port ${scope.port}`;
    }
    default:
      scope satisfies never;
      return "";
  }
}

/** One line for one offer. */
export function showOffer(offer: GrantOffer): string {
  const scope = offer.scope.kind === "shell" ? "this exact command" : showScope(offer.scope);
  const uses = offer.uses === undefined ? "" : `, at most ${offer.uses} times`;
  return `  [${offer.id}] ${scope} for ${showDuration(offer.ttlMs)}${uses}`;
}

/** One line for one step of an escalation. */
export function showStep({ afterMs, approvers = [], channel }: EscalationStep): string {
  const people =
    approvers.length === 0
      ? []
      : [`it may also be answered by ${approvers.map(showName).join(", ")}`];
  const where = channel === undefined ? [] : [`it is also shown on ${showName(channel)}`];
  const when = afterMs < 1_000 ? "at once" : `after ${showDuration(afterMs)}`;
  return `  ${when} ${[...people, ...where].join(", and ")}`;
}
