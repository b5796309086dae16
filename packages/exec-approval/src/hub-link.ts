/**
 * HubLink: joins a hub to its clients over a gateway: shows requests, shows them again to whoever
 * comes back, hands answers in, and tells how requests ended. It decides nothing: what cannot be
 * shown to anybody fails, and the hub denies.
 */
import { ConsentError, isConsentError } from "@acp/core";
import { answerOncePerCall } from "./answer-once.js";
import { readResolveParams } from "./codec.js";
import type { GatewayClient, IncomingCall, ReceivedMessage } from "./gateway-client.js";
import {
  ExecApprovalEndedAction,
  ExecApprovalRequestAction,
  ResolveExecApprovalMethod,
} from "./protocol.js";
import type {
  ExecApprovalEndedPayload,
  ExecApprovalRequestPayload,
  ExecApprovalResolver,
  RpcOutcome,
  SendExecApproval,
} from "./protocol.js";

/** Connects a hub to its clients' devices. */
export interface HubLinkOptions {
  /** The hub's own connection to the gateway. */
  readonly client: GatewayClient;
  /** Ids of the devices that are asked and may answer. */
  readonly clients: readonly string[];
}

/** A hub's way to its clients. */
export interface HubLink extends Disposable {
  /** Pass it to `createExecApprovalHub` as `send`. */
  readonly send: SendExecApproval;
  /**
   * Passes the clients' answers to the hub. Until you call it, every answer gets the error
   * `NOT_READY`.
   */
  serve(hub: ExecApprovalResolver): void;
  /** Stops listening. The client stays connected. */
  close(): void;
}

/** How long a client may take to be handed a request. */
const SEND_TIMEOUT_MS = 10_000;

const failed = (code: string, message: string): RpcOutcome => ({
  ok: false,
  error: { code, message },
});
const NOT_FOUND = failed("NOT_FOUND", "Approval request not found or already resolved");

/** What a hub says to a call. */
async function answerCall(
  hub: ExecApprovalResolver | undefined,
  { from, payload }: IncomingCall,
): Promise<RpcOutcome> {
  if (payload.method !== ResolveExecApprovalMethod)
    return failed("METHOD_NOT_FOUND", `There is no method "${payload.method}"`);
  if (hub === undefined) return failed("NOT_READY", "The hub does not accept answers yet");
  try {
    const outcome = await hub.resolveExecApproval(readResolveParams(payload.params), { from });
    return outcome.ok ? { ok: true, payload: { ...outcome.payload } } : outcome;
  } catch (error) {
    // The sender's own mistake is told; what went wrong inside is not.
    return isConsentError(error, "message_invalid")
      ? failed("INVALID_PARAMS", error.message)
      : failed("INTERNAL_ERROR", "The hub failed");
  }
}

/** The requests that a link shows, and shows again. */
interface Shown {
  readonly send: SendExecApproval;
  /** Shows what is open to a device that came. */
  readonly showAll: (deviceId: string) => void;
}

function createShown({ client, clients }: HubLinkOptions): Shown {
  const open = new Map<string, ExecApprovalRequestPayload>();
  const timeoutMs = SEND_TIMEOUT_MS;
  const show = (deviceId: string, payload: ExecApprovalRequestPayload): Promise<void> =>
    client.send(deviceId, (head) => ({ ...head, action: ExecApprovalRequestAction, payload }), {
      timeoutMs,
    });
  const tellEnd = (deviceId: string, payload: ExecApprovalEndedPayload): Promise<void> =>
    client.send(deviceId, (head) => ({ ...head, action: ExecApprovalEndedAction, payload }), {
      timeoutMs,
    });
  return {
    async send(payload, { ended }) {
      const { approvalId } = payload;
      open.set(approvalId, payload);
      void ended.then((outcome) => {
        open.delete(approvalId);
        // Who is not there needs no word of the end: a request that is over is not shown again.
        for (const id of clients) tellEnd(id, { approvalId, outcome }).catch(() => undefined);
      });
      try {
        await Promise.any(clients.map((id) => show(id, payload)));
      } catch (cause) {
        open.delete(approvalId);
        throw new ConsentError(
          "channel_unavailable",
          "Cannot ask anybody: no client took the request",
          { cause },
        );
      }
    },
    showAll(deviceId) {
      for (const payload of open.values()) show(deviceId, payload).catch(() => undefined);
    },
  };
}

/**
 * Makes the link between a hub, through its connection to a gateway, and the devices of its people.
 */
export function createHubLink(options: HubLinkOptions): HubLink {
  const { client } = options;
  const people: ReadonlySet<string> = new Set(options.clients);
  let hub: ExecApprovalResolver | undefined;
  const { send, showAll } = createShown({ client, clients: [...people] });
  const answerOnce = answerOncePerCall((call) => answerCall(hub, call));

  const take = (message: ReceivedMessage): void => {
    if (message.action === "presence") {
      const { deviceId, online } = message.payload;
      if (online && people.has(deviceId)) showAll(deviceId);
      return;
    }
    if (message.action !== "request") return;
    // A device that is not asked learns nothing of what is open.
    const answer = people.has(message.from) ? answerOnce(message) : Promise.resolve(NOT_FOUND);
    answer.then((outcome) => client.respond(message, outcome)).catch(() => undefined);
  };

  const stop = client.onMessage(take);
  return {
    send,
    serve(served) {
      hub = served;
    },
    close: stop,
    [Symbol.dispose]: stop,
  };
}
