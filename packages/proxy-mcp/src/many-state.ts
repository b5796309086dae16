/**
 * What the parts of the router for several servers share.
 */
import type { HeldCalls } from "./held-calls.js";
import type { ServerRequests } from "./judged/server-requests.js";
import type { Subscriptions } from "./judged/subscriptions.js";
import type { InFlight } from "./in-flight.js";
import type { ClientRequest } from "./message.js";
import type { Peer, SentRequest } from "./peer.js";
import type { ReverseRequests } from "./reverse-requests.js";
import type { RouterParts } from "./router.js";
import type { Routes } from "./routes.js";
import type { ToolCall } from "./tool-call.js";

/** A request of the client that is not answered yet. */
export interface OpenRequest {
  readonly sent: { readonly peer: Peer; readonly id: number }[];
  call?: ToolCall | undefined;
  cancelled: boolean;
  /** Ends the judging of what its answer asks for. */
  stop?: AbortController;
}

/** What a server is asked. */
export interface Greeting {
  readonly request: ClientRequest;
  /** The version to ask for instead of the client's. */
  readonly version?: string | undefined;
}

/** What the parts of this router share. */
export interface ManyState {
  readonly parts: RouterParts;
  /** In the order of the configuration. */
  peers: readonly Peer[];
  readonly calls: HeldCalls;
  readonly routes: Routes<Peer>;
  readonly requests: ServerRequests;
  readonly subscriptions: Subscriptions<Peer>;
  /** The proxy's own lists of a server's resources, where the client asked for none it knew. */
  readonly listed: Map<Peer, Promise<void>>;
  readonly reverse: ReverseRequests;
  readonly open: InFlight<OpenRequest>;
  /** What `initialize` was answered with a result to; its line is a copy. */
  greeting: (Greeting & { readonly version: string }) | undefined;
  /** `initialize` was answered, perhaps with an error. */
  told: boolean;
  handshakeOver: boolean;
  /** Some server was late: what it can do was declared before anybody knew. */
  isOpenEnded: boolean;
  /** Aborts when the client is gone. */
  readonly over: AbortController;
}

/** Sends a client's request on to a peer, so that its cancellation finds it. */
export function askFor(
  open: OpenRequest,
  peer: Peer,
  request: { readonly build: (id: number) => Buffer; readonly token?: Parameters<Peer["ask"]>[1] },
): SentRequest {
  const sent = peer.ask(request.build, request.token);
  open.sent.push({ peer, id: sent.id });
  return sent;
}
