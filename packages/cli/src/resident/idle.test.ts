import { expect, it } from "vitest";
import { IDLE_MS, createIdle } from "./idle.js";

it("createIdle() counts from when somebody last needed it, or came or went", () => {
  const at = { nowMs: 5, isNeeded: false };
  const idle = createIdle(
    () => at.isNeeded,
    () => at.nowMs,
  );
  at.nowMs += IDLE_MS;
  expect(idle.isOver()).toBe(false);
  at.nowMs += 1;
  expect(idle.isOver()).toBe(true);
  idle.touch();
  expect(idle.isOver()).toBe(false);
  at.isNeeded = true;
  at.nowMs += 10 * IDLE_MS;
  expect(idle.isOver()).toBe(false);
  at.isNeeded = false;
  at.nowMs += IDLE_MS;
  expect(idle.isOver()).toBe(false);
  at.nowMs += 1;
  expect(idle.isOver()).toBe(true);
});
