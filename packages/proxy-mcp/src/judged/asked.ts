/**
 * Asked: what servers said they need before they answer (`input_required`). An answer to that, and
 * the state that comes with it, go only to the server that asked, for what it asked about. Rules:
 * spec/mcp-proxy.md §18.
 */
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
  /** What is wrong with the params of a request that goes on with one; `undefined` where nothing is. */
  problem(target: Pick<Need, "server" | "name">, params: unknown): string | undefined;
  /** The roots among the answers: which folders a client works in is judged. */
  rootsIn(target: Pick<Need, "server" | "name">, params: unknown): readonly unknown[];
}

const NEEDS_MAX = 1_000;

/** Nothing was asked. */
export function createAsked(): Asked {
  const needs: Need[] = [];
  const find = (
    target: Pick<Need, "server" | "name">,
    params: Readonly<Record<string, unknown>>,
  ): Need | undefined => {
    const { requestState } = params;
    const answers = isRecord(params["inputResponses"]) ? Object.keys(params["inputResponses"]) : [];
    return needs.findLast(
      (need) =>
        need.server === target.server &&
        need.name === target.name &&
        need.requestState === requestState &&
        answers.every((key) => need.requests.has(key)),
    );
  };
  return {
    note(need): void {
      needs.push(need);
      if (needs.length > NEEDS_MAX) needs.shift();
    },
    problem(target, params): string | undefined {
      if (!goesOn(params) || find(target, params) !== undefined) return undefined;
      return `server "${target.server}" did not ask this client for these inputResponses with this requestState`;
    },
    rootsIn(target, params): readonly unknown[] {
      if (!goesOn(params) || !isRecord(params["inputResponses"])) return [];
      const need = find(target, params);
      return Object.entries(params["inputResponses"]).flatMap(([key, answer]) =>
        need?.requests.get(key) === "roots/list" ||
        (isRecord(answer) && Object.hasOwn(answer, "roots"))
          ? [answer]
          : [],
      );
    },
  };
}

function goesOn(params: unknown): params is Readonly<Record<string, unknown>> {
  return (
    isRecord(params) &&
    (params["inputResponses"] !== undefined || params["requestState"] !== undefined)
  );
}
