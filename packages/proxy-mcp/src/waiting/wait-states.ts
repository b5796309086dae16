/**
 * Wait states: the `requestState` with which a stateless client comes back after it was told that a
 * person has to answer. A state is 32 random bytes, works once, for the request that it was given for,
 * until the question's end, and for the client that got it: another connection knows nothing of it.
 * Source: MCP 2026-07-28, "Multi Round-Trip Requests".
 */
import { createHash, randomBytes } from "node:crypto";
import { textOf, findValue, splice } from "../json-walk.js";
import { isRecord } from "../message.js";
import type { ClientRequest } from "../message.js";

/** Key of the question among the `inputRequests`. */
export const APPROVAL_KEY = "acp_approval";

/** Whose state it is, and until when. */
interface Given {
  readonly requestId: string;
  readonly expiresAtMs: number;
  /** SHA-256 of what was asked for. */
  readonly digest: string;
  isUsed: boolean;
}

/** What a request with a state is. */
export type Resumed =
  /** No state of ours: whose it is others know. */
  | { readonly kind: "other" }
  | { readonly kind: "refused"; readonly why: string }
  | { readonly kind: "declined"; readonly requestId: string }
  /** The request without what is the proxy's own. */
  | { readonly kind: "goes_on"; readonly request: ClientRequest };

/** The states of one client. */
export interface WaitStates {
  give(
    request: Pick<ClientRequest, "method" | "line">,
    question: Pick<Given, "requestId" | "expiresAtMs">,
  ): string;
  resume(request: ClientRequest): Resumed;
  clear(): void;
}

const STATES_MAX = 1_000;
/** Members of the params that are about one round, not about what is asked for. */
const OF_ROUND: ReadonlySet<string> = new Set(["requestState", "inputResponses"]);

/** What is asked for, as written: name or URI, and arguments. `_meta` differs in each round. */
function digestOf({ method, line }: Pick<ClientRequest, "method" | "line">): string {
  const hash = createHash("sha256").update(method);
  for (const key of ["name", "uri", "arguments"]) {
    const span = findValue(line, ["params", key]);
    hash.update(`\n${key} ${span === undefined ? "" : textOf(line, span)}`);
  }
  return hash.digest("hex");
}

/** The request without its state and its answers; every other byte of it stays. */
function withoutRound(request: ClientRequest, params: object): ClientRequest {
  const { line } = request;
  const span = findValue(line, ["params"]);
  const kept = Object.entries(params).filter(([key]) => !OF_ROUND.has(key));
  const texts = kept.flatMap(([key]) => {
    const value = findValue(line, ["params", key]);
    return value === undefined ? [] : [`${JSON.stringify(key)}:${textOf(line, value)}`];
  });
  if (span === undefined) return request;
  return {
    ...request,
    params: Object.fromEntries(kept),
    line: splice(line, [{ ...span, text: `{${texts.join(",")}}` }]),
  };
}

function declines(params: Readonly<Record<string, unknown>>): boolean {
  const answers = params["inputResponses"];
  const answer = isRecord(answers) ? answers[APPROVAL_KEY] : undefined;
  return isRecord(answer) && answer["action"] === "decline";
}

/** None was given yet. */
export function createWaitStates(now: () => number, statesMax: number = STATES_MAX): WaitStates {
  const given = new Map<string, Given>();
  return {
    give(request, { requestId, expiresAtMs }) {
      const state = `acp.${randomBytes(32).toString("base64url")}`;
      given.set(state, { requestId, expiresAtMs, digest: digestOf(request), isUsed: false });
      for (const oldest of given.keys()) {
        if (given.size <= statesMax) break;
        given.delete(oldest);
      }
      return state;
    },
    resume(request) {
      const { params } = request;
      const state = isRecord(params) ? params["requestState"] : undefined;
      const found = typeof state === "string" ? given.get(state) : undefined;
      if (!isRecord(params) || found === undefined) return { kind: "other" };
      if (found.isUsed) return { kind: "refused", why: "it was used before" };
      if (found.digest !== digestOf(request))
        return { kind: "refused", why: "it was given for another request" };
      found.isUsed = true;
      if (now() >= found.expiresAtMs) return { kind: "refused", why: "its question is over" };
      if (declines(params)) return { kind: "declined", requestId: found.requestId };
      return { kind: "goes_on", request: withoutRound(request, params) };
    },
    clear: () => given.clear(),
  };
}
