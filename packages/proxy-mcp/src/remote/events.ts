/**
 * Events: a stream of server-sent events, read as it comes. Source: WHATWG HTML §9.2, and MCP's
 * Streamable HTTP, which has one message in each event.
 */
import { createParser } from "eventsource-parser";
import type { EventSourceMessage } from "eventsource-parser";

/** Where events go. */
export interface EventHandlers {
  onEvent(event: EventSourceMessage): void;
  /** How long to wait before connecting again, in milliseconds. */
  onRetry(ms: number): void;
}

/**
 * Reads a stream to its end. Whoever takes an event may hold the stream up by `pause`.
 *
 * @param charsMax - Of one event.
 * @throws Error for an event that is longer, text that is not UTF-8, and a broken connection.
 */
export async function readEvents(
  body: AsyncIterable<Buffer>,
  { onEvent, onRetry }: EventHandlers,
  {
    charsMax,
    pause,
  }: { readonly charsMax: number; pause(bytes: number): Promise<void> | undefined },
): Promise<void> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const parser = createParser({
    onEvent,
    onRetry,
    maxBufferSize: charsMax,
    onError(error) {
      // Fields of a later time are skipped, as the standard wants it.
      if (error.type === "max-buffer-size-exceeded") throw error;
    },
  });
  for await (const chunk of body) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    await pause(chunk.length);
  }
  // What has no blank line after it is no event.
  decoder.decode();
}
