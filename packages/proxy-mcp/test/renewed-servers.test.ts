/** A server that is started anew for another greeting, while it was coming back. */
import { manualClock } from "@acp/testing";
import { expect, it } from "vitest";
import { createLoopTurns } from "../src/loop-turns.js";
import { createMasks } from "../src/masks.js";
import { startReturning } from "../src/returning.js";
import { inProcess } from "./support/in-process.js";

it("hears the new process, whatever became of the one that was coming back", async () => {
  const clock = manualClock();
  // The second process never answers.
  const server = inProcess(() => (server.counts.started === 2 ? true : undefined));
  const heard: string[] = [];
  const returning = startReturning(server.upstream, {
    clock,
    masks: createMasks(),
    turns: createLoopTurns(),
    awaits: () => true,
    startTimeoutMs: 50_000,
    subscribeEffect: () => "deny",
    isHeldBack: () => false,
    hasAnswered: () => true,
    onLine: (line) => heard.push(line.toString()),
    onOversize: () => {},
    onDown: () => {},
    onUp: () => {},
    onPressure: () => {},
    log: () => {},
  });
  const greet = (id: number): void => {
    const params = { protocolVersion: "2025-11-25" };
    const line = Buffer.from(
      `${JSON.stringify({ jsonrpc: "2.0", id, method: "initialize", params })}\n`,
    );
    returning.keep({ method: "initialize", params, line, id });
    returning.send(line);
  };
  greet(1);
  await expect.poll(() => heard.length).toBe(1);
  returning.giveUp("it broke");
  await expect
    .poll(async () => {
      await clock.advance(500);
      return server.lines.length;
    })
    .toBe(2);
  await returning.renew();
  greet(2);
  await expect.poll(() => heard.length).toBe(2);
  expect(returning.failure()).toBeUndefined();
  await returning.close();
});
