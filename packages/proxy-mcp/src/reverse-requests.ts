/**
 * Reverse requests: what servers ask of the client (sampling, elicitation, roots, ping). With
 * several servers each gets an id of the proxy's own, and so does its progress token, because
 * servers number their requests alike.
 */
import { randomInt } from "node:crypto";
import { nameServer } from "./judged/name-server.js";
import { replaceValues } from "./json-walk.js";
import { isRecord, paramsOf, progressTokenOf } from "./message.js";
import type { Peer } from "./peer.js";
import type { RpcId } from "./rpc.js";

/** The servers' requests that the client has not answered. */
export interface ReverseRequests {
  /** The request's line as the client gets it; `onAnswer` gets the answer under the server's id. */
  outward(
    asker: { readonly peer: Peer; readonly id: RpcId },
    line: Buffer,
    onAnswer: (line: Buffer) => void,
  ): Buffer;
  /** Hands the client's answer on; false where nobody asked. */
  answer(id: RpcId, line: Buffer): boolean;
  /** Hands the client's progress to the server that asked. */
  progress(params: unknown, line: Buffer): void;
  /**
   * A server's cancellation of its own request as the client gets it; `undefined` where it is not
   * open.
   */
  cancelled(peer: Peer, params: unknown, line: Buffer): Buffer | undefined;
  /** A server is gone. */
  forget(peer: Peer): void;
}

interface Asked {
  readonly peer: Peer;
  readonly id: RpcId;
  readonly token: RpcId | undefined;
  readonly onAnswer: (line: Buffer) => void;
}

const TOKEN_PATH = ["params", "_meta", "progressToken"];

/** Ids of a router that follows another: its client may still answer what that one passed on. */
const LATER_IDS = 2 ** 40;

/**
 * No requests yet.
 *
 * @param isLater - Whether its client has heard of requests under other ids before.
 */
export function createReverseRequests(isLater = false): ReverseRequests {
  const asked = new Map<RpcId, Asked>();
  let nextId = isLater ? LATER_IDS + randomInt(2 ** 40) : 1;
  return {
    outward({ peer, id }, line, onAnswer): Buffer {
      const own = nextId++;
      asked.set(own, { peer, id, token: progressTokenOf(paramsOf(line)), onAnswer });
      return replaceValues(nameServer(peer.name, line), [
        { path: ["id"], value: own },
        { path: TOKEN_PATH, value: own },
      ]);
    },
    answer(id, line): boolean {
      const request = asked.get(id);
      if (request === undefined) return false;
      asked.delete(id);
      request.onAnswer(replaceValues(line, [{ path: ["id"], value: request.id }]));
      return true;
    },
    progress(params, line): void {
      const own: unknown = isRecord(params) ? params.progressToken : undefined;
      const request = typeof own === "number" ? asked.get(own) : undefined;
      if (request?.token === undefined) return;
      request.peer.send(
        replaceValues(line, [{ path: ["params", "progressToken"], value: request.token }]),
      );
    },
    cancelled(peer, params, line): Buffer | undefined {
      const id: unknown = isRecord(params) ? params.requestId : undefined;
      const own = [...asked].find(([, request]) => request.peer === peer && request.id === id)?.[0];
      if (own === undefined) return undefined;
      asked.delete(own);
      return replaceValues(line, [{ path: ["params", "requestId"], value: own }]);
    },
    forget(peer): void {
      for (const [own, request] of asked) if (request.peer === peer) asked.delete(own);
    },
  };
}
