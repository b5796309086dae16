/**
 * GatewayClient: a device's end of the gateway. It stays connected by itself. A call waits through
 * a lost connection and is sent again under the same id; a push does not wait: where it is not
 * handed over, its sender learns so at once.
 */
import { type Clock, ConsentError, type JsonObject, asError, systemClock } from "@acp/core";
import type { RawData } from "ws";
import { decodeMessage, encodeMessage, isDeviceId } from "./codec.js";
import type { GatewayAddress, UplinkEvent } from "./connection-types.js";
import { readAddress } from "./dial.js";
import { GATEWAY_ID } from "./protocol.js";
import type { Envelope, Message, MessageHead, RpcOutcome, RpcRequestPayload } from "./protocol.js";
import { bytesOf } from "./socket.js";
import { type Uplink, createUplink } from "./uplink.js";
import { createUuidV7 } from "./uuid-v7.js";
import { type WaitOptions, type Waiting, createWaiting } from "./waiting.js";

/** What happens to a client's connection. */
export type GatewayClientEvent =
  | UplinkEvent
  /**
   * A message that is none or not for this device, or a listener or watcher that threw. Nothing
   * came of it.
   */
  | { readonly type: "problem"; readonly error: Error };

/** Options of {@link GatewayClient}. */
export interface GatewayClientOptions extends GatewayAddress {
  /** This device's id, as the gateway's list has it: 1 to 128 visible ASCII characters. */
  readonly deviceId: string;
  /** Source of time; the system's clock unless given. */
  readonly clock?: Clock;
  /**
   * Returns numbers from 0 to 1, which spread the attempts to reconnect; `Math.random` unless
   * given.
   */
  readonly random?: () => number;
  /** Makes ids of messages and calls; UUIDv7 unless given. */
  readonly nextId?: () => string;
}

/**
 * What a listener gets: every message except responses and receipts, which the client handles
 * itself.
 */
export type ReceivedMessage = Exclude<Message, { readonly action: "response" | "receipt" }>;

/** A call from another device. */
export type IncomingCall = Envelope<"request", RpcRequestPayload>;

/** Makes a message from its head, for {@link GatewayClient.send}. */
export type MakePush = (
  head: MessageHead,
) => Extract<Message, { readonly action: "exec-approval-request" | "exec-approval-ended" }>;

/** Calls that may wait for their answers at once. */
const CALLS_MAX = 256;

interface Call {
  readonly to: string;
  readonly text: string;
}

type Receipt = RpcOutcome<undefined>;

/** A device's connection to a gateway. */
export class GatewayClient implements AsyncDisposable {
  /** This device's id in the gateway's list of devices: the `from` of every message it sends. */
  readonly deviceId: string;
  readonly #nextId: () => string;
  readonly #uplink: Uplink;
  readonly #listeners = new Set<(message: ReceivedMessage) => void>();
  readonly #watchers = new Set<(event: GatewayClientEvent) => void>();
  /** What was called for and not answered. */
  readonly #calls = new Map<string, Call>();
  readonly #answers: Waiting<RpcOutcome>;
  readonly #receipts: Waiting<Receipt>;
  #isClosed = false;

