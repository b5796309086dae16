/**
 * Subscriptions: the resources that a client subscribed to. Each is a stream of news from a server,
 * so there are only so many. Rules: spec/mcp-proxy.md §18.
 */
import { reservedName } from "@acp/core";
import { resultOf } from "../message.js";
import type { KeptMessage, SubscribeEffect } from "../kept-session.js";
import { effectOf } from "./effect-of.js";

/** The subscriptions of one client; `T` says whose a resource is. */
export interface Subscriptions<T> {
  /** Takes a place for one before the gate is asked. */
  enter(uri: unknown, owner: T): SubscriptionPlace;
  ownerOf(uri: unknown): T | undefined;
  forget(uri: unknown): void;
  /** All of one owner become another's, or nobody's. */
  hand(owner: T, to: T | undefined): void;
}

/** A place, or why there is none. */
export type SubscriptionPlace =
  | { readonly full: string }
  | {
      /** The server has the request: the place is kept. */
      sent(): void;
      /** False where its server refused it, and the place is free. */
      answered(line: Buffer): boolean;
      /** The request is over; its place is free unless it was sent, or another has it. */
      over(): void;
    };

/** What the rules say of a client's subscriptions to the resources of a server now. */
export const subscribeEffectOf =
  (parts: Parameters<typeof effectOf>[0], server: string): SubscribeEffect =>
  (uri) =>
    effectOf(parts, { server, tool: reservedName("resources/subscribe"), args: { uri } });

/** What ends a subscription for the process that follows. */
export const unsubscribed = (params: unknown, line: Buffer): KeptMessage => ({
  method: "resources/unsubscribe",
  params,
  line,
});

/** Resources that one client may be subscribed to. */
export const SUBSCRIPTIONS_MAX = 1_000;

/** None yet. */
export function createSubscriptions<T>(max: number = SUBSCRIPTIONS_MAX): Subscriptions<T> {
  const owners = new Map<string, T>();
  return {
    enter(uri, owner) {
      const isNew = typeof uri === "string" && !owners.has(uri);
      if (isNew && owners.size >= max)
        return { full: `Cannot subscribe: this client is subscribed to ${max} resources already` };
      if (isNew) owners.set(uri, owner);
      let isSent = false;
      return {
        sent(): void {
          isSent = true;
        },
        answered(line): boolean {
          const isTaken = resultOf(line) !== undefined;
          if (isNew && !isTaken) owners.delete(uri);
          return isTaken;
        },
        over(): void {
          if (isNew && !isSent) owners.delete(uri);
        },
      };
    },
    ownerOf: (uri) => (typeof uri === "string" ? owners.get(uri) : undefined),
    hand: (owner, to) => handOver(owners, owner, to),
    forget: (uri) => void (typeof uri === "string" && owners.delete(uri)),
  };
}

/** Everything of one owner becomes another's, or nobody's. */
export function handOver<K, T>(owners: Map<K, T>, owner: T, to: T | undefined): void {
  for (const [key, each] of owners) {
    if (each !== owner) continue;
    if (to === undefined) owners.delete(key);
    else owners.set(key, to);
  }
}
