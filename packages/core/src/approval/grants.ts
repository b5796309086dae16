/**
 * Grants: earlier consents that may answer later asks. They never lift a deny, never cover a
 * critical action, and answer only an ask that would itself offer them. Format: spec/consent.md §6.
 */
import type { Action } from "../action/action.js";
import { actionDigest } from "../action/digest.js";
import type { BootTime } from "../boot-time.js";
import { canonicalJson } from "../json/canonical.js";
import type { JsonObject } from "../json/value.js";
import type { LoggedAt } from "../types/audit-event.js";
import type { ArgumentsScope, GrantScope, HostScope, OfferTerms } from "../types/scope.js";
import type { ConsentRequest } from "./request.js";

/** In `methods`: every method. */
export const ANY_METHOD = "*";

/** An earlier consent that still holds. Plain JSON data. */
export interface Grant {
  /** Starts with `gr_`; names the grant in the log and for {@link revokeGrant}. */
  readonly id: string;
  /** The agent whose calls it may answer, and no other's. */
  readonly agentId: string;
  /** Which calls it may answer. */
  readonly scope: GrantScope;
  /** Wall time of the consent, milliseconds since 1970. */
  readonly createdAtMs: number;
  /** Wall time from which it answers nothing more, milliseconds since 1970. */
  readonly expiresAtMs: number;
  /** How many uses are left; absent where `uses` is. */
  readonly usesLeft?: number;
  /** The question it came from. */
  readonly requestId: string;
  /** The approvers who gave it. */
  readonly approverIds: readonly string[];
  /** How the consent was proven: `passkey` where the rule wanted one. */
  readonly evidence: "any" | "passkey";
  /** Names of the secrets that the question showed. */
  readonly secrets: readonly string[];
  /** When it was made by the clock of the machine's boot; left out where nobody noted it. */
  readonly created?: BootTime;
  /** How often it may be used in all; absent: without limit until it expires. */
  readonly uses?: number;
  /**
   * The question it came from, whole, and the signed answers to it: what a proof is verified with
   * again. Left out where nothing was signed.
   */
  readonly request?: ConsentRequest;
  /** The signed answers to `request`, one of each approver. */
  readonly responses?: readonly JsonObject[];
  /** Where the log has its `grant_created` event; absent where nobody noted it. */
  readonly logged?: LoggedAt;
  /**
   * HMAC that shows a gate wrote the grant, made with `GateOptions.recordKey`. Stores keep it as it
   * is.
   */
  readonly mac?: string;
}

const NARROWNESS = {
  action: 0,
  shell: 0,
  arguments: 1,
  tool: 2,
  host: 2,
} as const satisfies Record<GrantScope["kind"], number>;

/** Whether a scope is of a kind that exists. A layer may be JavaScript. */
export function isScope(scope: OfferTerms["scope"] | undefined): boolean {
  return (
    typeof scope === "object" &&
    scope !== null &&
    typeof scope.kind === "string" &&
    (scope.kind === "call" || Object.hasOwn(NARROWNESS, scope.kind))
  );
}

/** Among scopes of one kind: each pattern more covers less, each host more covers more. */
function widthOf(scope: GrantScope): number {
  if (scope.kind === "arguments") return -Object.keys(scope.args).length;
  if (scope.kind !== "host") return 0;
  return (
    hostsOf(scope).length +
    METHODS_WIDE * (isAnyMethod(scope) ? METHODS_WIDE : methodsOf(scope).length)
  );
}

/**
 * Compares two scopes for sorting, narrowest first: below 0, 0 or above 0, as
 * `Array.prototype.sort` expects. Only equal scopes give 0.
 */
export function compareScopes(a: GrantScope, b: GrantScope): number {
  const [kinds, widths] = [NARROWNESS[a.kind] - NARROWNESS[b.kind], widthOf(a) - widthOf(b)];
  if (kinds !== 0) return kinds;
  return widths === 0 ? compareTexts(canonicalJson(a), canonicalJson(b)) : widths;
}

const compareTexts = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

/** More than the hosts of a scope, and than the methods that anybody lists. */
const METHODS_WIDE = 1_000;

const hostsOf = ({ host, twin }: HostScope): readonly string[] =>
  twin === undefined ? [host] : [host, twin];
const methodsOf = ({ methods = [] }: HostScope): readonly string[] => methods;
const isAnyMethod = (scope: HostScope): boolean => methodsOf(scope).includes(ANY_METHOD);
const hasMethod = (scope: HostScope, method: string): boolean =>
  isAnyMethod(scope) || methodsOf(scope).includes(method);

/**
 * Whether a scope can cover an action, as far as this shows without a Policy: of a scope with
 * argument patterns, only server and tool are compared.
 */
export function scopeMayCover(scope: GrantScope, action: Action): boolean {
  switch (scope.kind) {
    case "action":
      return scope.digest === actionDigest(action);
    case "shell":
      return (
        action.meta.kind === "shell" &&
        action.args === scope.command &&
        scope.digest === actionDigest(action)
      );
    case "arguments":
    case "tool":
      return (
        action.meta.kind === "tool" &&
        action.meta.server === scope.server &&
        action.name === scope.name
      );
    case "host":
      return (
        action.meta.kind === "http" &&
        hostsOf(scope).includes(action.meta.host) &&
        action.meta.port === scope.port &&
        hasMethod(scope, action.meta.method)
      );
    default:
      scope satisfies never;
      return false;
  }
}

/** Tells what argument patterns cover: a Policy, with the matcher of its own rules. */
export interface ScopeProver {
  proves(scope: ArgumentsScope, action: Action): boolean;
}

/** Whether a scope covers an action. Without a prover no argument pattern covers anything. */
export function scopeCovers(
  scope: GrantScope,
  action: Action,
  prover: ScopeProver | undefined,
): boolean {
  return (
    scopeMayCover(scope, action) &&
    (scope.kind !== "arguments" || prover?.proves(scope, action) === true)
  );
}

const same = (a: unknown, b: unknown): boolean => canonicalJson(a) === canonicalJson(b);

const isOfTool = (
  scope: GrantScope,
  { server, name }: Pick<ArgumentsScope, "server" | "name">,
): boolean =>
  (scope.kind === "tool" || scope.kind === "arguments") &&
  scope.server === server &&
  scope.name === name;

/** Whether one scope covers all that another one covers, where both cover the action at hand. */
export function scopeIncludes(wide: GrantScope, narrow: GrantScope): boolean {
  // An exact scope that covers the action at hand covers nothing else.
  if (narrow.kind === "action" || narrow.kind === "shell") return true;
  switch (wide.kind) {
    case "action":
    case "shell":
      return false;
    case "tool":
      return isOfTool(narrow, wide);
    case "arguments":
      // Each pattern narrows: who has all of the other's patterns and more covers less.
      return (
        narrow.kind === "arguments" &&
        isOfTool(narrow, wide) &&
        Object.entries(wide.args).every(
          ([key, pattern]) => Object.hasOwn(narrow.args, key) && same(pattern, narrow.args[key]),
        )
      );
    case "host":
      return (
        narrow.kind === "host" &&
        narrow.port === wide.port &&
        hostsOf(narrow).every((host) => hostsOf(wide).includes(host)) &&
        methodsOf(narrow).every((method) => hasMethod(wide, method))
      );
    default:
      return wide satisfies never;
  }
}
