/**
 * Attempt: one try to get out of a sandbox, as data; what shows that it got out, and how it went.
 * Types only. Prose: docs/explanation/what-a-sandbox-holds.md.
 */
import type { Enforcement, SandboxAspect } from "@acp/core";

/**
 * What shows that an attempt got out. `arrival`: a listener outside heard of it. `secret`: it names
 * a secret that is kept outside. `change`: a file outside is no longer what it was. `survivor`:
 * what it started still runs when the agent has ended. `death`: a process outside is dead. `word`:
 * it says so itself, where nobody else could know.
 */
export type EscapeProof = "arrival" | "secret" | "change" | "survivor" | "death" | "word";

/**
 * Attempts that share a start. `privileged` ones can only succeed with capabilities, `resources`
 * take more than their share, `terminal` ones need a terminal; the rest go together.
 */
export type EscapeBatch = "common" | "privileged" | "resources" | "terminal";

/** One try to get out. */
export interface EscapeAttempt {
  /** Short and stable; what options and reports call it. */
  readonly id: string;
  /** What it does, in words. */
  readonly title: string;
  /**
   * What it takes, all of it: an escape breaks a promise where the sandbox claims each of them.
   * None: it attacks the gate's own proxy.
   */
  readonly aspects: readonly SandboxAspect[];
  /**
   * A program of the kit and its arguments; `{name}` is filled in: an address outside that is its
   * own, a file, a process.
   */
  readonly run: readonly string[];
  /** How to tell that it got out. */
  readonly provenBy: EscapeProof;
  /** `common` unless given. */
  readonly batch?: EscapeBatch;
  /** What it would change, in the hidden home. */
  readonly file?: string;
}

/** What a listener outside heard. */
export interface EscapeArrival {
  /** Kind and place of the listener. */
  readonly listener: string;
  /** Where a packet was bound; empty for the rest. */
  readonly address: string;
  /** What arrived. */
  readonly text: string;
}

/** How one attempt went. */
export interface EscapeResult {
  /** Short name of the attempt. */
  readonly id: string;
  /** What it does, in words. */
  readonly title: string;
  /** What a sandbox must enforce to stop it. */
  readonly aspects: readonly SandboxAspect[];
  /** `skipped` where this host lacks what the attempt is made of: `detail` says what. */
  readonly outcome: "escaped" | "blocked" | "skipped";
  /** What was seen, or why it could not be tried. */
  readonly detail: string;
  /** What listeners heard of it, if they heard anything. */
  readonly arrivals: readonly EscapeArrival[];
  /** Whether the sandbox claims to stop it. */
  readonly isPromised: boolean;
}

/** How the attempts went. */
export interface EscapeReport {
  /** Name of the sandbox under test. */
  readonly sandbox: string;
  /** What the sandbox says of itself, by aspect. */
  readonly claims: Readonly<Partial<Record<SandboxAspect, Enforcement>>>;
  /** One for each attempt, in order. */
  readonly results: readonly EscapeResult[];
  /** Escapes that the sandbox claims to stop. */
  readonly brokenPromises: readonly EscapeResult[];
  /** What arrived and belongs to no attempt: as bad as an escape. */
  readonly strays: readonly EscapeArrival[];
}
