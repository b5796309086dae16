import { expect, it } from "vitest";
import { LIMITS } from "./limits.js";
import { SILENT_MAX, endSilent } from "./silent.js";

it("endSilent() ends the oldest of too many, and nobody of as many as may have sessions", () => {
  const ended: number[] = [];
  const silent = (n: number) => ({ isSilent: () => true, leave: () => void ended.push(n) });
  const all = Array.from({ length: SILENT_MAX }, (_, n) => silent(n));
  endSilent(Array.from({ length: LIMITS.sessions }, (_, n) => silent(n)));
  const speaking = { isSilent: () => false, leave: () => expect.unreachable() };
  endSilent([speaking, ...all]);
  expect(ended).toEqual([]);
  endSilent([speaking, ...all, silent(-1), silent(-2)]);
  expect(ended).toEqual([0, 1]);
});
