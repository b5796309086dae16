/**
 * Servers' requests: what one server asked its client under its own ids. A process that follows
 * numbers its requests alike, so an answer that the client owes the last one must not reach it.
 */
import { randomUUID } from "node:crypto";
import { createBoundedIds } from "./bounded-ids.js";
import { replaceValues } from "./json-walk.js";
import { IN_FLIGHT_MAX } from "./limits.js";
import { isRecord, paramsOf } from "./message.js";
import { notificationLine } from "./rpc.js";
import type { RpcId } from "./rpc.js";

/** The requests of one server and of those before it. */
export interface ServersRequests {
  /** The request as the client gets it: under another id where it may still answer this one. */
  ask(id: RpcId, line: Buffer): Buffer;
  /** The answer as its server gets it; `undefined` where the server that asked is gone. */
  answer(id: RpcId, line: Buffer): Buffer | undefined;
  /** The server's cancellation of a request of its own, as the client gets it. */
  cancelled(line: Buffer): Buffer;
  /** The process is gone: the client is told that nobody waits any more. */
  lose(): void;
}

const isId = (value: unknown): value is RpcId =>
  typeof value === "string" || typeof value === "number";

/** Nobody asked yet. */
export function createServersRequests(send: (line: Buffer) => void): ServersRequests {
  const open = new Set<RpcId>();
  /** Of processes that are gone, and what was taken back; the oldest are forgotten. */
  const stale = createBoundedIds(IN_FLIGHT_MAX);
  /** What the server calls a request that the client got under an id of ours. */
  const renamed = new Map<RpcId, RpcId>();
  const add = (id: RpcId): void => {
    if (open.size < IN_FLIGHT_MAX) open.add(id);
  };
  return {
    ask(id, line) {
      if (!stale.has(id) || renamed.size >= IN_FLIGHT_MAX) {
        add(id);
        return line;
      }
      const own = `acp-${randomUUID()}`;
      renamed.set(own, id);
      add(own);
      return replaceValues(line, [{ path: ["id"], value: own }]);
    },
    answer(id, line) {
      if (stale.delete(id)) return undefined;
      open.delete(id);
      const asked = renamed.get(id);
      if (asked === undefined) return line;
      renamed.delete(id);
      return replaceValues(line, [{ path: ["id"], value: asked }]);
    },
    cancelled(line) {
      const params = paramsOf(line);
      const id: unknown = isRecord(params) ? params.requestId : undefined;
      const own = [...renamed].findLast(([, asked]) => asked === id)?.[0];
      const shown = own ?? id;
      // The client may still answer it, and its server may use the id again.
      if (isId(shown) && open.delete(shown)) stale.add(shown);
      if (own === undefined) return line;
      renamed.delete(own);
      return replaceValues(line, [{ path: ["params", "requestId"], value: own }]);
    },
    lose() {
      for (const id of open) {
        stale.add(id);
        const params = { requestId: id, reason: "the server is gone" };
        send(notificationLine("notifications/cancelled", params));
      }
      open.clear();
      renamed.clear();
    },
  };
}
