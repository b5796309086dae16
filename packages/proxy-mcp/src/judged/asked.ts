/**
 * Asked: what servers said they need before they answer (`input_required`). An answer to that, and
 * the state that comes with it, go only to the server that asked, for what it asked about. Rules:
 * spec/mcp-proxy.md §18.
 */
import { createHash } from "node:crypto";
import { replaceValues } from "../json-walk.js";
import { isRecord } from "../message.js";

/** What a server needs, and for which tool or reserved name. */
export interface Need {
  readonly server: string;
  readonly name: string;
  readonly requestState: string | undefined;
  /** Methods by their keys. */
  readonly requests: ReadonlyMap<string, string>;
}

/** The needs of one client's servers. */
export interface Asked {
  /** The client is told. */
  note(need: Need): void;
  /**
   * The request without answers to what nobody asked: a server would ignore them, so it need not see
   * them.
   */
  leaveOut(request: Pick<Answering, "line" | "params">): Answering;
  /** What is wrong with the params of a request that goes on with one; `undefined` where nothing is. */
  problem(target: Pick<Need, "server" | "name">, params: unknown): string | undefined;
  /** The roots among the answers: which folders a client works in is judged. */
  rootsIn(target: Pick<Need, "server" | "name">, params: unknown): readonly unknown[];
}

/** A request that goes on with one. */
export interface Answering {
  readonly line: Buffer;
  readonly params: unknown;
}

const NEEDS_MAX = 1_000;

/** What is kept of a text of a server, which may have megabytes. */
const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");
const stateOf = (state: unknown): string | undefined =>
  typeof state === "string" ? hashOf(state) : undefined;

/** The newest that a request may go on with. */
function findNeed(
  needs: readonly Need[],
  target: Pick<Need, "server" | "name">,
  params: Readonly<Record<string, unknown>>,
): Need | undefined {
  const { requestState: given } = params;
  if (given !== undefined && typeof given !== "string") return undefined;
  const requestState = stateOf(given);
  const answers = isRecord(params["inputResponses"])
    ? Object.keys(params["inputResponses"]).map(hashOf)
    : [];
  return needs.findLast(
    (need) =>
      need.server === target.server &&
      need.name === target.name &&
      need.requestState === requestState &&
      answers.every((key) => need.requests.has(key)),
  );
}

/** Nothing was asked. */
export function createAsked(): Asked {
  /** With hashes for the texts. */
  const needs: Need[] = [];
  return {
    note(need): void {
      const { server, name, requestState, requests } = need;
      needs.push({
        server,
        name,
        requestState: stateOf(requestState),
        requests: new Map([...requests].map(([key, method]) => [hashOf(key), method])),
      });
      if (needs.length > NEEDS_MAX) needs.shift();
    },
    leaveOut({ line, params }): Answering {
      if (!isRecord(params) || !isRecord(params["inputResponses"])) return { line, params };
      const requestState = stateOf(params["requestState"]);
      const isAsked = (key: string): boolean =>
        needs.some((need) => need.requestState === requestState && need.requests.has(hashOf(key)));
      const answers = Object.entries(params["inputResponses"]);
      const kept = answers.filter(([key]) => isAsked(key));
      if (kept.length === answers.length) return { line, params };
      const inputResponses = Object.fromEntries(kept);
      const path = ["params", "inputResponses"];
      return {
        line: replaceValues(line, [{ path, value: inputResponses }]),
        params: { ...params, inputResponses },
      };
    },
    problem(target, params): string | undefined {
      if (!goesOn(params) || findNeed(needs, target, params) !== undefined) return undefined;
      return `server "${target.server}" did not ask this client for these inputResponses with this requestState`;
    },
    rootsIn(target, params): readonly unknown[] {
      if (!goesOn(params) || !isRecord(params["inputResponses"])) return [];
      const need = findNeed(needs, target, params);
      return Object.entries(params["inputResponses"]).flatMap(([key, answer]) =>
        need?.requests.get(hashOf(key)) === "roots/list" ||
        (isRecord(answer) && Object.hasOwn(answer, "roots"))
          ? [answer]
          : [],
      );
    },
  };
}

function goesOn(params: unknown): params is Readonly<Record<string, unknown>> {
  if (!isRecord(params)) return false;
  const { inputResponses, requestState } = params;
  return (
    requestState !== undefined ||
    (isRecord(inputResponses) && Object.keys(inputResponses).length > 0)
  );
}
