import { expect, it } from "vitest";
import { manualClock } from "@acp/testing";
import { inProcess } from "../test/support/in-process.js";
import { createLoopTurns } from "./loop-turns.js";
import { createMasks } from "./masks.js";
import { createPeer } from "./peer.js";
import type { RouterParts } from "./router.js";
import { requestLine } from "./rpc.js";

it("refuses what it is asked once it was closed, as what it had not answered", async () => {
  const clock = manualClock();
  const parts = {
    clock,
    masks: createMasks(undefined),
    turns: createLoopTurns(() => 100),
    onPressure: () => {},
    log: () => {},
  } as unknown as RouterParts;
  const handlers = { onMessage: () => {}, onDown: () => {}, onUp: () => {} };
  const { upstream } = inProcess((heard) => heard.method === "x" || undefined);
  const peer = createPeer(upstream, parts, handlers);
  await peer.greet((id) => requestLine(id, "initialize", { protocolVersion: "2025-11-25" })).answer;
  peer.join({});
  const before = peer.ask((id) => requestLine(id, "x", {})).answer;
  const settled = (answer: Promise<unknown>): Promise<unknown> =>
    answer.then(
      () => "answered",
      (error: Error) => error.message,
    );
  const told = settled(before);
  await peer.close();
  expect(await told).toContain('Server "fs" was stopped');
  const after = [peer.ask, peer.greet].map((ask) => ask((id) => requestLine(id, "x", {})).answer);
  for (const answer of after) {
    const turn = new Promise((resolve) => setImmediate(resolve, "hangs"));
    expect(await Promise.race([settled(answer), turn])).toContain('Server "fs" was stopped');
  }
});
