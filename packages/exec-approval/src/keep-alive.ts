/** KeepAlive: finds out that the other side of a connection is gone, though nothing said so. */
import type { Clock } from "@acp/core";
import type { WebSocket } from "ws";

/**
 * How often a side asks the other whether it is there; one that said nothing since the last time is
 * taken for gone.
 */
export const HEARTBEAT_MS = 15_000;

/**
 * Pings until the signal ends it; cuts the connection where neither a pong nor anything else came
 * back.
 */
export async function keepAlive(
  socket: WebSocket,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  let isAlive = true;
  const heard = (): void => {
    isAlive = true;
  };
  socket.on("pong", heard).on("ping", heard).on("message", heard);
  try {
    for (;;) {
      await clock.sleep(HEARTBEAT_MS, { signal, background: true });
      if (!isAlive) return socket.terminate();
      isAlive = false;
      socket.ping();
    }
  } catch {
    // The signal, or a connection that closed in between: its own events say so.
  } finally {
    socket.off("pong", heard).off("ping", heard).off("message", heard);
  }
}
