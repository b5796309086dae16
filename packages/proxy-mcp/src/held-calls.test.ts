import type { ConsentGate } from "@acp/core";
import { systemClock } from "@acp/core";
import { describe, expect, it } from "vitest";
import { createAside } from "./aside.js";
import { createLoopTurns } from "./loop-turns.js";
import { createHeldCalls, type HeldCalls } from "./held-calls.js";
import { createMasks } from "./masks.js";
import type { ClientRequest } from "./message.js";

/** A gate that never decides. */
const silent = { open: () => new Promise(() => {}) } as unknown as ConsentGate;

function held(
  bytesMax: number,
  gate: ConsentGate = silent,
): {
  readonly calls: HeldCalls;
  readonly sent: string[];
  start(id: number): boolean;
} {
  const sent: string[] = [];
  const calls = createHeldCalls(
    {
      gate,
      agent: { id: "a" },
      clock: systemClock,
      masks: createMasks(),
      progressEveryMs: 1,
      aside: createAside(),
      turns: createLoopTurns(),
      pendingAfterMs: 1,
      log: () => {},
      send: (line) => sent.push(line.toString()),
    },
    bytesMax,
  );
  const start = (id: number): boolean => {
    const params = { name: "t", arguments: {} };
    const line = Buffer.from(`${JSON.stringify({ id, method: "tools/call", params })}\n`);
    const request: ClientRequest = { kind: "request", id, method: "tools/call", params, line };
    return (
      calls.start(
        request,
        (call) => ({
          server: "s",
          tool: call.tool,
          definition: async () => undefined,
          forward: () => {},
        }),
        () => {},
      ) !== undefined
    );
  };
  return { calls, sent, start };
}

describe("createHeldCalls()", () => {
  it("refuses a call that would hold too many bytes, with a result that says to wait", () => {
    const { start, sent } = held(150);
    expect([start(1), start(2), start(3)]).toEqual([true, true, false]);
    expect(sent).toHaveLength(1);
    expect(JSON.parse(sent[0] ?? "")).toMatchObject({
      id: 3,
      result: {
        isError: true,
        _meta: { "acp/denied": { code: "too_many_pending", retryable: true } },
      },
    });
  });

  it("is not over before the log has the completion of what was answered", async () => {
    let complete: (isKept: boolean) => void = () => {};
    const completed = new Promise<boolean>((resolve) => (complete = resolve));
    const gate = {
      runOrOpen: async () => ({ ran: true, value: undefined, completed }),
    } as unknown as ConsentGate;
    const { calls, start, sent } = held(150, gate);
    start(1);
    await expect.poll(() => sent).toHaveLength(1);
    let isOver = false;
    const over = calls.fail({ server: "s", reason: "it was stopped" }).then(() => (isOver = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isOver).toBe(false);
    complete(true);
    await over;
  });
});
