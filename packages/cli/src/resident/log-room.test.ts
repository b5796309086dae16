import { tmpdir } from "node:os";
import fc from "fast-check";
import { expect, it } from "vitest";
import { createLogRoom, freeBytes } from "./log-room.js";

const HOUR_MS = 3_600_000;

it("createLogRoom() gives a sixteenth of what can be spared, and all of it back within an hour", () => {
  let nowMs = 0;
  const room = createLogRoom(
    () => 1_600,
    () => nowMs,
  );
  room.take(99);
  expect(room.hasSome()).toBe(true);
  room.take(1);
  expect(room.hasSome()).toBe(false);
  nowMs = HOUR_MS / 100;
  expect(room.hasSome()).toBe(true);
  room.take(100);
  nowMs += HOUR_MS / 2;
  expect(room.hasSome()).toBe(false);
  nowMs += HOUR_MS / 2;
  expect(room.hasSome()).toBe(true);
  room.take(1);
  expect(room.hasSome()).toBe(false);
});

it("createLogRoom() spares no more than the home may keep, whoever said so first", () => {
  const room = createLogRoom(
    () => 1_600,
    () => 0,
  );
  room.keep(160);
  room.keep(undefined);
  room.keep(320);
  room.take(10);
  expect(room.hasSome()).toBe(false);
});

it("createLogRoom() has none where the disk is full, or nobody says how full it is", () => {
  for (const spare of [0, -1, Number.NaN, Infinity])
    expect(
      createLogRoom(
        () => spare,
        () => 0,
      ).hasSome(),
    ).toBe(false);
  expect(freeBytes(`${tmpdir()}/not-there`)).toBe(0);
  expect(freeBytes(tmpdir())).toBeGreaterThan(0);
});

it("createLogRoom() looks at the disk again while it is used", () => {
  let [nowMs, free] = [0, 1_600];
  const room = createLogRoom(
    () => free,
    () => nowMs,
  );
  expect(room.hasSome()).toBe(true);
  free = 0;
  expect(room.hasSome()).toBe(true);
  nowMs = 1_000;
  expect(room.hasSome()).toBe(false);
});

it("createLogRoom() lets through no more in an hour than twice what it has, and one entry", () => {
  const step = fc.record({ ms: fc.nat(HOUR_MS / 50), bytes: fc.integer({ min: 1, max: 50 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let [nowMs, written] = [0, 0];
      const room = createLogRoom(
        () => 1_600,
        () => nowMs,
      );
      for (const { ms, bytes } of steps) {
        nowMs += ms;
        if (nowMs > HOUR_MS) break;
        if (!room.hasSome()) continue;
        room.take(bytes);
        written += bytes;
      }
      expect(written).toBeLessThanOrEqual(2 * 100 + 50);
    }),
  );
});
