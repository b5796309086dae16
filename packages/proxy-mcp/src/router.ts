/**
 * Router: what stands between one client and its servers. One server: router-single.ts. Several:
 * router-many.ts.
 */
import type { KeptSession } from "./kept-session.js";
import type { CallParts } from "./tool-call.js";
import type { RequestRoom } from "./in-flight.js";
import type { HideDenied } from "./hidden-tools.js";
import type { ToolPins } from "./pins/tool-pins.js";
import type { ClientNotification, ClientRequest, ClientResponse } from "./message.js";
import type { LocalUpstream } from "./server-process.js";

/** What a router is made of. */
export interface RouterParts extends CallParts {
  readonly upstreams: readonly LocalUpstream[];
  readonly startTimeoutMs: number;
  /** What the texts of servers are held against, if anything. */
  readonly pins?: ToolPins | undefined;
  /** Servers whose tools are left out of lists where the gate denies them in any case. */
  readonly hideDenied?: HideDenied | undefined;
  /** Servers whose annotations count. */
  readonly trustedAnnotations?: ReadonlySet<string> | undefined;
  /** What requests need a place of, beside the router's own. */
  readonly room?: RequestRoom | undefined;
  /** Whether some server wants no more lines for now. */
  readonly onPressure: (on: boolean) => void;
  /** Nothing can be answered any more: every server is gone, and the client knows. */
  readonly onFailed: (reason: string) => void;
}

/** Takes the client's messages; answers through `parts.send`. */
export interface Router {
  take(message: ClientRequest | ClientNotification | ClientResponse): void;
  /** Stops or resumes reading what the servers say. */
  pause(on: boolean): void;
  /**
   * The client is gone: open questions are withdrawn; resolves when every other call has reached
   * its server.
   */
  leave(): Promise<void>;
  /** Ends the servers; resolves when they are gone and every call is over. */
  close(): Promise<void>;
  /** Has servers started anew. Resolves when their processes were told to end. */
  restart(names: ReadonlySet<string>): Promise<void>;
  /** What its client was told to greet; `never` where its requests begin without that. */
  greeting(): KeptSession | "not yet" | "never";
}

/** What a client told the one server that it had, whose router another one follows. */
export interface Told {
  readonly session: KeptSession;
  readonly server: string;
}

/** How long a server may take to answer `initialize`, in milliseconds. */
export function startTimeoutMs({ limits }: LocalUpstream, parts: RouterParts): number {
  return limits?.startTimeoutMs ?? parts.startTimeoutMs;
}
