/** @acp/proxy-http: a forward proxy that asks a gate about every request and tunnel of an agent. */
export type { Resolve } from "./addresses.js";
export type { AgentAccount, Attribution } from "./agents.js";
export { hostApprovalTtlMs } from "./host-approval.js";
export type { InternalService } from "./internal.js";
export type { ProxyLimits } from "./limits.js";
export type { Caller } from "./caller.js";
export type { ProxyCount } from "./proxy-count.js";
export type { ProxyRefusalCode, Refusal } from "./refusals.js";
export type { ProxyLogEntry } from "./judging.js";
export { createHttpConsentProxy } from "./server.js";
export type { HttpConsentProxy, HttpConsentProxyOptions, ListenOptions } from "./server.js";
