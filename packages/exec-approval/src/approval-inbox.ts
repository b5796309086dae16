/**
 * ApprovalInbox: the requests of one hub that wait for a person at this device. The terminal client
 * stands on it; so can any other screen.
 */
import { type Clock, systemClock } from "@acp/core";
import { readResolveResult } from "./codec.js";
import type { GatewayClient, ReceivedMessage } from "./gateway-client.js";
import {
  ExecApprovalEndedAction,
  ExecApprovalRequestAction,
  ResolveExecApprovalMethod,
} from "./protocol.js";
import type {
  ExecApprovalEnd,
  ExecApprovalRequestPayload,
  ResolveExecApprovalParams,
  ResolveExecApprovalResult,
  RpcOutcome,
} from "./protocol.js";
import type { WaitOptions } from "./waiting.js";

/** What changed among the open requests. */
export type InboxChange =
  | { readonly type: "open"; readonly request: ExecApprovalRequestPayload }
  | {
      readonly type: "ended";
      /** The request as it was when it was open. */
      readonly request: ExecApprovalRequestPayload;
      /** `unknown`: this device was told no more than that it is over. */
      readonly outcome: ExecApprovalEnd | "unknown";
    };

/** The open requests of one hub. */
export interface ApprovalInbox extends Disposable {
  /** The requests that are open now, oldest first. */
  open(): readonly ExecApprovalRequestPayload[];
  /** Calls `listener` for every change; returns a function that ends that. */
  onChange(listener: (change: InboxChange) => void): () => void;
  /**
   * Sends a decision to the hub.
   *
   * @throws ConsentError as {@link GatewayClient.request}: then it is unknown whether the decision
   *   was taken.
   */
  answer(
    params: ResolveExecApprovalParams,
    options?: WaitOptions,
  ): Promise<RpcOutcome<ResolveExecApprovalResult>>;
  /** Stops listening; open requests stay open at the hub. */
  close(): void;
}

/** Options of {@link createApprovalInbox}. */
export interface ApprovalInboxOptions {
  /** This device's connection to the gateway; the caller connects it, before or after. */
  readonly client: GatewayClient;
  /** Device id of the hub; requests from other devices are ignored. */
  readonly hubDeviceId: string;
  /** Source of time; the system's clock unless given. */
  readonly clock?: Clock;
}

/** A request on the list, and what takes it off when its time is over. */
interface OpenRequest {
  readonly request: ExecApprovalRequestPayload;
  readonly timer: AbortController;
}

/** Requests held at once; more than that nobody reads. */
const OPEN_MAX = 1_000;
/**
 * How long after its time a request is taken off where the hub does not say how it ended: the hub's
 * clock decides, not ours.
 */
const GRACE_MS = 5_000;

/**
 * Collects the requests of a hub from now on; those that are open already arrive when the device
 * connects.
 */
export function createApprovalInbox({
  client,
  hubDeviceId,
  clock = systemClock,
}: ApprovalInboxOptions): ApprovalInbox {
  const open = new Map<string, OpenRequest>();
  const listeners = new Set<(change: InboxChange) => void>();
  const tell = (change: InboxChange): void => {
    for (const listener of listeners) listener(change);
  };

  const end = (approvalId: string, outcome: ExecApprovalEnd | "unknown"): void => {
    const found = open.get(approvalId);
    if (found === undefined) return;
    const { request, timer } = found;
    open.delete(approvalId);
    timer.abort();
    tell({ type: "ended", request, outcome });
  };
  const take = (message: ReceivedMessage): void => {
    if (message.from !== hubDeviceId) return;
    if (message.action === ExecApprovalEndedAction)
      return end(message.payload.approvalId, message.payload.outcome);
    if (message.action !== ExecApprovalRequestAction) return;
    const { payload } = message;
    // The same request comes again after every reconnection.
    if (open.has(payload.approvalId) || open.size >= OPEN_MAX) return;
    const timer = new AbortController();
    open.set(payload.approvalId, { request: payload, timer });
    const leftMs = Math.max(0, payload.expiresAtMs - clock.now()) + GRACE_MS;
    // The signal, or a listener that threw: the request is off the list in either case.
    clock
      .sleep(leftMs, { signal: timer.signal, background: true })
      .then(() => end(payload.approvalId, "expired"))
      .catch(() => undefined);
    tell({ type: "open", request: payload });
  };

  const unlisten = client.onMessage(take);
  const close = (): void => {
    unlisten();
    for (const { timer } of open.values()) timer.abort();
    listeners.clear();
  };
  return {
    open: () => [...open.values()].map(({ request }) => request),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async answer(params, options) {
      const outcome = await sendDecision({ client, hubDeviceId }, params, options);
      if (!outcome.ok && outcome.error.code === "NOT_FOUND") end(params.approvalId, "unknown");
      return outcome;
    },
    close,
    [Symbol.dispose]: close,
  };
}

async function sendDecision(
  { client, hubDeviceId }: Pick<ApprovalInboxOptions, "client" | "hubDeviceId">,
  { approvalId, decision, confirmation }: ResolveExecApprovalParams,
  options: WaitOptions | undefined,
): Promise<RpcOutcome<ResolveExecApprovalResult>> {
  const params = {
    approvalId,
    decision,
    ...(confirmation === undefined ? {} : { confirmation }),
  };
  const outcome = await client.request(hubDeviceId, ResolveExecApprovalMethod, params, options);
  return outcome.ok ? { ok: true, payload: readResolveResult(outcome.payload) } : outcome;
}
