/**
 * Changes among several servers while their client goes on: some are added, some removed, some take
 * another one's place, some are started anew. Rules: spec/mcp-proxy.md §22.
 */
import { announce } from "../announce.js";
import type { ServerFailure } from "../failure.js";
import { greet } from "../greet.js";
import type { KeptMessage } from "../kept-session.js";
import { joinLate } from "../late-servers.js";
import type { ManyState } from "../many-state.js";
import { isRecord, readClientLine } from "../message.js";
import type { Peer } from "../peer.js";
import type { RouterParts, Told } from "../router.js";
import type { LocalUpstream } from "../server-process.js";
import { beingReplaced, drain } from "./drain.js";

/** What the servers are from now on. */
export interface Change {
  /** All of them, in their order. */
  readonly upstreams: readonly LocalUpstream[];
  /** Names of those that are others than before under the same name. */
  readonly changed: ReadonlySet<string>;
  /** What holds for those that are new or changed. */
  readonly parts: ChangedParts;
}

/** Parts of a router that a change brings. */
export type ChangedParts = Pick<RouterParts, "pins" | "trustedAnnotations">;

/** Starts one of them. */
export type StartPeer = (config: LocalUpstream, parts: ChangedParts) => Peer;

/** Resolves when what had to end has ended; what was added joins when it is up. */
export async function changeMany(
  state: ManyState,
  { upstreams, changed, parts }: Change,
  startPeer: StartPeer,
): Promise<void> {
  const names = new Set(upstreams.map(({ name }) => name));
  const before = state.peers;
  const known = before[0]?.session().messages().filter(isForAll) ?? [];
  const leaving = before.filter(({ name }) => !names.has(name) || changed.has(name));
  await Promise.all(leaving.map((peer) => end(state, peer, names.has(peer.name))));
  // The client left meanwhile: nobody would end what is started now.
  if (state.over.signal.aborted) return;
  const staying = new Map(
    before.filter((peer) => !leaving.includes(peer)).map((peer) => [peer.name, peer]),
  );
  const added: Peer[] = [];
  state.peers = upstreams.map((config) => {
    const peer = staying.get(config.name) ?? startPeer(config, parts);
    if (!staying.has(config.name)) added.push(peer);
    return peer;
  });
  for (const peer of added) {
    const old = leaving.find(({ name }) => name === peer.name);
    if (old !== undefined) takeOver(state, old, peer);
    join(state, peer, old === undefined ? known : old.session().messages());
  }
}

/**
 * Goes on for a client that was greeted with one server: all servers are late ones. What that one
 * was subscribed to goes on being of the server of its name.
 */
export function follow(state: ManyState, { session, server }: Told): void {
  const kept = session.greeting();
  const request = kept === undefined ? undefined : readClientLine(kept.line);
  if (kept?.version === undefined || request?.kind !== "request") return;
  state.greeting = { request, version: kept.version };
  state.told = true;
  state.handshakeOver = session.initialized() !== undefined;
  state.isOpenEnded = true;
  const told = session.messages();
  for (const peer of state.peers) {
    if (peer.name === server) resubscribe(state, peer, told);
    join(state, peer, peer.name === server ? told : told.filter(isForAll));
  }
}

function resubscribe({ subscriptions }: ManyState, peer: Peer, told: readonly KeptMessage[]): void {
  for (const { method, params } of told) {
    if (method !== "resources/subscribe" || !isRecord(params)) continue;
    const place = subscriptions.enter(params["uri"], peer);
    if ("sent" in place) place.sent();
  }
}

const isForAll = ({ method }: KeptMessage): boolean => method !== "resources/subscribe";

/** Has some of them started anew. Resolves when their processes were told to end. */
export async function restartMany(state: ManyState, names: ReadonlySet<string>): Promise<void> {
  const found = state.peers.filter(({ name }) => names.has(name));
  await Promise.all(
    found.map(async (peer) => {
      const { reason } = beingReplaced(peer.name);
      peer.retire(beingReplaced(peer.name));
      await drain(state.parts.clock, peer.isBusy, state.over.signal);
      peer.replace(reason);
      peer.retire(undefined);
    }),
  );
}

/** Greets a server whose client was greeted before it was there. */
export function join(state: ManyState, peer: Peer, told: readonly KeptMessage[]): void {
  const { greeting } = state;
  if (greeting === undefined) return;
  for (const message of told) peer.keep(message);
  void joinLate(state, { peer, answer: greet(state, peer, greeting) }, greeting);
}

/** It gets nothing new; what it has, it may finish for some seconds. Each call ends once. */
async function end(state: ManyState, peer: Peer, isReplaced: boolean): Promise<void> {
  const { parts, routes, subscriptions, calls } = state;
  const { name, capabilities } = peer;
  const why: ServerFailure = isReplaced ? beingReplaced(name) : removed(name);
  peer.retire(why);
  if (!isReplaced) announceGone(state, capabilities);
  await drain(parts.clock, peer.isBusy, state.over.signal);
  await peer.close();
  state.reverse.forget(peer, parts.send);
  state.requests.forget(name);
  state.listed.delete(peer);
  await calls.fail(why);
  if (isReplaced) return;
  routes.hand(peer, undefined);
  subscriptions.hand(peer, undefined);
  parts.log(why.reason);
}

const removed = (server: string): ServerFailure => ({
  server,
  reason: `Server "${server}" was removed from the configuration`,
});

function announceGone(
  { handshakeOver, parts }: ManyState,
  capabilities: Peer["capabilities"],
): void {
  if (handshakeOver) announce(capabilities, parts.send);
}

/** What one owned is the other's: nobody else may answer for it meanwhile. */
function takeOver({ routes, subscriptions }: ManyState, old: Peer, peer: Peer): void {
  routes.hand(old, peer);
  subscriptions.hand(old, peer);
}
