import { manualClock } from "@acp/testing";
import { expect, it } from "vitest";
import { createTries } from "./tries.js";

it("createTries() leaves ten in any minute", async () => {
  const clock = manualClock();
  const tries = createTries(clock);
  for (let n = 0; n < 10; n++) {
    expect(tries.isLeft()).toBe(true);
    tries.fail();
    await clock.advance(1_000);
  }
  expect(tries.isLeft()).toBe(false);
  await clock.advance(49_999);
  expect(tries.isLeft()).toBe(false);
  await clock.advance(1);
  expect(tries.isLeft()).toBe(true);
  tries.fail();
  expect(tries.isLeft()).toBe(false);
});
