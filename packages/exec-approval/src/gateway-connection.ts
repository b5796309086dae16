/**
 * GatewayConnection: one device's connection to a gateway, with its bounds: what it sends too fast
 * or reads too slowly costs it the connection and nobody else anything.
 */
import { type Clock, isConsentError } from "@acp/core";
import type { RawData, WebSocket } from "ws";
import { decodeMessage } from "./codec.js";
import type { GatewayDevice } from "./gateway-devices.js";
import { keepAlive } from "./keep-alive.js";
import type { Message } from "./protocol.js";
import { CloseCode, bytesOf, sendText } from "./socket.js";

/** Messages that a device may send at once, and how many more every second. */
export const MESSAGES_AT_ONCE_MAX = 128;
const MESSAGES_PER_SECOND = 64;

/** A device's connection. */
export interface GatewayConnection {
  readonly device: GatewayDevice;
  /**
   * Hands a message to the device; true when it is on its way, false where the device is gone or
   * reads too slowly.
   */
  send(text: string): Promise<boolean>;
  close(code: number, reason: string): void;
  /** Ends the connection without a word. */
  cut(): void;
}

/** Options of {@link openConnection}. */
export interface ConnectionOptions {
  readonly device: GatewayDevice;
  readonly socket: WebSocket;
  readonly clock: Clock;
  /** A message of this device, in its own words. */
  readonly onMessage: (message: Message, text: string) => void;
  readonly onClose: (code: number) => void;
}

/** Takes one from the allowance that refills with time; false where it is used up. */
function createAllowance(clock: Clock): () => boolean {
  let left = MESSAGES_AT_ONCE_MAX;
  let lastMs = clock.monotonic();
  return () => {
    const nowMs = clock.monotonic();
    left = Math.min(MESSAGES_AT_ONCE_MAX, left + ((nowMs - lastMs) / 1000) * MESSAGES_PER_SECOND);
    lastMs = nowMs;
    if (left < 1) return false;
    left--;
    return true;
  };
}

/** Takes a connected socket into service. */
export function openConnection({
  device,
  socket,
  clock,
  onMessage,
  onClose,
}: ConnectionOptions): GatewayConnection {
  const stop = new AbortController();
  const takeOne = createAllowance(clock);
  const close = (code: number, reason: string): void => socket.close(code, reason);
  const read = (data: RawData, isBinary: boolean): void => {
    // A closing handshake leaves time to send more: it counts for nothing.
    if (socket.readyState !== socket.OPEN) return;
    if (!takeOne()) return close(CloseCode.notAllowed, "too many messages");
    if (isBinary) return close(CloseCode.binary, "messages are text");
    const bytes = bytesOf(data);
    let message: Message;
    try {
      message = decodeMessage(bytes);
    } catch (error) {
      return close(CloseCode.invalid, isConsentError(error) ? error.code : "message_invalid");
    }
    onMessage(message, bytes.toString("utf8"));
  };
  socket.on("message", read);
  // The close that follows says everything; without a listener an error would end the process.
  socket.on("error", () => undefined);
  socket.on("close", (code) => {
    stop.abort();
    onClose(code);
  });
  void keepAlive(socket, clock, stop.signal);
  return {
    device,
    send: (text) => sendText(socket, text),
    close,
    cut: () => socket.terminate(),
  };
}
