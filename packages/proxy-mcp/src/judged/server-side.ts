/**
 * What the one server of a client says besides its answers, and what the client answers to it. Ids
 * are the server's own, but where a process that is gone asked under the same one. Rules:
 * spec/mcp-proxy.md §6 and §18.
 */
import { ODD_MEMBER, textOf } from "../json-walk.js";
import { isRecord, membersOfLine, paramsOf, readServerLine } from "../message.js";
import type { ServerMessage } from "../message.js";
import type { RpcId } from "../rpc.js";
import { createServersRequests } from "../servers-requests.js";
import type { Judging } from "./judging.js";
import { isServersMethod } from "./methods.js";
import { createServerRequests } from "./server-requests.js";
import type { ServerRequestsParts } from "./server-requests.js";

/** The server's own messages, and the client's answers to them. */
export interface ServerSide {
  take(message: ServerMessage, line: Buffer): void;
  /** The client answers; what nobody asked goes nowhere. */
  answer(id: RpcId, line: Buffer): void;
  /** The process is gone. */
  lose(): void;
  /** The client is gone. */
  leave(): void;
}

/** Parts of {@link createServerSide}. */
export interface ServerSideParts {
  readonly parts: ServerRequestsParts;
  readonly judging: Judging;
  readonly server: string;
  /** To the server. */
  readonly send: (line: Buffer) => void;
}

const OPEN_BRACE = 0x7b;

/** Nothing was said. */
export function createServerSide({ parts, judging, server, send }: ServerSideParts): ServerSide {
  const requests = createServerRequests(parts, judging);
  const asked = createServersRequests(parts.send);
  /** By the ids that the client knows. */
  const waiting = new Map<RpcId, (line: Buffer) => void>();
  const request = (id: RpcId, line: Buffer): void =>
    requests.take(
      {
        server,
        reply: send,
        pass(passed, onAnswer): void {
          const shown = asked.ask(id, passed);
          waiting.set(readServerLine(shown).id ?? id, onAnswer);
          parts.send(shown);
        },
      },
      line,
    );
  const cancel = (line: Buffer): void => {
    const id = requestIdOf(line);
    if (id !== undefined && !requests.cancel(server, id)) return undefined;
    const shown = asked.cancelled(line);
    waiting.delete(requestIdOf(shown) ?? "");
    return parts.send(shown);
  };
  return {
    take({ kind, method, id }, line): void {
      if (kind === "request" && id !== undefined) return request(id, line);
      if (kind === "notification" && !isServersMethod(method))
        return method === "notifications/cancelled" ? cancel(line) : parts.send(line);
      // Some reader might find a message in it that nobody judged.
      if (kind === "unknown" && (!line.includes(OPEN_BRACE) || isBareError(line)))
        return parts.send(line);
      return parts.log(`[${server}] wrote a line that readers may read differently; it is dropped`);
    },
    answer(id, line): void {
      const passed = asked.answer(id, line);
      const onAnswer = waiting.get(id);
      waiting.delete(id);
      if (passed === undefined) return undefined;
      if (onAnswer !== undefined) return onAnswer(passed);
      return parts.log("The client answered a request that no server made; the answer is dropped");
    },
    leave: () => requests.forget(server),
    lose(): void {
      asked.lose();
      requests.forget(server);
      waiting.clear();
    },
  };
}

/** What a server says about a line that it could not read: an error of no request. */
function isBareError(line: Buffer): boolean {
  const members = membersOfLine(line);
  if (members?.has("error") !== true || members.has("method") || members.has(ODD_MEMBER))
    return false;
  const id = members.get("id");
  return id === undefined || textOf(line, id) === "null";
}

function requestIdOf(line: Buffer): RpcId | undefined {
  const params = paramsOf(line);
  const id: unknown = isRecord(params) ? params["requestId"] : undefined;
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}
