import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { createWatch } from "./watch.js";

describe("createWatch()", () => {
  it("ends what stands still, once, and not what moves", async () => {
    const clock = manualClock();
    const watch = createWatch(clock, 10);
    const over: string[] = [];
    let moved = 0;
    watch.add({ progress: () => moved++, idleMs: 100, onOver: () => over.push("moving") });
    watch.add({ progress: () => 7, idleMs: 100, onOver: (why) => over.push(`still ${why}`) });
    await clock.advance(90);
    expect(over).toEqual([]);
    await clock.advance(20);
    expect(over).toEqual(["still idle"]);
    await clock.advance(1_000);
    expect(over).toEqual(["still idle"]);
  });

  it("ends what lives too long though it moves", async () => {
    const clock = manualClock();
    const watch = createWatch(clock, 10);
    const over: string[] = [];
    let moved = 0;
    watch.add({
      progress: () => moved++,
      idleMs: 100,
      totalMs: 200,
      onOver: (why) => over.push(why),
    });
    await clock.advance(210);
    expect(over).toEqual(["total"]);
  });

  it("counts from when standing still stopped being right", async () => {
    const clock = manualClock();
    const watch = createWatch(clock, 10);
    const over: string[] = [];
    const state: { progress: number | undefined } = { progress: undefined };
    watch.add({ progress: () => state.progress, idleMs: 100, onOver: (why) => over.push(why) });
    await clock.advance(500);
    state.progress = 1;
    await clock.advance(100);
    expect(over).toEqual([]);
    await clock.advance(20);
    expect(over).toEqual(["idle"]);
  });

  it("looks at nothing that was taken away, nor after its end", async () => {
    const clock = manualClock();
    const watch = createWatch(clock, 10);
    const over: string[] = [];
    const remove = watch.add({ progress: () => 0, idleMs: 50, onOver: () => over.push("removed") });
    remove();
    await clock.advance(100);
    watch.add({ progress: () => 0, idleMs: 50, onOver: () => over.push("again") });
    await clock.advance(60);
    expect(over).toEqual(["again"]);
    watch.add({ progress: () => 0, idleMs: 50, onOver: () => over.push("stopped") });
    watch.stop();
    await clock.advance(100);
    expect(over).toEqual(["again"]);
  });
});
