/** Scopes: what a grant covers, and what a question offers. Types only. */
import type { JsonObject } from "../json/value.js";

/** What a Grant covers, narrowest kind first. */
export type GrantScope =
  /** This exact action. */
  | {
      readonly kind: "action";
      /** {@link actionDigest} of the one action: `sha256:<hex>`. */
      readonly digest: string;
    }
  /**
   * This exact command. There is no wider scope for commands: no pattern over a command's text is
   * safe enough.
   */
  | {
      readonly kind: "shell";
      /** The command's text, for people. */
      readonly command: string;
      /** {@link actionDigest} of the one action: `sha256:<hex>`. */
      readonly digest: string;
    }
  /**
   * Every call of one tool on one server whose arguments the patterns prove, as a rule that allows
   * reads them. Path patterns are absolute.
   */
  | {
      readonly kind: "arguments";
      /** The tool's server. */
      readonly server: string;
      /** The tool's name. */
      readonly name: string;
      /** Patterns by argument, as in a rule's `match.args`. */
      readonly args: JsonObject;
    }
  /** Every call of one tool on one server. */
  | {
      readonly kind: "tool";
      /** The tool's server. */
      readonly server: string;
      /** The tool's name. */
      readonly name: string;
    }
  /**
   * HTTP to one port of one host, and of its twin with or without `www.` where that is named.
   * `methods`: exactly these, or `["*"]` for every method, `CONNECT` too. Empty or left out, as in
   * what versions before 0.1 wrote, covers nothing.
   */
  | {
      readonly kind: "host";
      /** Normalized host name or address. */
      readonly host: string;
      /** Port number, 1 to 65535. */
      readonly port: number;
      /** Request methods in capitals, or `["*"]`. */
      readonly methods?: readonly string[];
      /** The same host with or without `www.`. */
      readonly twin?: string;
    };

/** The kind of scope that covers requests to one host and port. */
export type HostScope = Extract<GrantScope, { readonly kind: "host" }>;

/** The kind of scope that has argument patterns. Only a Policy can say what its patterns cover. */
export type ArgumentsScope = Extract<GrantScope, { readonly kind: "arguments" }>;

/** What an approval may also cover, as the question says it. */
export interface GrantOffer {
  /** Short and unique inside the question, e.g. `"tool-10m"`; the answer names it. */
  readonly id: string;
  /** Which later calls it would answer. */
  readonly scope: GrantScope;
  /** How long it would hold, in milliseconds from the answer. */
  readonly ttlMs: number;
  /** How often it may be used; absent: without limit within its time. */
  readonly uses?: number;
}

/** An offer as an ask makes it: `{ kind: "call" }` is the action at hand, whatever its kind. */
export interface OfferTerms extends Omit<GrantOffer, "scope"> {
  /** Which later calls it would answer. */
  readonly scope: GrantScope | { readonly kind: "call" };
}
