/**
 * Grants: earlier consents that may answer later asks. They never lift a deny and never cover a critical action.
 */
import type { Action } from "../action/action.js";
import { actionDigest } from "../action/digest.js";

/** What a Grant covers, narrowest kind first. */
export type GrantScope =
  /** This exact action. */
  | { readonly kind: "action"; readonly digest: string }
  /** Every call of one tool on one server. */
  | { readonly kind: "tool"; readonly server: string; readonly name: string }
  /** HTTP to one host and port. */
  | { readonly kind: "host"; readonly host: string; readonly port: number };

/** What a yes may also cover, said in the question. */
export interface GrantOffer {
  /** Short and unique inside the question, e.g. `"tool-10m"`; the answer names it. */
  readonly id: string;
  readonly scope: GrantScope;
  readonly ttlMs: number;
  /** How often it may be used; left out means as often as wanted within its time. */
  readonly uses?: number;
}

/** An earlier consent that still holds. Plain JSON data. */
export interface Grant {
  readonly id: string;
  readonly agentId: string;
  readonly scope: GrantScope;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly usesLeft?: number;
  /** The question it came from. */
  readonly requestId: string;
  readonly approverIds: readonly string[];
  readonly evidence: "any" | "passkey";
  /** Names of the secrets that question showed. */
  readonly secrets: readonly string[];
}

const NARROWNESS = { action: 0, tool: 1, host: 1 } as const satisfies Record<GrantScope["kind"], number>;

/** Orders scopes, narrowest first. */
export function compareScopes(a: GrantScope, b: GrantScope): number {
  return NARROWNESS[a.kind] - NARROWNESS[b.kind];
}

/** Whether a scope covers an action. */
export function scopeCovers(scope: GrantScope, action: Action): boolean {
  switch (scope.kind) {
    case "action":
      return scope.digest === actionDigest(action);
    case "tool":
      return action.meta.kind === "tool" && action.meta.server === scope.server && action.name === scope.name;
    case "host":
      return action.meta.kind === "http" && action.meta.host === scope.host && action.meta.port === scope.port;
    default:
      scope satisfies never;
      return false;
  }
}
