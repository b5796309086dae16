import { describe, expect, it } from "vitest";
import { createFeed } from "./feed.js";

const collect = async (
  values: AsyncIterable<{ readonly n: number }>,
): Promise<readonly number[]> => {
  const seen: number[] = [];
  for await (const { n } of values) seen.push(n);
  return seen;
};

describe("createFeed()", () => {
  it("hands every reader what is pushed after it began", async () => {
    const feed = createFeed<{ n: number }>();
    feed.push({ n: 0 });
    const first = collect(feed);
    feed.push({ n: 1 });
    const second = collect(feed);
    feed.push({ n: 2 });
    feed.end();
    expect(await first).toEqual([1, 2]);
    expect(await second).toEqual([2]);
    expect(await collect(feed)).toEqual([]);
  });

  it("lets a reader leave", async () => {
    const feed = createFeed<{ n: number }>();
    const reader = feed[Symbol.asyncIterator]();
    const waiting = reader.next();
    await reader.return?.();
    expect(await waiting).toMatchObject({ done: true });
    feed.push({ n: 1 });
    expect(await reader.next()).toMatchObject({ done: true });
  });
});
