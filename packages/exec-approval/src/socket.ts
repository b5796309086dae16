/** Socket: what both ends of a connection do alike: bounds, close codes, sending. */
import type { RawData, WebSocket } from "ws";

/** Bytes that may wait for a side that reads slowly. */
export const QUEUE_BYTES_MAX: number = 4 * 1024 * 1024;
/** How long a closing side waits for the other one's goodbye. */
export const CLOSE_WAIT_MS = 2_000;

/** Why a gateway closes a connection: WebSocket close codes. */
export const CloseCode = {
  goingAway: 1001,
  binary: 1003,
  invalid: 1007,
  notAllowed: 1008,
  /** The same device connected again. */
  replaced: 4001,
} as const;

/** A frame's bytes, in whichever of the forms that the library knows. */
export function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}

/**
 * Sends a text; true when it is on its way. A side that reads too slowly loses the connection: what
 * waits for it must not fill our memory.
 */
export function sendText(socket: WebSocket, text: string): Promise<boolean> {
  return new Promise((resolve) => {
    if (socket.readyState !== socket.OPEN) return resolve(false);
    if (socket.bufferedAmount + Buffer.byteLength(text) > QUEUE_BYTES_MAX) {
      socket.terminate();
      return resolve(false);
    }
    socket.send(text, (error) => resolve(error === undefined || error === null));
  });
}