  /** @throws ConsentError `options_invalid` for an unusable device id, address or token. */
  constructor(options: GatewayClientOptions) {
    const {
      deviceId,
      clock = systemClock,
      random = Math.random,
      nextId = createUuidV7({ clock }),
    } = options;
    if (!isDeviceId(deviceId))
      throw new ConsentError(
        "options_invalid",
        "Cannot use the device's id: it is not 1 to 128 visible ASCII characters",
      );
    this.deviceId = deviceId;
    this.#nextId = nextId;
    this.#answers = createWaiting(clock);
    this.#receipts = createWaiting(clock);
    this.#uplink = createUplink({
      address: readAddress(options),
      clock,
      random,
      onData: (data) => this.#read(data),
      onEvent: (event) => this.#onUplink(event),
    });
  }

  /**
   * Connects, and reconnects after every loss; resolves when it is connected for the first time.
   *
   * @throws ConsentError `channel_unavailable` where the gateway refuses the device, `aborted`.
   */
  connect({ signal }: { readonly signal?: AbortSignal | undefined } = {}): Promise<void> {
    return this.#uplink.connect(signal);
  }

  /** True while it is connected. */
  get isConnected(): boolean {
    return this.#uplink.isConnected;
  }

  /** Calls `listener` for every message; returns a function that ends that. */
  onMessage(listener: (message: ReceivedMessage) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Calls `watcher` for every event of the connection; returns a function that ends that. */
  onEvent(watcher: (event: GatewayClientEvent) => void): () => void {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  /**
   * Calls a method of another device. While the connection is away the call waits; what has no
   * answer goes out again when the connection or the other device is back. Where the other device
   * is away when the call comes, the gateway says so at once.
   *
   * @returns What came of it: `ok` with the payload, or the other side's error. `UNREACHABLE` is
   *   the gateway's.
   * @throws ConsentError `part_timeout`, `aborted` or `channel_unavailable` (closed) where no
   *   answer came: whether the call was taken is not known then.
   */
  // oxlint-disable-next-line max-params -- the protocol document's call, and how long to wait
  async request(
    deviceId: string,
    method: string,
    params: JsonObject,
    options: WaitOptions = {},
  ): Promise<RpcOutcome> {
    if (this.#isClosed)
      throw new ConsentError(
        "channel_unavailable",
        `Cannot call "${method}": the client is closed`,
      );
    if (this.#calls.size >= CALLS_MAX)
      throw new ConsentError(
        "channel_unavailable",
        `Cannot call "${method}": ${CALLS_MAX} calls wait`,
      );
    const requestId = this.#nextId();
    const text = encodeMessage({
      ...this.#headTo(deviceId),
      action: "request",
      payload: { requestId, method, params },
    });
    this.#calls.set(requestId, { to: deviceId, text });
    try {
      const answer = this.#answers.wait(requestId, `the answer to "${method}"`, options);
      this.#sendAgainLater(text);
      return await answer;
    } finally {
      this.#calls.delete(requestId);
    }
  }

  /**
   * Sends a message to another device; resolves when the gateway has passed it on.
   *
   * @throws ConsentError `channel_unavailable` where the device or the gateway is not there,
   *   `part_timeout`, `aborted`.
   */
  async send(deviceId: string, make: MakePush, options: WaitOptions = {}): Promise<void> {
    const head = this.#headTo(deviceId);
    const text = encodeMessage(make(head));
    const receipt = this.#receipts.wait(head.id, "the gateway's receipt", options);
    this.#uplink.send(text).catch((error: unknown) => this.#receipts.fail(head.id, asError(error)));
    const outcome = await receipt;
    if (!outcome.ok)
      throw new ConsentError(
        "channel_unavailable",
        `Cannot send to ${JSON.stringify(deviceId)}: ${outcome.error.message}`,
      );
  }

  /** Answers a call. An answer that is lost is asked for again by a new call of the same id. */
  async respond(
    { from, payload: { requestId } }: IncomingCall,
    outcome: RpcOutcome,
  ): Promise<void> {
    const head = this.#headTo(from);
    await this.#uplink.send(
      encodeMessage({ ...head, action: "response", payload: { requestId, ...outcome } }),
    );
  }

  /**
   * Closes the connection for good; calls and messages that still wait fail with
   * `channel_unavailable`.
   */
  async close(): Promise<void> {
    this.#failAll();
    await this.#uplink.close();
  }

  /** As {@link GatewayClient.close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #headTo(to: string): MessageHead {
    return { id: this.#nextId(), from: this.deviceId, to };
  }

  /** A watcher that throws costs neither the connection nor the other watchers anything. */
  #tell(event: GatewayClientEvent): void {
    for (const watcher of this.#watchers) {
      try {
        watcher(event);
      } catch (error) {
        // Where that fails too there is nobody left to tell.
        if (event.type !== "problem") this.#problem(error);
      }
    }
  }

  #problem(thrown: unknown): void {
    this.#tell({ type: "problem", error: asError(thrown) });
  }

  /** A call that does not get through now goes out when its device is back. */
  #sendAgainLater(text: string): void {
    this.#uplink.send(text).catch(() => undefined);
  }

  #failAll(): void {
    this.#isClosed = true;
    const error = new ConsentError(
      "channel_unavailable",
      "Cannot wait for an answer: the connection to the gateway is closed",
    );
    this.#answers.failAll(error);
    this.#receipts.failAll(error);
  }

  #onUplink(event: UplinkEvent): void {
    if (event.type === "disconnected")
      this.#receipts.failAll(
        new ConsentError("channel_unavailable", "Cannot send: the connection to the gateway broke"),
      );
    if (event.type === "closed") this.#failAll();
    this.#tell(event);
  }

  #read(data: RawData): void {
    try {
      const message = decodeMessage(bytesOf(data));
      if (message.to !== this.deviceId)
        throw new ConsentError(
          "message_invalid",
          "Cannot accept a message: it is for another device",
        );
      this.#take(message);
    } catch (error) {
      this.#problem(error);
    }
  }

  #take(message: Message): void {
    const { from } = message;
    const isGateways = from === GATEWAY_ID;
    if (message.action === "response") {
      const { requestId, ...outcome } = message.payload;
      // Who was called answers, or the gateway in its place; nobody else.
      if (isGateways || this.#calls.get(requestId)?.to === from)
        this.#answers.settle(requestId, outcome);
      return;
    }
    if ((message.action === "receipt" || message.action === "presence") && !isGateways)
      throw new ConsentError(
        "message_invalid",
        `Cannot accept a ${message.action}: it is not from the gateway`,
      );
    if (message.action === "receipt") {
      const { payload } = message;
      this.#receipts.settle(
        payload.messageId,
        payload.ok ? { ok: true, payload: undefined } : { ok: false, error: payload.error },
      );
      return;
    }
    if (message.action === "presence" && message.payload.online) {
      const { deviceId } = message.payload;
      for (const { to, text } of this.#calls.values())
        if (to === deviceId) this.#sendAgainLater(text);
    }
    for (const listener of this.#listeners) {
      try {
        listener(message);
      } catch (error) {
        this.#problem(error);
      }
    }
  }
}
