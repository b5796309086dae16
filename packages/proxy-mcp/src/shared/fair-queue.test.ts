import { describe, expect, it } from "vitest";
import { createFairQueue } from "./fair-queue.js";

/** What was started, in order, with what gives its place back. */
function queue(max: number): {
  readonly started: string[];
  enter(client: string, name: string): () => boolean;
  over(name: string): void;
  readonly of: ReturnType<typeof createFairQueue<string>>;
} {
  const of = createFairQueue<string>(max);
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  for (const client of ["a", "b", "c"]) of.join(client);
  return {
    of,
    started,
    enter: (client, name) =>
      of.enter(client, (done) => {
        started.push(name);
        ends.set(name, done);
      }),
    over: (name) => ends.get(name)?.(),
  };
}

describe("createFairQueue()", () => {
  it("starts who has fewest, though another waits for longer", () => {
    const { started, enter, over } = queue(6);
    for (const name of ["a1", "a2", "b1", "b2", "c1", "a3"]) enter(name.slice(0, 1), name);
    expect(started).toHaveLength(6);
    for (const name of ["a4", "b3", "c2"]) enter(name.slice(0, 1), name);
    over("a1");
    // b has two, though it had its last place before c had its only one.
    expect(started.slice(6)).toEqual(["c2"]);
    over("a2");
    // a has one, and the others two.
    expect(started.slice(7)).toEqual(["a4"]);
  });

  it("gives back a place once, takes out what waits, and forgets who left", () => {
    const { started, enter, over, of } = queue(1);
    enter("a", "a1");
    const takeOut = enter("a", "a2");
    enter("b", "b1");
    expect(takeOut()).toBe(true);
    over("a1");
    over("a1");
    expect(started).toEqual(["a1", "b1"]);
    enter("c", "c1");
    of.leave("b");
    expect(started).toEqual(["a1", "b1", "c1"]);
    over("b1");
    enter("a", "a3");
    expect(started).toHaveLength(3);
    over("c1");
    expect(started).toHaveLength(4);
  });

  it("starts nothing while it is paused, and nothing of a client that it does not know", () => {
    const { started, enter, of } = queue(2);
    of.pause(true);
    enter("a", "a1");
    enter("z", "z1");
    expect(started).toEqual([]);
    of.pause(false);
    expect(started).toEqual(["a1"]);
  });
});
