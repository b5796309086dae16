/**
 * What the parts of the router for one server share, and what the proxy itself asks of that server.
 */
import { randomUUID } from "node:crypto";
import type { BoundedIds } from "./bounded-ids.js";
import type { CallLimits } from "./call-limits.js";
import type { Catalog } from "./catalog.js";
import type { Presented } from "./pins/presented.js";
import { beingReplaced, drain } from "./change/drain.js";
import type { ServerFailure } from "./failure.js";
import type { HeldCalls } from "./held-calls.js";
import type { InFlight } from "./in-flight.js";
import type { ServerSide } from "./judged/server-side.js";
import type { Subscriptions } from "./judged/subscriptions.js";
import { LIST_TIMEOUT_MS } from "./limits.js";
import type { Returning } from "./returning.js";
import type { Router, RouterParts } from "./router.js";
import { requestLine } from "./rpc.js";
import type { RpcId } from "./rpc.js";
import type { ToolCall } from "./tool-call.js";

/** A request that waits for its answer. */
export interface Waiting {
  readonly method: string;
  readonly params: unknown;
  /** Set for what is judged. */
  call?: ToolCall | undefined;
  /** Set while it is at the server. */
  onAnswer?: ((line: Buffer) => void) | undefined;
  /** Ends the watch over the start, and the judging of what its answer asks for. */
  stop?: AbortController;
}

/** What the parts of this router share. */
export interface SingleState {
  readonly parts: RouterParts;
  readonly catalog: Catalog;
  readonly presented: Presented;
  readonly calls: HeldCalls;
  readonly waiting: InFlight<Waiting>;
  /** The proxy's own requests; their ids start with `ownPrefix`, which the client cannot guess. */
  readonly own: Map<RpcId, (line: Buffer | undefined) => void>;
  readonly ownPrefix: string;
  readonly side: ServerSide;
  readonly subscriptions: Subscriptions<string>;
  readonly upstream: Returning;
  /** Why nothing new is sent to it. */
  retired: ServerFailure | undefined;
  /** Nothing at all is sent any more. */
  isEnded: boolean;
  /** Aborts when the client is gone. */
  readonly over: AbortController;
  readonly limits: CallLimits | undefined;
  readonly startTimeoutMs: number;
  /** Calls that timed out, until their server answers. */
  readonly expired: BoundedIds;
  /** The server answered something. */
  greeted: boolean;
  /** It answered what nobody waits for, and the log says so. */
  dropped: boolean;
  /** As the server named them in `initialize`. */
  capabilities: Readonly<Record<string, unknown>>;
  handshakeOver: boolean;
}

/** What its client was told to greet. */
export function greetingOf({ upstream, greeted }: SingleState): ReturnType<Router["greeting"]> {
  const session = upstream.session();
  const greeting = session.greeting();
  if (greeting === undefined) return greeted ? "never" : "not yet";
  return greeting.version === undefined ? "not yet" : session;
}

/** Nothing new is sent; what the server has, it may answer for some seconds. */
export async function rest(state: SingleState): Promise<void> {
  const { upstream, parts, waiting, over } = state;
  state.retired = beingReplaced(upstream.name);
  const isOwed = ([, { call, onAnswer }]: readonly [RpcId, Waiting]): boolean =>
    call === undefined || onAnswer !== undefined;
  await drain(parts.clock, () => Array.from(waiting).some(isOwed), over.signal);
}

/** Gives a server up that does not answer `initialize` in time. */
export function watchStart(state: SingleState, id: RpcId): AbortController {
  const { parts, upstream, waiting } = state;
  const stop = new AbortController();
  const late = async (): Promise<void> => {
    await parts.clock.sleep(state.startTimeoutMs, { signal: stop.signal });
    if (waiting.get(id) !== undefined)
      upstream.giveUp(
        `Server "${upstream.name}" did not answer "initialize" within ${state.startTimeoutMs} ms`,
      );
  };
  late().catch(() => {});
  return stop;
}

/** One page of the server's tools, asked by the proxy itself. */
export async function ownList(
  { own, ownPrefix, upstream, parts }: SingleState,
  cursor: string | undefined,
  era: { readonly _meta?: object },
): Promise<Buffer | undefined> {
  const id = `${ownPrefix}${randomUUID()}`;
  const stop = new AbortController();
  const answer = new Promise<Buffer | undefined>((resolve) => {
    own.set(id, resolve);
  });
  upstream.send(requestLine(id, "tools/list", { ...era, ...(cursor !== undefined && { cursor }) }));
  const late = parts.clock.sleep(LIST_TIMEOUT_MS, { signal: stop.signal }).then(
    () => undefined,
    () => undefined,
  );
  const line = await Promise.race([answer, late]);
  own.delete(id);
  stop.abort(new Error("the list is over"));
  return line;
}
