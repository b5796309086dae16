/** @acp/exec-approval: a person's consent before an agent runs a shell command. */
export { createApprovalInbox } from "./approval-inbox.js";
export type { ApprovalInbox, ApprovalInboxOptions, InboxChange } from "./approval-inbox.js";
export {
  COMMAND_CHARS_MAX,
  decodeMessage,
  encodeMessage,
  MESSAGE_BYTES_MAX,
  readResolveParams,
  readResolveResult,
} from "./codec.js";
export type {
  ClosedReason,
  GatewayAddress,
  ListenOptions,
  UplinkEvent,
} from "./connection-types.js";
export type { Variables } from "./environment.js";
export type { OutputChunk, OutputTaker } from "./executor/output.js";
export type { CommandOutcome } from "./executor/run-shell.js";
export { HUB_CHANNEL } from "./hub-options.js";
export type { ExecApprovalHub, ExecApprovalHubOptions, ExecContext } from "./hub-options.js";
export { denialMessage } from "./hub-refusal.js";
export { createExecApprovalHub } from "./hub.js";
export { openExecProfile } from "./profile-config.js";
export type { ExecProfile, ExecProfileOptions } from "./profile-config.js";
export { hashDeviceToken, makeDeviceToken } from "./device-token.js";
export { GatewayClient } from "./gateway-client.js";
export type {
  GatewayClientEvent,
  GatewayClientOptions,
  IncomingCall,
  MakePush,
  ReceivedMessage,
} from "./gateway-client.js";
export type { GatewayDevice } from "./gateway-devices.js";
export { createGateway } from "./gateway.js";
export type { Gateway, GatewayEvent, GatewayOptions } from "./gateway.js";
export { createHubLink } from "./hub-link.js";
export type { HubLink, HubLinkOptions } from "./hub-link.js";
export {
  APPROVAL_DECISIONS,
  EXEC_APPROVAL_ENDS,
  ExecApprovalEndedAction,
  ExecApprovalRequestAction,
  GATEWAY_ID,
  ResolveExecApprovalMethod,
} from "./protocol.js";
export type {
  ApprovalDecision,
  Envelope,
  ExecApprovalEnd,
  ExecApprovalEndedPayload,
  ExecApprovalRequestPayload,
  ExecApprovalResolver,
  ExecApprovalSession,
  Message,
  MessageAction,
  MessageHead,
  MessagePayloads,
  PresencePayload,
  ReceiptPayload,
  ResolveExecApprovalParams,
  ResolveExecApprovalResult,
  RpcError,
  RpcOutcome,
  RpcRequestPayload,
  RpcResponsePayload,
  SendExecApproval,
} from "./protocol.js";
export type { NotTried, TrialEnd, TrialResult, Tried } from "./trial/trial-result.js";
export { keptMessage, trialMessage } from "./trial/text.js";
export type { RunOptions } from "./run-approved.js";
export { runTerminalClient } from "./terminal-client.js";
export type { TerminalClientOptions } from "./terminal-client.js";
export type { InputStream, TerminalEnd } from "./terminal-input.js";
export type { OutputStream } from "@acp/host";
export { createUuidV7 } from "./uuid-v7.js";
export type { UuidV7Options } from "./uuid-v7.js";
export type { WaitOptions } from "./waiting.js";
