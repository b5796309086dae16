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
      return requireSni ? "it is not TLS" : undefined;
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

/** Closes both sides for good. */
function destroyBoth({ client, upstream }: Pair): void {
  client.destroy();
  upstream.destroy();
}

interface Carrying {
  /** Notes why the tunnel failed; the first reason counts. */
  fail(why: Error): void;
  /** Both sides are closed; with what it failed, if it did. */
  readonly closed: Promise<Error | undefined>;
}

/** Watches both sides and the time: one side's end or failure ends the other. */
function watchPair(pair: Pair, { limits, watch }: CarryParts): Carrying {
  const { client, upstream } = pair;
  let failure: Error | undefined;
  const fail = (why: Error): void => void (failure ??= why);
  const cut = (text: string, options?: ErrorOptions): void => {
    fail(new BrokenOffError(text, options));
    destroyBoth(pair);
  };
  const unwatch = watch.add({
    progress: () => upstream.bytesRead + upstream.bytesWritten,
    idleMs: limits.tunnelIdleMs,
    totalMs: limits.tunnelTotalMs,
    onOver: (why) => cut(`the tunnel was ${why === "idle" ? "silent" : "open"} for too long`),
  });
  const closed = new Promise<Error | undefined>((resolve) => {
    let open = 2;
    const onClose = (other: Socket): void => {
      // What the other side has not got yet it still gets.
      if (!other.destroyed) other.destroySoon();
      if (--open > 0) return;
      unwatch();
      resolve(failure);
    };
    client.on("close", () => onClose(upstream));
    upstream.on("close", () => onClose(client));
  });
  for (const side of [client, upstream])
    side.on("error", (cause) => cut("the tunnel broke off", { cause }));
  return { fail, closed };
}

/**
 * Carries bytes both ways until both have ended, one is gone, or the time is over. One way may end
 * before the other.
 *
 * @throws RefusedError where its first bytes are not what was approved; BrokenOffError where it
 *   broke off.
 */
export async function carry(pair: Pair, parts: CarryParts): Promise<Carried> {
  const { client, upstream } = pair;
  const { limits, ahead, hello: terms } = parts;
  if (client.destroyed || upstream.destroyed) {
    destroyBoth(pair);
    throw new BrokenOffError("the tunnel broke off before it was open");
  }
  const { fail, closed } = watchPair(pair, parts);
  const start = (bytes: Buffer): void => {
    if (bytes.length > 0) upstream.write(bytes);
    pass(client, upstream);
  };
  const refuse = (hello: Hello, why: string): void => {
    fail(refused("request_invalid", `the tunnel was closed: ${why}`));
    if (hello.kind !== "other") client.write(UNRECOGNIZED_NAME);
    client.destroySoon();
    upstream.destroy();
  };
  // Protocols whose server speaks first wait for its greeting.
  if (terms?.requireSni !== true) pass(upstream, client);
  if (terms === undefined) start(ahead);
  else
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
  const failure = await closed;
  if (failure !== undefined) throw failure;
  return { up: upstream.bytesWritten, down: upstream.bytesRead };
}
