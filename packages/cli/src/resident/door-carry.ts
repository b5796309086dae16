/**
 * Door carry: one connection of a program, over a connection of its own to the resident. From
 * `ready` on there is nothing but its bytes, both ways, and one way may end before the other.
 */
import type { Socket } from "node:net";
import type { Reached, Unreached } from "./reach.js";
import { frameOf, recordIn } from "./wire.js";

/** Why a program's connection is not served. */
export interface DoorRefusal {
  readonly code: "closing" | "resident_unavailable" | "overloaded" | "outcome_unknown";
  readonly reason: string;
}

/** A connection that the resident took. */
export interface Joined {
  readonly inner: Socket;
  /** What it said already. */
  readonly first: Buffer;
}

const REMEDIES: Readonly<Record<DoorRefusal["code"], string>> = {
  closing: "Try again after the restart",
  resident_unavailable: "Try again later; acp doctor and acp resident logs say what is wrong",
  overloaded: "Wait for requests under way to end, then try again",
  outcome_unknown: "Check whether it happened before you repeat it",
};
/** How long is read what a refused program still sends: a reset could overtake the answer. */
const LINGER_MS = 2_000;

/**
 * Brings a connection to the resident in; `again` where that one gives way or is gone, and nothing
 * was said.
 */
export async function join(
  reach: () => Promise<Reached | Unreached>,
  key: string,
  door: string,
): Promise<Joined | DoorRefusal | "again"> {
  const found = await reach().catch(() => "none" as const);
  if (found === "hung")
    return {
      code: "resident_unavailable",
      reason: "the resident gate accepts connections and does not answer",
    };
  if (typeof found === "string") return "again";
  const { socket: inner, onFrames, raw } = found;
  return new Promise((resolve) => {
    inner.once("close", () => resolve("again"));
    onFrames(({ kind, body }) => {
      if (kind === "ready") return resolve({ inner, first: raw() });
      if (kind === "refused") {
        const { code, message } = recordIn(body) ?? {};
        resolve(
          code === "too_many_connections"
            ? { code: "overloaded", reason: String(message) }
            : "again",
        );
      }
      inner.destroy();
    });
    inner.write(frameOf("join", JSON.stringify({ key, door })));
  });
}

/** Carries bytes until both sides have ended, or one is gone. */
export function carry(outer: Socket, { inner, first }: Joined): void {
  if (outer.destroyed || inner.destroyed) {
    outer.destroy();
    inner.destroy();
    return;
  }
  inner.allowHalfOpen = true;
  inner.on("close", () => {
    // Nothing came back of what the program said: it cannot know what became of it.
    const isLost = outer.bytesRead > 0 && outer.bytesWritten === 0 && !outer.destroyed;
    if (isLost)
      refuse(outer, {
        code: "outcome_unknown",
        reason: "the resident gate ended while the request was under way",
      });
    else outer.destroySoon();
  });
  outer.on("close", () => inner.destroySoon());
  if (first.length > 0) outer.write(first);
  outer.pipe(inner);
  inner.on("data", (chunk: Buffer) => {
    if (!outer.write(chunk)) inner.pause();
  });
  outer.on("drain", () => inner.resume());
  inner.on("end", () => {
    // Its way over before a byte of it: there is nothing that the other way could be for.
    if (outer.bytesWritten > 0) outer.end();
    else inner.end();
  });
  inner.resume();
}

/** Tells a program why its connection is not served, and ends it. */
export function refuse(socket: Socket, { code, reason }: DoorRefusal): void {
  const isRetryable = code !== "outcome_unknown";
  const error = { code, reason, remedy: REMEDIES[code], retryable: isRetryable };
  const body = `${JSON.stringify({ error })}\n`;
  const head = [
    isRetryable ? "HTTP/1.1 503 Service Unavailable" : "HTTP/1.1 502 Bad Gateway",
    "content-type: application/json; charset=utf-8",
    `content-length: ${Buffer.byteLength(body)}`,
    "cache-control: no-store",
    `proxy-status: acp; error=proxy_internal_error; details="${code}"`,
    ...(isRetryable ? ["retry-after: 1"] : []),
    "connection: close",
  ];
  if (socket.destroyed) return;
  socket.resume();
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
