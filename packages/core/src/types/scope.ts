/** Scopes: what a grant covers, and what a question offers. Types only. */
import type { JsonObject } from "../json/value.js";

/** What a Grant covers, narrowest kind first. */
export type GrantScope =
  /** This exact action. */
  | { readonly kind: "action"; readonly digest: string }
  /**
   * This exact command. There is no wider scope for commands: no pattern over a command's text is
   * safe enough.
   */
  | { readonly kind: "shell"; readonly command: string; readonly digest: string }
  /**
   * Every call of one tool on one server whose arguments the patterns prove, as a rule that allows
   * reads them. Path patterns are absolute.
   */
  | {
      readonly kind: "arguments";
      readonly server: string;
      readonly name: string;
      readonly args: JsonObject;
    }
  /** Every call of one tool on one server. */
  | { readonly kind: "tool"; readonly server: string; readonly name: string }
  /**
   * HTTP to one port of one host, and of its twin with or without `www.` where that is named.
   * `methods`: exactly these, or `["*"]` for every method, `CONNECT` too. Empty or left out, as in
   * what versions before 0.1 wrote, covers nothing.
   */
  | {
      readonly kind: "host";
      readonly host: string;
      readonly port: number;
      readonly methods?: readonly string[];
      readonly twin?: string;
    };

/** The scope of a host. */
export type HostScope = Extract<GrantScope, { readonly kind: "host" }>;

/** The scope with argument patterns. Only a Policy can tell what its patterns cover. */
export type ArgumentsScope = Extract<GrantScope, { readonly kind: "arguments" }>;

/** What a yes may also cover, said in the question. */
export interface GrantOffer {
  /** Short and unique inside the question, e.g. `"tool-10m"`; the answer names it. */
  readonly id: string;
  readonly scope: GrantScope;
  readonly ttlMs: number;
  /** How often it may be used; left out means as often as wanted within its time. */
  readonly uses?: number;
}

/** An offer as an ask makes it: `{ kind: "call" }` is the action at hand, whatever its kind. */
export interface OfferTerms extends Omit<GrantOffer, "scope"> {
  readonly scope: GrantScope | { readonly kind: "call" };
}
