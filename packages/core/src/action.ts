/**
 * Action: one side effect described as data before it happens.
 * Only the constructors and {@link parseAction} make one; it is normalised, frozen and digested. Format: spec/action.md.
 */
import type { JsonObject } from "./json/value.js";

declare const actionBrand: unique symbol;

/** What every Action carries besides its data: proof at compile time that a constructor made it. */
export interface ActionBrand {
  readonly [actionBrand]: true;
}

/** The three kinds of Action. */
export type ActionKind = "tool" | "http" | "shell";

/** A tool call, e.g. over MCP. */
export interface ToolAction extends ActionBrand {
  /** The tool's name as its server knows it. */
  readonly name: string;
  readonly args: JsonObject;
  readonly meta: { readonly kind: "tool"; readonly server: string };
}

/** An HTTP request, or a CONNECT tunnel. */
export interface HttpAction extends ActionBrand {
  /** The method, upper case; `CONNECT` for a tunnel. */
  readonly name: string;
  /** Only headers that hold a secret's placeholder. */
  readonly args?: { readonly headers: Readonly<Record<string, string>> };
  readonly meta: {
    readonly kind: "http";
    /** Normalised: lower case, A-labels, no trailing dot, IPv6 in brackets. */
    readonly host: string;
    readonly port: number;
    readonly method: string;
    /** Normalised; absent for CONNECT. */
    readonly url?: string;
  };
}

/** A shell command. */
export interface ShellAction extends ActionBrand {
  /** The first word where the text is plain words, otherwise `""`. */
  readonly name: string;
  /** The whole command text. */
  readonly args: string;
  readonly meta: { readonly kind: "shell"; readonly cwd?: string; readonly shell?: string; readonly envDigest?: string };
}

/** One side effect, described before it happens. Narrow with {@link isToolAction}, {@link isHttpAction}, {@link isShellAction}. */
export type Action = ToolAction | HttpAction | ShellAction;
