/**
 * Pump: the chunks of one stream into another, no faster than it takes them. How either of them
 * ends is for others to say.
 */
import type { Readable, Writable } from "node:stream";

/** Passes chunks on; `onBytes` hears how many bytes each has. */
export function pump(from: Readable, to: Writable, onBytes: (bytes: number) => void): void {
  from.on("data", (chunk: Uint8Array) => {
    onBytes(chunk.byteLength);
    if (!to.destroyed && !to.write(chunk)) from.pause();
  });
  to.on("drain", () => from.resume());
}

/** Thrown where bytes were on their way and one side went away; nobody is there to be told. */
export class BrokenOffError extends Error {
  override readonly name = "BrokenOffError";
}
