/**
 * Request states: a server that needs more before it answers gives its client a state, which comes
 * back with the next request. Whose it is only the server knows, if at all; here it works for nobody
 * but the client that it was given to.
 */
import { createHash } from "node:crypto";
import { isRecord, resultOf } from "../message.js";
import { STATES_MAX } from "./limits.js";

/** Which states which client was given. */
export interface RequestStates {
  /** Takes an answer's line as a client gets it. */
  learn(key: string, line: Buffer): void;
  /** Whether a request with these params may pass. What was not given here may not. */
  admits(key: string, params: unknown): boolean;
}

const MEMBER = '"requestState"';

/** None was given yet. */
export function createRequestStates(statesMax: number = STATES_MAX): RequestStates {
  const given = new Map<string, Set<string>>();
  return {
    learn(key, line) {
      if (!line.includes(MEMBER)) return;
      const result = resultOf(line);
      const state = isRecord(result) ? result["requestState"] : undefined;
      if (typeof state !== "string") return;
      const own = given.get(key) ?? new Set();
      given.set(key, own.add(digestOf(state)));
      for (const oldest of own) {
        if (own.size <= statesMax) break;
        own.delete(oldest);
      }
    },
    admits(key, params) {
      if (!isRecord(params) || !Object.hasOwn(params, "requestState")) return true;
      const state = params["requestState"];
      return typeof state === "string" && given.get(key)?.has(digestOf(state)) === true;
    },
  };
}

const digestOf = (state: string): string => createHash("sha256").update(state).digest("base64");
