/**
 * Tunnel: bytes of an allowed CONNECT, both ways, once its first TLS message was seen to be for the
 * host that was approved. What is inside is encrypted: neither methods nor paths can be judged.
 * Format: spec/http-proxy.md.
 */
import type { Socket } from "node:net";
import { isConsentError, normalizeHost } from "@acp/core";
import { createHelloReader, type Hello, type HelloReader } from "./client-hello.js";
import type { ProxyLimits } from "./limits.js";
import { BrokenOffError, pump } from "./pump.js";
import { refused } from "./refusals.js";
import type { Watch } from "./watch.js";

/** Two sockets. */
export interface Pair {
  readonly client: Socket;
  readonly upstream: Socket;
}

/** Bytes that passed. */
export interface Carried {
  readonly up: number;
  readonly down: number;
}

/** What is expected of a tunnel's first bytes. */
export interface HelloTerms {
  /** As approved. */
  readonly host: string;
  /** Whether it must be TLS that names its host. */
  readonly requireSni: boolean;
}

/** Parts of {@link carry}. */
export interface CarryParts {
  readonly limits: ProxyLimits;
  readonly watch: Watch;
  /** What the client sent already. */
  readonly ahead: Buffer;
  /** Left out: the bytes are not looked into. */
  readonly hello?: HelloTerms;
}

/** TLS alert, fatal: unrecognized_name. */
const UNRECOGNIZED_NAME: Buffer = Buffer.from([0x15, 3, 1, 0, 2, 2, 112]);
const NO_BYTES: Buffer = Buffer.alloc(0);
const IS_ADDRESS = /^(?:\[.*\]|\d+\.\d+\.\d+\.\d+)$/;

function isSameHost(serverName: string, host: string): boolean {
  try {
    return normalizeHost(serverName) === host;
  } catch (error) {
    if (!isConsentError(error)) throw error;
    return false;
  }
}

/** Why a tunnel may not go on, or `undefined`. */
export function whyRefused(hello: Hello, host: string, requireSni: boolean): string | undefined {
  switch (hello.kind) {
    case "malformed":
      return `its TLS cannot be read: ${hello.why}`;
    case "other":
      return requireSni ? "it is no TLS" : undefined;
    case "tls":
      if (hello.serverName !== undefined)
        return isSameHost(hello.serverName, host) ? undefined : "its TLS names another host";
      // A server name cannot be an address (RFC 6066 §3).
      return requireSni && !IS_ADDRESS.test(host) ? "its TLS names no host" : undefined;
    default:
      return hello satisfies never;
  }
}

/** Holds what a client sends before its tunnel is decided; the returned function hands it over. */
export function holdAhead(client: Socket, head: Buffer, bytesMax: number): () => Buffer {
  const chunks: Buffer[] = head.length === 0 ? [] : [head];
  let bytes = head.length;
  const take = (chunk: Buffer): void => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > bytesMax) client.pause();
  };
  client.on("data", take);
  return () => {
    client.off("data", take);
    client.pause();
    return chunks.length === 0 ? NO_BYTES : Buffer.concat(chunks.splice(0));
  };
}

interface Sniffing {
  readonly ahead: Buffer;
  readonly bytesMax: number;
  /** Hears once what the first bytes are, and gets all of them; the client is paused then. */
  onHello(hello: Hello, bytes: Buffer): void;
}

/**
 * Reads the client's first bytes until it is clear what they are. A client that ends without a byte
 * is no TLS.
 */
function sniff(client: Socket, { ahead, bytesMax, onHello }: Sniffing): void {
  // Made with the first byte: a tunnel whose client says nothing holds none.
  let reader: HelloReader | undefined;
  const tell = (hello: Hello): void => {
    client.off("data", take).off("end", onEnd).pause();
    onHello(hello, reader?.taken() ?? NO_BYTES);
  };
  const take = (chunk: Buffer): void => {
    reader ??= createHelloReader(bytesMax);
    const hello = reader.push(chunk);
    if (hello !== undefined) tell(hello);
  };
  const onEnd = (): void =>
    tell(reader === undefined ? { kind: "other" } : { kind: "malformed", why: "it breaks off" });
  client.on("data", take).on("end", onEnd);
  // Before the bytes that came ahead: what they decide may pause it again.
  client.resume();
  if (ahead.length > 0) take(ahead);
  else if (client.readableEnded) onEnd();
}

const NOTHING = (): void => {};

/**
 * One way of a tunnel, its end included: what `pipe` does, for a quarter of the memory that it
 * holds for as long as the tunnel is idle.
 */
function pass(from: Socket, to: Socket): void {
  pump(from, to, NOTHING);
  if (from.readableEnded) to.end();
  else from.on("end", () => void to.end());
  from.resume();
}

/**
 * Carries bytes both ways until both have ended, one is gone, or the time is over. One way may end
 * before the other.
 *
 * @throws RefusedError where its first bytes are not what was approved; BrokenOffError where it
 *   broke off.
 */
export function carry(
  { client, upstream }: Pair,
  { limits, watch, ahead, hello: terms }: CarryParts,
): Promise<Carried> {
  return new Promise((resolve, reject) => {
    if (client.destroyed || upstream.destroyed) {
      client.destroy();
      upstream.destroy();
      reject(new BrokenOffError("the tunnel broke off before it was open"));
      return;
    }
    let over: Error | undefined;
    let open = 2;
    const cut = (why: Error): void => {
      over ??= why;
      client.destroy();
      upstream.destroy();
    };
    const unwatch = watch.add({
      progress: () => upstream.bytesRead + upstream.bytesWritten,
      idleMs: limits.tunnelIdleMs,
      totalMs: limits.tunnelTotalMs,
      onOver: (why) =>
        cut(
          new BrokenOffError(
            why === "idle"
              ? "the tunnel was silent for too long"
              : "the tunnel was open for too long",
          ),
        ),
    });
    const onClose = (other: Socket): void => {
      // What the other side has not got yet it still gets.
      if (!other.destroyed) other.destroySoon();
      if (--open > 0) return;
      unwatch();
      if (over === undefined) resolve({ up: upstream.bytesWritten, down: upstream.bytesRead });
      else reject(over);
    };
    const start = (bytes: Buffer): void => {
      if (bytes.length > 0) upstream.write(bytes);
      pass(client, upstream);
    };
    const refuse = (hello: Hello, why: string): void => {
      over ??= refused("request_invalid", `the tunnel was closed: ${why}`);
      if (hello.kind !== "other") client.write(UNRECOGNIZED_NAME);
      client.destroySoon();
      upstream.destroy();
    };
    const broken = (cause: Error): void =>
      cut(new BrokenOffError("the tunnel broke off", { cause }));
    client.on("error", broken).on("close", () => onClose(upstream));
    upstream.on("error", broken).on("close", () => onClose(client));
    // Protocols whose server speaks first wait for its greeting.
    if (terms?.requireSni !== true) pass(upstream, client);
    if (terms === undefined) return start(ahead);
    sniff(client, {
      ahead,
      bytesMax: limits.helloBytesMax,
      onHello(hello, bytes) {
        const why = whyRefused(hello, terms.host, terms.requireSni);
        if (why !== undefined) return refuse(hello, why);
        if (terms.requireSni) pass(upstream, client);
        start(bytes);
      },
    });
  });
}
