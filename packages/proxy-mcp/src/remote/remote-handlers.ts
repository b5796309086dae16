/** Remote handlers: where a remote session hands what it hears. Types only. */

/** Where what the server says goes. */
export interface RemoteHandlers {
  /** Of one message. */
  readonly bytesMax: number;
  /** Takes a message with its line feed. */
  say(line: Buffer): unknown;
  /** Waits while the client reads slower than the server speaks. */
  pause(): Promise<void> | undefined;
  /** Takes a line for the log. */
  log(line: string): void;
  /** The session is over. @param reason - One sentence without a period. */
  lost(reason: string): void;
}
