/**
 * Dialling: a connection to one of the checked addresses of a host, and to no other. The name is
 * not looked up again: what it resolves to a moment later (DNS rebinding) changes nothing.
 */
import { connect as netConnect, type Socket } from "node:net";
import { asError, type Authority, type Clock, systemClock } from "@acp/core";
import {
  type AddressRules,
  checkAddresses,
  interfaceAddresses,
  literalAddress,
  type Naming,
  type Resolve,
  systemResolve,
} from "./addresses.js";
import { isInternalHost } from "./internal.js";
import { refused } from "./refusals.js";

/**
 * Connects to a host: resolved once, every address checked, one of these very addresses dialled.
 *
 * @throws RefusedError `address_refused` where the host may not be reached, `upstream_unreachable`
 *   where it cannot; the signal's reason.
 */
export type Dial = (target: Authority, signal: AbortSignal) => Promise<Socket>;

/** How long the addresses of this machine's interfaces are taken to be the same. */
const INTERFACES_TTL_MS = 1_000;

/** Opens a socket to an address; it is connected when it says so. */
export type Connect = (address: string, port: number) => Socket;

/** Parts of a dialler. */
export interface DialerOptions {
  /** Left out: the system's resolver. */
  readonly resolve?: Resolve;
  /**
   * Which hosts on this machine or in the own network the operator names; from `readPrivateHosts`.
   */
  readonly naming: Naming;
  /** Ports that the proxy listens on at this moment, at whatever address of this machine. */
  readonly ownPorts: () => readonly number[];
  /** Left out: those of this machine's interfaces. */
  readonly ownAddresses?: () => ReadonlySet<string>;
  /** How long looking a host up and connecting to one of its addresses may take together. */
  readonly connectMs?: number;
  readonly connect?: Connect;
  readonly clock?: Clock;
}

const CONNECT_MS = 10_000;
/**
 * Addresses of one host that are tried: whoever writes the answers of a resolver must not have us
 * knock on thousands of doors.
 */
const TRIED_MAX = 8;
const DONE: Error = new Error("it is done");

/**
 * The outgoing half outlives the incoming one, so that a tunnel can be closed one way at a time.
 */
const openSocket: Connect = (host, port) =>
  netConnect({ host, port, allowHalfOpen: true, noDelay: true });

/** The addresses of this machine's interfaces, looked at no more than once a second. */
export function createCached(clock: Clock): () => ReadonlySet<string> {
  let known: ReadonlySet<string> = new Set();
  let untilMs = Number.NEGATIVE_INFINITY;
  return () => {
    if (clock.monotonic() >= untilMs) {
      known = interfaceAddresses();
      untilMs = clock.monotonic() + INTERFACES_TTL_MS;
    }
    return known;
  };
}

/** Thrown where the time for a step is over. */
class TooLateError extends Error {
  override readonly name = "TooLateError";
}

interface Bounds {
  readonly clock: Clock;
  readonly ms: number;
  readonly signal: AbortSignal;
}

/**
 * What `start` settles with, unless its time is over or the signal aborts first; the signal that it
 * was given aborts in the end in any case.
 */
async function within<T>(
  start: (signal: AbortSignal) => Promise<T>,
  { clock, ms, signal }: Bounds,
): Promise<T> {
  signal.throwIfAborted();
  const over = new AbortController();
  const stop = (): void => over.abort(asError(signal.reason));
  signal.addEventListener("abort", stop, { once: true });
  // Ends with the reason where it is aborted.
  const late = clock.sleep(ms, { signal: over.signal }).then(() => {
    throw new TooLateError("the time is over");
  });
  try {
    return await Promise.race([start(over.signal), late]);
  } finally {
    signal.removeEventListener("abort", stop);
    over.abort(DONE);
  }
}

const ignore = (): void => {};

function opened(socket: Socket, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    // Stays: an error that comes before the next owner listens must end this connection and nothing
    // else.
    socket.on("error", ignore);
    const stop = (): void => void socket.destroy();
    const closed = (): void => reject(new Error("the connection was closed"));
    signal.addEventListener("abort", stop, { once: true });
    socket.once("error", reject).once("close", closed);
    socket.once("connect", () => {
      signal.removeEventListener("abort", stop);
      // A socket that lives long holds on to nothing of how it was made.
      socket.off("error", reject).off("close", closed);
      resolve(socket);
    });
  });
}

const codeOf = (error: unknown): string =>
  error instanceof Error &&
  "code" in error &&
  typeof error.code === "string" &&
  /^[A-Z_]{1,32}$/.test(error.code)
    ? ` (${error.code})`
    : "";

/** One dialling under way. */
interface Dialling {
  readonly target: Authority;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** What is left of the time, in ms. */
  readonly leftMs: () => number;
}

async function resolveOnce(
  resolve: Resolve,
  { target, signal, clock, leftMs }: Dialling,
): Promise<readonly string[]> {
  const literal = literalAddress(target.host);
  if (literal !== undefined) return [literal];
  try {
    const addresses = await within(() => resolve(target.host), { clock, ms: leftMs(), signal });
    if (addresses.length === 0) throw new Error("there is none");
    return addresses;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof TooLateError)
      throw refused("upstream_timeout", `the address of "${target.host}" was not found in time`);
    throw refused("upstream_unreachable", `"${target.host}" has no address${codeOf(error)}`, {
      cause: error,
    });
  }
}

/** Tries one address after the other; each gets its part of the time that is left. */
async function connectOne(
  connect: Connect,
  addresses: readonly string[],
  { target, signal, clock, leftMs }: Dialling,
): Promise<Socket> {
  const tried = addresses.slice(0, TRIED_MAX);
  let last: unknown;
  for (const [index, address] of tried.entries()) {
    const ms = leftMs() / (tried.length - index);
    try {
      return await within((over) => opened(connect(address, target.port), over), {
        clock,
        ms,
        signal,
      });
    } catch (error) {
      signal.throwIfAborted();
      last = error;
    }
  }
  const name = `"${target.host}" port ${target.port}`;
  if (last instanceof TooLateError)
    throw refused("upstream_timeout", `${name} did not accept a connection in time`);
  throw refused("upstream_unreachable", `${name} accepts no connection${codeOf(last)}`, {
    cause: last,
  });
}

/**
 * Makes a dialler. Its sockets can be half-closed, and an error of one that nobody listens to ends
 * that socket only.
 */
export function createDialer(options: DialerOptions): Dial {
  const {
    resolve = systemResolve,
    naming,
    ownPorts,
    connectMs = CONNECT_MS,
    connect = openSocket,
    clock = systemClock,
  } = options;
  const rules: AddressRules = {
    naming,
    ownPorts,
    ownAddresses: options.ownAddresses ?? createCached(clock),
  };
  return async (target, signal) => {
    signal.throwIfAborted();
    // What was released may be another host than the one that was asked for.
    if (isInternalHost(target.host))
      throw refused("service_refused", `"${target.host}" is not a host of a network`);
    const untilMs = clock.monotonic() + connectMs;
    const dialling: Dialling = {
      target,
      signal,
      clock,
      leftMs: () => Math.max(0, untilMs - clock.monotonic()),
    };
    const addresses = await resolveOnce(resolve, dialling);
    checkAddresses(target, addresses, rules);
    return connectOne(connect, addresses, dialling);
  };
}
