/**
 * Elicitations: the proxy's own `elicitation/create` requests, mode `url`, to a stateful client. What
 * the client answers is its user's word about opening a page, never consent. Source: MCP 2025-11-25,
 * "Elicitation". Rules: spec/mcp-proxy.md §20.
 */
import { randomUUID } from "node:crypto";
import { isRecord, resultOf } from "../message.js";
import type { ClientResponse } from "../message.js";
import { notificationLine, requestLine } from "../rpc.js";
import type { RpcId } from "../rpc.js";

/** What is asked of the client. */
export interface Elicitation {
  readonly url: string;
  readonly message: string;
  /** Its user said no. */
  onDecline(): void;
}

/** Those of one client. */
export interface Elicitations {
  /** Asks; what it returns says that the question is over. */
  ask(elicitation: Elicitation): () => void;
  /** Takes the client's answer; false where it answers nothing of ours. */
  take(response: ClientResponse): boolean;
  clear(): void;
}

/** Answers that come after the question's end are still ours. */
const ENDED_MAX = 1_000;

/** None are open. */
export function createElicitations(send: (line: Buffer) => void): Elicitations {
  /** By the ids of their requests; `undefined`: over, and not answered yet. */
  const asked = new Map<RpcId, Elicitation | undefined>();
  const forgetOldest = (): void => {
    for (const [id, elicitation] of asked) {
      if (asked.size <= ENDED_MAX) return;
      if (elicitation === undefined) asked.delete(id);
    }
  };
  return {
    ask(elicitation) {
      const { url, message } = elicitation;
      // Servers' requests have ids of their own choice, and cannot guess this one.
      const id = `acp-${randomUUID()}`;
      const elicitationId = randomUUID();
      asked.set(id, elicitation);
      const params = { mode: "url", elicitationId, url, message };
      send(requestLine(id, "elicitation/create", params));
      return () => {
        const isOpen = asked.get(id) !== undefined;
        if (isOpen) {
          asked.set(id, undefined);
          forgetOldest();
          const reason = "The question is over";
          send(notificationLine("notifications/cancelled", { requestId: id, reason }));
        }
        send(notificationLine("notifications/elicitation/complete", { elicitationId }));
      };
    },
    take({ id, line }) {
      if (!asked.has(id)) return false;
      const elicitation = asked.get(id);
      asked.delete(id);
      const result = resultOf(line);
      if (isRecord(result) && result["action"] === "decline") elicitation?.onDecline();
      return true;
    },
    clear: () => asked.clear(),
  };
}
