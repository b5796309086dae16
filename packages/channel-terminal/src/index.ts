/**
 * @acp/channel-terminal: asks a person on the controlling terminal or through an attached second
 * terminal.
 */
export type {
  ApproverClient,
  GateClient,
  OpenQuestion,
  QuestionChange,
  QuestionOutcome,
} from "./approver-client.js";
export { runApproverUi } from "./approver-ui.js";
export type { ApproverUiOptions, UiEnd } from "./approver-ui.js";
export { attachApprovers } from "./attach-all.js";
export type { ApproverClients, AttachAllOptions } from "./attach-all.js";
export { attachApprover } from "./attach.js";
export type { AttachOptions } from "./attach.js";
export type { ReadOutcomes } from "./outcome-watch.js";
export type { OutputStream } from "@acp/host";
export { sharedUidNotice } from "./shared-uid-notice.js";
export { createTerminalApprover } from "./terminal-approver.js";
export type { TerminalApproverOptions } from "./terminal-approver.js";
export { createTerminalChannel } from "./terminal-channel.js";
export type { TerminalChannel, TerminalChannelOptions } from "./terminal-channel.js";
export type { InputStream } from "./typed-input.js";
export type { ClientRole } from "./wire.js";
