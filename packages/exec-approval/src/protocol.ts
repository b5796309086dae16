/**
 * Protocol: the messages between a hub, its gateway and its clients, by the names of the protocol
 * document (S3). Types and names only. Format, and what we added: spec/exec-approval.md. Reading
 * and writing: codec.ts.
 */
import type { JsonObject } from "@acp/core";
import type { CommandRisk } from "@acp/core/exec";

/** Action of the message that asks a client for a decision. */
export const ExecApprovalRequestAction = "exec-approval-request";

/**
 * Action of the message that tells a client that a request is over. Ours: the document has none.
 */
export const ExecApprovalEndedAction = "exec-approval-ended";

/** Method of the call that answers a request. */
export const ResolveExecApprovalMethod = "resolveExecApproval";

/** The `from` of what the gateway itself says; no device may have this id. */
export const GATEWAY_ID = "gateway";

/** Every decision that a person can take about a command, as the wire spells it. */
export const APPROVAL_DECISIONS = ["allow-once", "allow-always", "deny"] as const;

/** What a person decides about a command: one of {@link APPROVAL_DECISIONS}. */
export type ApprovalDecision = (typeof APPROVAL_DECISIONS)[number];

/** What a client is asked. */
export interface ExecApprovalRequestPayload {
  /** UUIDv7. */
  readonly approvalId: string;
  /** The agent that wants to run the command. */
  readonly agentId: string;
  /**
   * The command's text, whole. A client shows it with `escapeText` or the like: it may hold
   * characters that hide others.
   */
  readonly command: string;
  /** Absolute path of the directory that it would run in. */
  readonly cwd?: string;
  /** What the hub found: `safe`, `needs-review` or `dangerous`. */
  readonly riskLevel: CommandRisk;
  /** Why, one sentence each, worst first. */
  readonly riskReasons: readonly string[];
  /** After this moment the hub decides by `askFallback`. */
  readonly expiresAtMs: number;
}

/** Every way in which a request can end, as the wire spells it. */
export const EXEC_APPROVAL_ENDS = ["allowed", "denied", "expired", "cancelled"] as const;

/**
 * How a request ended: one of {@link EXEC_APPROVAL_ENDS}. `cancelled`: taken back, because its
 * agent was closed or a part failed; the command does not run.
 */
export type ExecApprovalEnd = (typeof EXEC_APPROVAL_ENDS)[number];

/** What a client is told when a request is over, whoever ended it. */
export interface ExecApprovalEndedPayload {
  /** Id of the request that is over. */
  readonly approvalId: string;
  /** How it ended. */
  readonly outcome: ExecApprovalEnd;
}

/** A person's answer, as a client sends it to the hub. */
export interface ResolveExecApprovalParams {
  /** Id of the request that is answered. */
  readonly approvalId: string;
  /** `allow-once`, `allow-always` or `deny`. */
  readonly decision: ApprovalDecision;
  /** What the person typed to confirm a dangerous command. Ours: the document has no such field. */
  readonly confirmation?: string;
}

/** What `resolveExecApproval` gives back where it resolved the request. */
export interface ResolveExecApprovalResult {
  readonly ok: true;
  /**
   * With `allow-always`: the allowlist pattern that was stored; absent where none was. Ours: the
   * document has no such field.
   */
  readonly stored?: string;
  /** What else the person should know: why nothing was stored, or that others must agree. Ours. */
  readonly note?: string;
}

/**
 * Why a call or a delivery failed. Codes are API: `NOT_FOUND` and those of spec/exec-approval.md
 * §5.
 */
export interface RpcError {
  /** Stable, for programs, such as `NOT_FOUND`. */
  readonly code: string;
  /** The same in words. */
  readonly message: string;
}

/** What came of a call. A "no" is a value: only a call that never got an answer throws. */
export type RpcOutcome<T = JsonObject> =
  | { readonly ok: true; readonly payload: T }
  | { readonly ok: false; readonly error: RpcError };

/** A method that one device asks another one to run. */
export interface RpcRequestPayload {
  /** Chosen by the caller; the response repeats it. */
  readonly requestId: string;
  /** Such as `resolveExecApproval`. */
  readonly method: string;
  /** Arguments of the method, unchecked. */
  readonly params: JsonObject;
}

/** The answer to a call. */
export type RpcResponsePayload = { readonly requestId: string } & RpcOutcome;

/**
 * The gateway's word on a message that was neither a call nor an answer: handed to its device, or
 * not. Ours.
 */
export type ReceiptPayload =
  | { readonly messageId: string; readonly ok: true }
  | { readonly messageId: string; readonly ok: false; readonly error: RpcError };

/** Whether a device that this one may talk to is connected. Ours. */
export interface PresencePayload {
  /** The other device. */
  readonly deviceId: string;
  /** Whether it is connected now. */
  readonly online: boolean;
}

/** What every message has. */
export interface Envelope<Action extends string, Payload> {
  /** UUIDv7, new for each message. */
  readonly id: string;
  /** The sender's device; the gateway lets no other through. */
  readonly from: string;
  /** Id of the receiving device. */
  readonly to: string;
  /** What kind of message it is. */
  readonly action: Action;
  /** What a message of this kind carries. */
  readonly payload: Payload;
}

/** What each action carries. */
export interface MessagePayloads {
  /** A hub asks a client. */
  readonly "exec-approval-request": ExecApprovalRequestPayload;
  /** A hub says that a question is over. */
  readonly "exec-approval-ended": ExecApprovalEndedPayload;
  /** One device calls a method of another. */
  readonly request: RpcRequestPayload;
  /** What became of a call. */
  readonly response: RpcResponsePayload;
  /** The gateway says what became of a message. */
  readonly receipt: ReceiptPayload;
  /** The gateway says who is connected. */
  readonly presence: PresencePayload;
}

/** Name of a message's kind. */
export type MessageAction = keyof MessagePayloads;

/** What travels between two devices, of any kind. */
export type Message = {
  readonly [Action in MessageAction]: Envelope<Action, MessagePayloads[Action]>;
}[MessageAction];

/** The part of a message before its action. */
export type MessageHead = Pick<Message, "id" | "from" | "to">;

/** What a hub does with a request while it is open. */
export interface ExecApprovalSession {
  /** Settles (never rejects) when the request is over, however it ended. */
  readonly ended: Promise<ExecApprovalEnd>;
}

/**
 * Shows a request to the hub's clients; resolves when one of them has it.
 *
 * @throws Anything means "not shown": the hub denies.
 */
export type SendExecApproval = (
  payload: ExecApprovalRequestPayload,
  session: ExecApprovalSession,
) => Promise<void>;

/** What a hub offers to the side that its clients reach. */
export interface ExecApprovalResolver {
  /** @param by - `from`: the device that answered, as the gateway authenticated it. */
  resolveExecApproval(
    params: ResolveExecApprovalParams,
    by: { readonly from: string },
  ): Promise<RpcOutcome<ResolveExecApprovalResult>>;
}
