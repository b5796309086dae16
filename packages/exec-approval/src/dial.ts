/**
 * Dial: one connection of a client to its gateway, and how long to wait before the next try. The
 * token goes into a header, over TLS or within this machine.
 */
import { type Clock, ConsentError } from "@acp/core";
import { type RawData, WebSocket } from "ws";
import { MESSAGE_BYTES_MAX } from "./codec.js";
import type { GatewayAddress } from "./connection-types.js";
import { SUBPROTOCOL, isDeviceToken } from "./device-token.js";
import { CLOSE_WAIT_MS } from "./socket.js";

/** What came of a try to connect. */
export type Dialled =
  /** Connected, and over by now. */
  | { readonly kind: "closed"; readonly code: number }
  /** Turned away: trying again would end the same way. */
  | { readonly kind: "refused" }
  | { readonly kind: "failed"; readonly reason: string };

/** Parts of {@link dial}. */
export interface DialOptions {
  readonly clock: Clock;
  readonly onOpen: (socket: WebSocket) => void;
  readonly onData: (data: RawData) => void;
  /** Ends the try or the connection. */
  readonly signal: AbortSignal;
}

const HANDSHAKE_MS = 10_000;
const LOOPBACK_HOST = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;
const FIRST_DELAY_MS = 500;
const DELAY_MS_MAX = 30_000;

/**
 * Checks an address.
 *
 * @throws ConsentError `options_invalid`.
 */
export function readAddress({ url, token, ca }: GatewayAddress): GatewayAddress {
  const refuse = (state: string): ConsentError =>
    new ConsentError("options_invalid", `Cannot use the gateway's address: ${state}`);
  if (!URL.canParse(url)) throw refuse("it is not a URL");
  const { protocol, hostname, username, password, search, hash, href } = new URL(url);
  if (username !== "" || password !== "" || search !== "" || hash !== "")
    throw refuse("it contains a username, a password, a query or a fragment");
  if (protocol !== "wss:" && !(protocol === "ws:" && LOOPBACK_HOST.test(hostname)))
    throw refuse("it is not wss://, and not ws:// to this machine");
  if (!isDeviceToken(token))
    throw refuse("its token does not have 32 to 512 characters of A-Z, a-z, 0-9, _ and -");
  return { url: href, token, ...(ca === undefined ? {} : { ca }) };
}

/**
 * How long to wait before try number `failures + 1`: twice as long each time, up to 30 s, half of
 * it by chance, so that clients that lost a gateway together do not come back together.
 *
 * @param random - From 0 to 1.
 */
export function redialDelayMs(failures: number, random: number): number {
  const longestMs = Math.min(DELAY_MS_MAX, FIRST_DELAY_MS * 2 ** Math.min(failures, 16));
  return Math.round(longestMs * (0.5 + random / 2));
}

const NOT_YET: Dialled = { kind: "failed", reason: "no connection" };

/** Connects once; resolves when the connection is over, or when there was none. */
export function dial(
  { url, token, ca }: GatewayAddress,
  { clock, onOpen, onData, signal }: DialOptions,
): Promise<Dialled> {
  return new Promise((resolve) => {
    const shaken = new AbortController();
    const over = new AbortController();
    let dialled: Dialled = NOT_YET;
    const socket = new WebSocket(url, [SUBPROTOCOL], {
      headers: { authorization: `Bearer ${token}` },
      maxPayload: MESSAGE_BYTES_MAX,
      perMessageDeflate: false,
      ...(ca === undefined ? {} : { ca }),
    });
    // The first thing that went wrong is the reason; what follows is our own hanging up.
    socket.on("error", (error) => {
      if (dialled === NOT_YET) dialled = { kind: "failed", reason: error.message };
    });
    socket.once("unexpected-response", (_request, { statusCode = 0 }) => {
      dialled =
        statusCode === 401 || statusCode === 403
          ? { kind: "refused" }
          : { kind: "failed", reason: `status ${statusCode}` };
      socket.terminate();
    });
    socket.once("open", () => {
      dialled = { kind: "closed", code: 1006 };
      shaken.abort();
      onOpen(socket);
    });
    socket.on("message", onData);
    socket.once("close", (code) => {
      shaken.abort();
      over.abort();
      resolve(dialled.kind === "closed" ? { kind: "closed", code } : dialled);
    });
    const cutAfter = (ms: number, unless: AbortSignal): void =>
      void clock.sleep(ms, { signal: unless, background: true }).then(
        () => socket.terminate(),
        () => undefined,
      );
    const leave = (): void => {
      if (socket.readyState === socket.CONNECTING) return socket.terminate();
      socket.close(1000);
      cutAfter(CLOSE_WAIT_MS, over.signal);
    };
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true, signal: over.signal });
    cutAfter(HANDSHAKE_MS, shaken.signal);
  });
}
