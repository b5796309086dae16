/** Link: an open session with a resident, as a client's relay uses it. Types only. */
import type { Id } from "./messages.js";
import type { WantedDoors } from "./wire.js";

/** An open session. */
export interface Link {
  /** Bytes that may be sent now. */
  room(): number;
  send(bytes: Buffer): void;
  /** Says which number the call has whose line comes next, and the id of its request. */
  call(id: Id, n: number): void;
  /** Asks how far these calls came; {@link LinkHandlers.onKnown} hears it. */
  ask(calls: readonly AskedNumber[]): void;
  end(): void;
  /** No request follows until another session is open. */
  held(): void;
  signal(name: string): void;
  pause(): void;
  resume(): void;
}

/** An open session of a client that accepts connections for it. */
export interface DoorLink extends Link {
  /** Answers {@link LinkHandlers.onDoors}: where the client listens, or why it does not. */
  opened(how: { readonly ports: readonly number[] } | { readonly message: string }): void;
}

/** A call that is asked about. */
export interface AskedNumber {
  readonly n: number;
  /** How long ago it was sent, in milliseconds. */
  readonly ms: number;
}

/** What a session does. */
export interface LinkHandlers {
  onOutput(bytes: Buffer): void;
  onNotice(bytes: Buffer): void;
  onRoom(): void;
  /** Requests wait from now on for the session that follows. */
  onHold(): void;
  /** Numbers of the calls that were asked about and may be sent once more. */
  onKnown(again: ReadonlySet<number>): void;
  /** The resident wants connections that this client accepts for it. */
  onDoors?(wanted: WantedDoors): void;
  /**
   * It is over: lost, left because the resident was told to end, ended so that another one begins,
   * or with an exit code.
   */
  onEnd(how: "lost" | "left" | "again" | { readonly code: number }): void;
}
