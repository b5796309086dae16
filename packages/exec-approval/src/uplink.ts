/**
 * Uplink: keeps a client connected to its gateway: tries again after a loss, and stops for good
 * where that would not help.
 */
import { type Clock, ConsentError, asError } from "@acp/core";
import type { RawData, WebSocket } from "ws";
import type { ClosedReason, GatewayAddress, UplinkEvent } from "./connection-types.js";
import { dial, redialDelayMs } from "./dial.js";
import { keepAlive } from "./keep-alive.js";
import { CloseCode, sendText } from "./socket.js";

/** A connection that comes back. */
export interface Uplink {
  /**
   * Resolves when it is connected for the first time.
   *
   * @throws ConsentError `channel_unavailable` where it is closed or turned away before, `aborted`.
   */
  connect(signal?: AbortSignal): Promise<void>;
  readonly isConnected: boolean;
  /** @throws ConsentError `channel_unavailable` where it is not connected. */
  send(text: string): Promise<void>;
  close(): Promise<void>;
}

/** Options of {@link createUplink}. */
export interface UplinkOptions {
  readonly address: GatewayAddress;
  readonly clock: Clock;
  readonly random: () => number;
  readonly onData: (data: RawData) => void;
  readonly onEvent: (event: UplinkEvent) => void;
}

/**
 * A connection that held for so long was a good one: the next loss starts with a short wait again.
 */
const GOOD_AFTER_MS = 10_000;

const CLOSED: Readonly<Record<ClosedReason, string>> = {
  closed: "it is closed",
  refused: "the gateway does not know its token",
  replaced: "the same device connected elsewhere",
};

function unavailable(state: string): ConsentError {
  return new ConsentError("channel_unavailable", `Cannot reach the gateway: ${state}`);
}

/** Waits for what comes, or for the caller to give up. */
async function orAborted(awaited: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return awaited;
  const over = new AbortController();
  const aborted = new Promise<never>((_resolve, reject) => {
    const onAbort = (): void =>
      reject(
        new ConsentError("aborted", "Cannot connect: the caller canceled it", {
          cause: asError(signal.reason),
        }),
      );
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true, signal: over.signal });
  });
  try {
    await Promise.race([awaited, aborted]);
  } finally {
    over.abort();
  }
}

/** How one connection ended. */
type Over =
  | { readonly end: ClosedReason }
  | { readonly reason: string /** How long there was one. */; readonly heldMs: number };

interface Line extends UplinkOptions {
  readonly stop: AbortController;
  current: WebSocket | undefined;
  /** Tells whoever waits that there is a connection. */
  readonly opened: () => void;
}

async function dialOnce(line: Line): Promise<Over> {
  const { address, clock, onData, onEvent, stop } = line;
  const lost = new AbortController();
  let sinceMs = Number.POSITIVE_INFINITY;
  const onOpen = (socket: WebSocket): void => {
    line.current = socket;
    sinceMs = clock.monotonic();
    void keepAlive(socket, clock, lost.signal);
    line.opened();
    onEvent({ type: "connected" });
  };
  const dialled = await dial(address, { clock, onOpen, onData, signal: stop.signal });
  lost.abort();
  line.current = undefined;
  if (stop.signal.aborted) return { end: "closed" };
  if (dialled.kind === "refused") return { end: "refused" };
  if (dialled.kind === "failed") return { reason: dialled.reason, heldMs: 0 };
  if (dialled.code === CloseCode.replaced) return { end: "replaced" };
  return { reason: `closed with code ${dialled.code}`, heldMs: clock.monotonic() - sinceMs };
}

/** Connects again and again until that is of no more use. */
async function run(line: Line): Promise<ClosedReason> {
  const { clock, random, onEvent, stop } = line;
  for (let failures = 0; ; failures++) {
    const over = await dialOnce(line);
    if ("end" in over) return over.end;
    if (over.heldMs >= GOOD_AFTER_MS) failures = 0;
    const retryInMs = redialDelayMs(failures, random());
    onEvent({ type: "disconnected", reason: over.reason, retryInMs });
    await clock.sleep(retryInMs, { signal: stop.signal }).catch(() => undefined);
    if (stop.signal.aborted) return "closed";
  }
}

const NOBODY = { resolve: () => undefined, reject: () => undefined };

/** A connection that is not there yet. */
export function createUplink(options: UplinkOptions): Uplink {
  const stop = new AbortController();
  let settleFirst: { readonly resolve: () => void; readonly reject: (error: Error) => void } =
    NOBODY;
  const first = new Promise<void>((resolve, reject) => {
    settleFirst = { resolve, reject };
  });
  // Whoever calls connect() hears of it; nobody else needs to.
  first.catch(() => undefined);
  const line: Line = { ...options, stop, current: undefined, opened: () => settleFirst.resolve() };
  let running: Promise<void> | undefined;
  const start = async (): Promise<void> => {
    const reason = await run(line);
    stop.abort();
    settleFirst.reject(unavailable(CLOSED[reason]));
    options.onEvent({ type: "closed", reason });
  };
  return {
    get isConnected() {
      return line.current !== undefined;
    },
    connect(signal) {
      running ??= start();
      return orAborted(first, signal);
    },
    async send(text) {
      if (line.current === undefined || !(await sendText(line.current, text)))
        throw unavailable("not connected now");
    },
    async close() {
      stop.abort();
      await running;
    },
  };
}
