/** @acp/proxy-mcp: a transparent MCP proxy that asks a gate about every tool call. */
export { createArgumentCheck } from "./argument-check.js";
export type { ArgumentCheckOptions } from "./argument-check.js";
export { warmSchemas } from "./compile-schema.js";
export type { CallNotice } from "./call-result.js";
export type { RequestPlace, RequestRoom } from "./in-flight.js";
export type { McpCaller } from "./listen/clients.js";
export { createMcpListener } from "./listen/listener.js";
export type { McpCredentials, McpListener, McpListenerOptions } from "./listen/listener.js";
export type { HideDenied } from "./hidden-tools.js";
export type { ChangeOutcome } from "./change/live-router.js";
export { createMcpProxy } from "./proxy.js";
export type {
  McpProxy,
  McpProxyOptions,
  ProxyExit,
  UpstreamChange,
  UpstreamConfig,
} from "./proxy.js";
export { findingsOf, instructionFindings } from "./pins/findings.js";
export type { ToolFinding } from "./pins/findings.js";
export { nameLook } from "./pins/names.js";
export { pinOf } from "./pins/tool-pins.js";
export type { Pinned, PinState, PresentedKind, PresentedText, ToolPins } from "./pins/tool-pins.js";
export { refuseMcp } from "./refusing-server.js";
export type { RefuseMcpOptions } from "./refusing-server.js";
export type {
  AuthorizationAnswer,
  AuthorizationRefusal,
  AuthorizationCaller,
  RemoteAuthorization,
} from "./remote/authorization.js";
export { readChallenge } from "./remote/oauth/challenge.js";
export type { BearerChallenge } from "./remote/oauth/challenge.js";
export type { RemoteUpstream } from "./remote/remote-upstream.js";
export { createSharedServer } from "./shared/shared-server.js";
export type { SharedServer, SharedServerOptions } from "./shared/shared-server.js";
export { createMcpSessions } from "./sessions.js";
export type { McpSessions, McpSessionsOptions, SessionCaller } from "./sessions.js";
export type {
  CommandUpstream,
  LocalUpstream,
  ServerExit,
  ServerProcess,
  StartedUpstream,
  UpstreamLimits,
} from "./server-process.js";
export type { AnswerAddress } from "./waiting/waiting.js";
