/**
 * Parts: what the files of the proxy hand to each other. Types only.
 */
import type { Socket } from "node:net";
import type { Agent, Authority, ConsentGate, HttpAction, Release } from "@acp/core";
import type { Refusal } from "./refusals.js";

/**
 * Connects to a host: resolved once, every address checked, one of these very addresses dialled.
 *
 * @throws RefusedError `address_refused` where the host may not be reached, `upstream_unreachable`
 *   where it cannot; the signal's reason.
 */
export type Dial = (target: Authority, signal: AbortSignal) => Promise<Socket>;

/** Who makes a request: known from its credentials, or from the socket before it sent anything. */
export interface Caller {
  /** The agent as whom its requests are judged. */
  readonly agent: Agent;
  /** The session that its requests belong to, if there is one. */
  readonly session?: string;
  /** Its own gate, if it has a policy of its own. Absent: the proxy's gate. */
  readonly gate?: ConsentGate;
}

/** One question to the gate. */
export interface Asking {
  readonly action: HttpAction;
  readonly caller: Caller;
  /** Aborts when the agent's connection is gone. */
  readonly signal: AbortSignal;
  /** Why it would be refused after a yes: nobody is asked about it. */
  readonly obstacle?: string | undefined;
}

/**
 * Decides, and performs what was allowed: `perform` runs at most once, after the log says so, and
 * settles when the last byte has passed. It sends what `release.action` says, which a person may
 * have edited: its method, URL, host and port, and its headers by `fillHeaders`.
 *
 * @returns The refusal to answer with, or `undefined` where it was performed. Never rejects for a
 *   no; rejects with what `perform` throws.
 */
export type Decide = (
  asking: Asking,
  perform: (release: Release) => Promise<void>,
) => Promise<Refusal | undefined>;

/** One increment of a counter. */
export interface ProxyCount {
  /** Stable name of the counter. */
  readonly name:
    | "requests"
    | "tunnels"
    | "internal"
    | "refusals"
    | "bytes_up"
    | "bytes_down"
    | "connections";
  /** How much to add: bytes for `bytes_up` and `bytes_down`, otherwise 1. */
  readonly by: number;
  /** Labels, each with few possible values. */
  readonly labels: Readonly<Record<string, string>>;
}
