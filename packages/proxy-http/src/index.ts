/** @acp/proxy-http: a forward proxy that asks a gate about every request and tunnel of an agent. */
export type { Refusal } from "./refusals.js";
