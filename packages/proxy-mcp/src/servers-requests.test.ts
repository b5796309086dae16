import { describe, expect, it } from "vitest";
import { paramsOf, readServerLine } from "./message.js";
import { notificationLine, requestLine, resultLine } from "./rpc.js";
import type { RpcId } from "./rpc.js";
import { createServersRequests } from "./servers-requests.js";

function asking() {
  const sent: unknown[] = [];
  const requests = createServersRequests((line) => void sent.push(paramsOf(line)));
  const cancelled = (id: RpcId): unknown =>
    paramsOf(requests.cancelled(notificationLine("notifications/cancelled", { requestId: id })));
  const ask = (id: RpcId): RpcId =>
    readServerLine(requests.ask(id, requestLine(id, "ping", {}))).id ?? "";
  return { requests, sent, ask, cancelled };
}

describe("createServersRequests()", () => {
  it("gives no server the answer to what it took back, and cancels the newest with an id", () => {
    const { requests, sent, ask, cancelled } = asking();
    expect(ask(1)).toBe(1);
    expect(cancelled(1)).toEqual({ requestId: 1 });
    const second = ask(1);
    expect(second).not.toBe(1);
    expect(requests.answer(1, resultLine(1, {}))).toBeUndefined();
    expect(cancelled(1)).toEqual({ requestId: second });
    expect(requests.answer(second, resultLine(second, {}))).toBeUndefined();
    requests.lose();
    expect(sent).toEqual([]);
  });
});
