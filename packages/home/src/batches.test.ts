import { describe, expect, it } from "vitest";
import { inBatches } from "./batches.js";

describe("inBatches()", () => {
  it("does together what came while it worked, in order", async () => {
    const batches: (readonly number[])[] = [];
    let go = (): void => undefined;
    const gate = new Promise<void>((resolve) => (go = resolve));
    const { take } = inBatches<number, number>(async (items) => {
      batches.push(items);
      await gate;
      return items.map((item) => item * 2);
    });
    const first = take(1);
    await Promise.resolve();
    await Promise.resolve();
    const later = [take(2), take(3)];
    go();
    expect(await Promise.all([first, ...later])).toEqual([2, 4, 6]);
    expect(batches).toEqual([[1], [2, 3]]);
  });

  it("rejects a batch whose work throws, and goes on with the next", async () => {
    let isBroken = true;
    const { take, idle } = inBatches<number, number>(async (items) => {
      if (isBroken) throw new Error("broken");
      return items;
    });
    await expect(Promise.all([take(1), take(2)])).rejects.toThrow("broken");
    isBroken = false;
    expect(await take(3)).toBe(3);
    await idle();
  });
});
