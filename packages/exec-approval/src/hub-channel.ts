/**
 * HubChannel: carries a gate's questions to the hub's clients as `exec-approval-request`, and their
 * decisions back. Decides nothing. The protocol's decision names one request, so it carries the
 * request's nonce; who answered is what the gateway authenticated.
 */
import {
  type AnswerReceipt,
  type AskSession,
  type Channel,
  type Clock,
  type ConsentRequest,
  confirmationWord,
  makeResponse,
} from "@acp/core";
import type { EndStatus } from "@acp/core";
import { approvalIdOf } from "./hub-ids.js";
import { HUB_CHANNEL } from "./hub-options.js";
import type {
  ExecApprovalEnd,
  ExecApprovalRequestPayload,
  ResolveExecApprovalParams,
  SendExecApproval,
} from "./protocol.js";

/** What the channel is made of. */
export interface HubChannelOptions {
  readonly send: SendExecApproval;
  readonly clock: Clock;
  /** The message about a question. */
  readonly describe: (request: ConsentRequest) => ExecApprovalRequestPayload;
  /** Whether a yes to a dangerous command takes the typed word. */
  readonly confirmDangerous: boolean;
}

/** A question that clients may answer. */
export interface OpenApproval {
  readonly request: ConsentRequest;
  readonly payload: ExecApprovalRequestPayload;
  readonly session: AskSession;
}

/** The hub's channel. */
export interface HubChannel extends Channel {
  /** The open question of this id. */
  find(approvalId: string): OpenApproval | undefined;
  openApprovals(): readonly ExecApprovalRequestPayload[];
  /** Hands a decision in. */
  submit(
    open: OpenApproval,
    params: ResolveExecApprovalParams,
    from: string,
  ): Promise<AnswerReceipt>;
}

const ENDS: Readonly<Record<EndStatus, ExecApprovalEnd>> = {
  approved: "allowed",
  approved_with_modifications: "allowed",
  denied: "denied",
  expired: "expired",
  cancelled: "cancelled",
  failed: "cancelled",
  superseded: "cancelled",
};

const REASONS: Readonly<Record<ResolveExecApprovalParams["decision"], string>> = {
  "allow-once": "a person allowed this command once",
  "allow-always": "a person allowed this command, and its program from now on",
  deny: "a person denied the command",
};

/** Makes the channel. */
export function createHubChannel({
  send,
  clock,
  describe,
  confirmDangerous,
}: HubChannelOptions): HubChannel {
  const open = new Map<string, OpenApproval>();
  return {
    name: HUB_CHANNEL,
    async deliver(request, session) {
      const approvalId = approvalIdOf(request.id);
      const payload = describe(request);
      open.set(approvalId, { request, payload, session });
      const ended = session.ended.then(({ status }) => {
        open.delete(approvalId);
        return ENDS[status];
      });
      // Where nobody can be shown it the gate ends the question, and with it what is open here.
      await send(payload, { ended });
    },
    find: (approvalId) => open.get(approvalId),
    openApprovals: () => [...open.values()].map(({ payload }) => payload),
    submit({ request, session }, { decision, confirmation }, from) {
      const word = confirmationWord(request);
      // The protocol document has no such word: there a client's decision about this very request
      // is enough (spec/exec-approval.md).
      const typed =
        word === undefined ? undefined : (confirmation ?? (confirmDangerous ? undefined : word));
      const claim = makeResponse(request, {
        decision: decision === "deny" ? "denied" : "approved",
        nowMs: clock.now(),
        channel: HUB_CHANNEL,
        approverId: from,
        reason: REASONS[decision],
        ...(typed === undefined ? {} : { confirmation: typed }),
      });
      return session.submit(claim, { subject: from });
    },
  };
}
