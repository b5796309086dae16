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
 * Action of the message that tells a client that a request is over. An extension of the protocol
 * document, which has no such message.
 */
export const ExecApprovalEndedAction = "exec-approval-ended";

/** Method of the call that answers a request. */
export const ResolveExecApprovalMethod = "resolveExecApproval";

/** The `from` of the gateway's own messages; no device may have this id. */
export const GATEWAY_ID = "gateway";

/** Every decision that a person can make about a command, as messages spell it. */
export const APPROVAL_DECISIONS = ["allow-once", "allow-always", "deny"] as const;

/** What a person decides about a command: one of {@link APPROVAL_DECISIONS}. */
export type ApprovalDecision = (typeof APPROVAL_DECISIONS)[number];

/** A question about a command, as a client gets it. Format: spec/exec-approval.md. */
export interface ExecApprovalRequestPayload {
  /** Id of the request: a UUIDv7. An answer names it. */
  readonly approvalId: string;
  /** The agent that wants to run the command. */
  readonly agentId: string;
  /**
   * The whole text of the command; in a question of `keepTrial`, what would be written. It may hold
   * characters that hide others: show it with `escapeText` or the like.
   */
  readonly command: string;
  /**
   * Absolute path of the directory that it would run in; absent where the question is about no
   * directory.
   */
  readonly cwd?: string;
  /** What the hub found: `safe`, `needs-review` or `dangerous`. */
  readonly riskLevel: CommandRisk;
  /**
   * Why a person is asked, one sentence each: the reasons for the risk, most severe first, then the
   * rule that asks, unless it is one about commands. May be empty.
   */
  readonly riskReasons: readonly string[];
  /**
   * Wall time from which no answer counts and the hub decides by `askFallback`, milliseconds since
   * 1970.
   */
  readonly expiresAtMs: number;
}

/** Every way in which a request can end, as messages spell it. */
export const EXEC_APPROVAL_ENDS = ["allowed", "denied", "expired", "cancelled"] as const;

/**
 * How a request ended: one of {@link EXEC_APPROVAL_ENDS}. `cancelled` means that it was taken back,
 * because its agent was closed or a part failed; the command does not run.
 */
export type ExecApprovalEnd = (typeof EXEC_APPROVAL_ENDS)[number];

/** What a client is told when a request is over, no matter who ended it. */
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
  /**
   * What the person typed to confirm a dangerous command. An extension of the protocol document.
   */
  readonly confirmation?: string;
}

/** What `resolveExecApproval` returns if it resolved the request. */
export interface ResolveExecApprovalResult {
  readonly ok: true;
  /**
   * With `allow-always`: the allowlist pattern that was stored; absent where none was. An extension
   * of the protocol document.
   */
  readonly stored?: string;
  /**
   * What else the person should know: why nothing was stored, or that others must agree. An
   * extension of the protocol document.
   */
  readonly note?: string;
}

/**
 * Why a call or a delivery failed. Codes are stable: `NOT_FOUND`, and those of
 * spec/exec-approval.md §5.
 */
export interface RpcError {
  /** Code of the error, such as `NOT_FOUND`: stable, match on it. */
  readonly code: string;
  /** The same in words, for people. */
  readonly message: string;
}

/**
 * The result of a call. An error of the other side is a value; only a call without an answer
 * throws.
 */
export type RpcOutcome<T = JsonObject> =
  | { readonly ok: true; readonly payload: T }
  | { readonly ok: false; readonly error: RpcError };

/** A call of a method of another device. */
export interface RpcRequestPayload {
  /** Id that the caller chose; the response repeats it. */
  readonly requestId: string;
  /** Name of the method, such as `resolveExecApproval`. */
  readonly method: string;
  /** Arguments of the method, unchecked. */
  readonly params: JsonObject;
}

/** The answer to a call. */
export type RpcResponsePayload = { readonly requestId: string } & RpcOutcome;

/**
 * The gateway's answer to a message that is neither a call nor a response: whether it was passed
 * on. An extension of the protocol document.
 */
export type ReceiptPayload =
  | { readonly messageId: string; readonly ok: true }
  | { readonly messageId: string; readonly ok: false; readonly error: RpcError };

/**
 * Whether a device that this one may talk to is connected. An extension of the protocol document.
 */
export interface PresencePayload {
  /** Id of the other device. */
  readonly deviceId: string;
  /** Whether it is connected now. */
  readonly online: boolean;
}

/** What every message consists of. */
export interface Envelope<Action extends string, Payload> {
  /** Id of the message: a UUIDv7, new for each. */
  readonly id: string;
  /** Id of the sending device; the gateway checks it. */
  readonly from: string;
  /** Id of the receiving device. */
  readonly to: string;
  /** What kind of message it is. */
  readonly action: Action;
  /** What a message of this kind carries. */
  readonly payload: Payload;
}

/** What a message carries, by its action: see spec/exec-approval.md. */
export interface MessagePayloads {
  /** A hub asks a client. */
  readonly "exec-approval-request": ExecApprovalRequestPayload;
  /** A hub says that a question is over. */
  readonly "exec-approval-ended": ExecApprovalEndedPayload;
  /** One device calls a method of another. */
  readonly request: RpcRequestPayload;
  /** The called device, or the gateway in its place, answers a call. */
  readonly response: RpcResponsePayload;
  /** The gateway says whether a message was passed on. */
  readonly receipt: ReceiptPayload;
  /** The gateway says who is connected. */
  readonly presence: PresencePayload;
}

/** A message between two devices, of any kind. */
export type MessageAction = keyof MessagePayloads;

/** What travels between two devices, of any kind. */
export type Message = {
  readonly [Action in MessageAction]: Envelope<Action, MessagePayloads[Action]>;
}[MessageAction];

/** The part of a message that does not depend on its kind. */
export type MessageHead = Pick<Message, "id" | "from" | "to">;

/** What a hub tells {@link SendExecApproval} about an open request. */
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

/** The part of a hub that takes answers. */
export interface ExecApprovalResolver {
  /**
   * Answers an open request. Never rejects: a refusal is an error in the outcome.
   *
   * @param by - `from`: id of the device that answered, as the gateway authenticated it.
   */
  resolveExecApproval(
    params: ResolveExecApprovalParams,
    by: { readonly from: string },
  ): Promise<RpcOutcome<ResolveExecApprovalResult>>;
}
