/**
 * Clients: who has which sessions. A session works for the credentials that opened it and for no others;
 * where a client has too many, the one ends that nobody reads, because a client that crashed leaves
 * some behind.
 */
import type { EventEmitter } from "node:events";
import type { Agent, Clock } from "@acp/core";
import { IDLE_MS } from "./limits.js";

/** Whose requests these are. */
export interface McpCaller {
  /** Rules, limits and the log see its id. */
  readonly agent: Agent;
  /** Stands for its credentials, and is never shown: what belongs to one key works with no other. */
  readonly key: string;
}

/** What a client has, besides others of the same. */
export interface Held {
  /** How a request names it; a client's stateless requests name nothing. */
  readonly id: string;
  readonly kind: "session" | "sse" | "stateless";
  readonly connections: () => number;
  comment(): void;
  /** @param isCut - Also what was sent and is not judged yet. */
  end(isCut?: boolean): void;
}

/** Everything that is open, by its client. */
export interface Clients<T extends Held> {
  /** What a client has of this id; nothing where it is another's. */
  find(caller: McpCaller, id: string): T | undefined;
  /** Makes room for one more; false where everything of the client is in use. */
  hasRoom(caller: McpCaller): boolean;
  add(caller: McpCaller, held: T): void;
  remove(held: T): void;
  /** Something was asked of it. */
  touch(held: T): void;
  /** Counts a request that is being answered; false where the client has too many. */
  enter(caller: McpCaller, response: Pick<EventEmitter, "once">): boolean;
  /** Ends what nobody reads, or whose credentials do not work any more. */
  sweep(holds: (key: string) => boolean): void;
  readonly all: () => readonly T[];
}

interface Entry<T> {
  readonly held: T;
  readonly key: string;
  usedMs: number;
}

/** Nobody is there. */
export function createClients<T extends Held>(
  clock: Pick<Clock, "monotonic">,
  limits: { readonly sessions: number; readonly open: number; readonly idleMs?: number },
): Clients<T> {
  const { idleMs = IDLE_MS } = limits;
  const entries = new Map<string, Entry<T>>();
  const open = new Map<string, number>();
  const ofKey = (key: string): readonly Entry<T>[] =>
    [...entries.values()].filter((entry) => entry.key === key);
  const end = ({ held }: Entry<T>, isCut = false): void => {
    entries.delete(held.id);
    held.end(isCut);
  };
  return {
    find({ key }, id) {
      const entry = entries.get(id);
      return entry?.key === key ? entry.held : undefined;
    },
    hasRoom({ key }) {
      const own = ofKey(key);
      if (own.length < limits.sessions) return true;
      const idle = own.filter(({ held }) => held.connections() === 0);
      const [oldest] = idle.toSorted((one, other) => one.usedMs - other.usedMs);
      if (oldest === undefined) return false;
      end(oldest);
      return true;
    },
    add: ({ key }, held) => void entries.set(held.id, { held, key, usedMs: clock.monotonic() }),
    remove(held) {
      if (entries.get(held.id)?.held === held) entries.delete(held.id);
    },
    touch({ id }) {
      const entry = entries.get(id);
      if (entry !== undefined) entry.usedMs = clock.monotonic();
    },
    enter({ key }, response) {
      const count = open.get(key) ?? 0;
      if (count >= limits.open) return false;
      open.set(key, count + 1);
      response.once("close", () => {
        const left = (open.get(key) ?? 1) - 1;
        if (left === 0) open.delete(key);
        else open.set(key, left);
      });
      return true;
    },
    sweep(holds) {
      for (const entry of entries.values()) {
        if (entry.held.connections() > 0) entry.usedMs = clock.monotonic();
        if (!holds(entry.key)) end(entry, true);
        else if (clock.monotonic() - entry.usedMs >= idleMs) end(entry);
      }
    },
    all: () => [...entries.values()].map(({ held }) => held),
  };
}
