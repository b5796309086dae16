import { setImmediate as immediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { createAfterRelease } from "./after-release.js";

it("createAfterRelease() tells in order, later, of bytes as they were, and all of it when flushed", async () => {
  const told: string[] = [];
  const { take, flush } = createAfterRelease(({ bytes, firstSeq }, { from }) =>
    told.push(`${String(bytes)} ${firstSeq} ${from}`),
  );
  const bytes = Buffer.from("one");
  take({ bytes, firstSeq: 0 }, { file: 0, from: 5 });
  bytes.write("two");
  take({ bytes, firstSeq: 1 }, { file: 0, from: 8 });
  await Promise.resolve();
  expect(told).toEqual([]);
  for (let turns = 0; turns < 3; turns++) await immediate();
  expect(told).toEqual(["one 0 5", "two 1 8"]);
  take({ bytes, firstSeq: 2 }, { file: 0, from: 11 });
  flush();
  expect(told).toHaveLength(3);
  for (let turns = 0; turns < 3; turns++) await immediate();
  expect(told).toHaveLength(3);
});

it("createAfterRelease() keeps copies of any size apart", () => {
  const told: string[] = [];
  const { take, flush } = createAfterRelease(({ bytes }) => told.push(String(bytes)));
  for (let round = 0; round < 3; round++) {
    const texts = [1, 40_000, 40_000, 3_000_000, 2, 200_000].map((length, at) =>
      String(at).repeat(length),
    );
    for (const text of texts) take({ bytes: Buffer.from(text), firstSeq: 0 }, { file: 0, from: 0 });
    flush();
    const all = told.splice(0);
    expect(texts.map((text, at) => text === all[at])).toEqual(texts.map(() => true));
  }
});
