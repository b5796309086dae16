/**
 * Attempt: one try to get out of a sandbox, as data; what shows that it got out, and how it went.
 * Types only. Prose: docs/explanation/what-a-sandbox-holds.md.
 */
import type { Enforcement, SandboxAspect } from "@acp/core";

/**
 * What shows that an attempt got out. `arrival`: a listener outside received it. `secret`: it names
 * a secret that is kept outside. `change`: a file outside changed. `survivor`: what it started
 * still runs after the agent has ended. `death`: a process outside died. `word`: it says so itself,
 * where nothing else could show it.
 */
export type EscapeProof = "arrival" | "secret" | "change" | "survivor" | "death" | "word";

/**
 * Attempts that share a start. `privileged` ones can only succeed with capabilities, `resources`
 * use more than their share, `terminal` ones need a terminal; all others are `common`.
 */
export type EscapeBatch = "common" | "privileged" | "resources" | "terminal";

/** One attempt to get out of a sandbox. */
export interface EscapeAttempt {
  /** Short, stable name, for options and reports. */
  readonly id: string;
  /** What it does, in words. */
  readonly title: string;
  /**
   * Aspects that it must defeat: an escape breaks a promise where the sandbox claims all of them.
   * Empty: it attacks the gate's own proxy.
   */
  readonly aspects: readonly SandboxAspect[];
  /**
   * A program of the kit and its arguments. `{name}` is replaced by an address outside of its own,
   * a file or a process.
   */
  readonly run: readonly string[];
  /** How to tell that it got out. */
  readonly provenBy: EscapeProof;
  /** Which attempts it shares a start with; `common` unless given. */
  readonly batch?: EscapeBatch;
  /** The file in the hidden home that it would change. */
  readonly file?: string;
}

/** What a listener outside received. */
export interface EscapeArrival {
  /** Kind and place of the listener. */
  readonly listener: string;
  /** Address that a packet was sent to; empty for others. */
  readonly address: string;
  /** What it received. */
  readonly text: string;
}

/** How one attempt ended. */
export interface EscapeResult {
  /** The attempt's {@link EscapeAttempt.id}. */
  readonly id: string;
  /** What it does, in words. */
  readonly title: string;
  /** Aspects that a sandbox must enforce to stop it. */
  readonly aspects: readonly SandboxAspect[];
  /** `skipped` means that this host lacks what the attempt needs; `detail` says what. */
  readonly outcome: "escaped" | "blocked" | "skipped";
  /** What was observed, or why it could not be tried. */
  readonly detail: string;
  /** What listeners outside received from it. */
  readonly arrivals: readonly EscapeArrival[];
  /** True if the sandbox claims to stop it. */
  readonly isPromised: boolean;
}

/** How all attempts ended. */
export interface EscapeReport {
  /** Name of the sandbox under test. */
  readonly sandbox: string;
  /** What the sandbox says it enforces, by aspect. */
  readonly claims: Readonly<Partial<Record<SandboxAspect, Enforcement>>>;
  /** One for each attempt, in order. */
  readonly results: readonly EscapeResult[];
  /** Escapes that the sandbox claims to stop. */
  readonly brokenPromises: readonly EscapeResult[];
  /** What arrived outside and belongs to no attempt: as bad as an escape. */
  readonly strays: readonly EscapeArrival[];
}
