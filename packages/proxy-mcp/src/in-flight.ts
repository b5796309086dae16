/**
 * In flight: the requests of the client that wait for an answer, each in a place of its own and of
 * the room that the proxy shares with others.
 */
import { DENY_CODES } from "@acp/core";
import { deniedResult } from "./call-result.js";
import type { NoticeResult } from "./call-result.js";
import { isJudged } from "./judged/methods.js";
import { IN_FLIGHT_MAX } from "./limits.js";
import type { ClientRequest } from "./message.js";
import { errorLine, INTERNAL_ERROR, INVALID_REQUEST, resultLine } from "./rpc.js";
import type { RpcId } from "./rpc.js";

/** A place for a request, or why there is none. */
export type RequestPlace =
  | {
      /** Why, in one sentence without a period. */
      readonly full: string;
    }
  | {
      /** Gives the place up. */
      readonly leave: () => void;
    };

/** Room for requests that several proxies share, such as those of one client. */
export interface RequestRoom {
  /**
   * Takes a place for a request until it is answered. Without one it is answered with
   * `client_limit_reached`, and nothing of it is judged or logged.
   */
  enter(request: {
    /** Of its line. */
    readonly bytes: number;
    /** Whether the gate judges it, as it does a tool call. */
    readonly isCall: boolean;
  }): RequestPlace;
  /** Whether others have calls under way, or had just now: they wait for what is done in one go. */
  isShared(): boolean;
}

/** Requests by their ids. */
export interface InFlight<T> extends Iterable<readonly [RpcId, T]> {
  size(): number;
  get(id: RpcId): T | undefined;
  /** Puts a request in, or gives the line that it is answered with instead. */
  add(request: ClientRequest, entry: T): Buffer | undefined;
  /** Takes out what is in. */
  delete(id: RpcId): void;
}

/** No request waits. */
export function createInFlight<T>(room?: RequestRoom): InFlight<T> {
  const entries = new Map<RpcId, T>();
  const places = new Map<RpcId, () => void>();
  return {
    size: () => entries.size,
    get: (id) => entries.get(id),
    add(request, entry) {
      const { id, method, line } = request;
      if (entries.has(id)) return idInUse(id);
      if (entries.size >= IN_FLIGHT_MAX)
        return refusal(id, INTERNAL_ERROR, `${IN_FLIGHT_MAX} are waiting for an answer`);
      const place = room?.enter({ bytes: line.length, isCall: isJudged(method) });
      if (place !== undefined && "full" in place) return fullLine(request, place.full);
      entries.set(id, entry);
      if (place !== undefined) places.set(id, place.leave);
      return undefined;
    },
    delete(id) {
      entries.delete(id);
      places.get(id)?.();
      places.delete(id);
    },
    [Symbol.iterator]: () => entries[Symbol.iterator](),
  };
}

/** The answer to a request whose answer could not be told from another one's. */
export function idInUse(id: RpcId): Buffer {
  return refusal(id, INVALID_REQUEST, "its id is in use");
}

function refusal(id: RpcId, code: number, why: string): Buffer {
  return errorLine(id, { code, message: `Cannot accept the request: ${why}` });
}

const FULL = "client_limit_reached";

/** The denial of what has no place in a room. */
export function fullResult(reason: string): NoticeResult {
  return deniedResult({ decision: "deny", code: FULL, reason, ...DENY_CODES[FULL] });
}

/** A denial of a call, an error of any other request. */
function fullLine({ id, method }: ClientRequest, reason: string): Buffer {
  if (method === "tools/call") return resultLine(id, fullResult(reason));
  return errorLine(id, {
    code: INTERNAL_ERROR,
    message: `Cannot accept the request: ${reason}`,
    data: { code: FULL, retryable: true },
  });
}
