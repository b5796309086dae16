import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { createServerRoom } from "./server-room.js";
import type { ServersQuestion } from "./server-room.js";

const about = (what: string): ServersQuestion => ({
  method: "elicitation/create",
  args: { message: what },
  bytes: 10,
});

describe("createServerRoom()", () => {
  it("has two questions of one server open, and counts those that go on without their request", () => {
    const clock = manualClock();
    const room = createServerRoom(clock, undefined);
    const one = room.enter("a", about("1"));
    room.enter("a", about("2"));
    expect(room.enter("a", about("3"))).toBeUndefined();
    expect(room.enter("b", about("3"))).toBeDefined();
    one?.over(clock.now() + 10);
    expect(room.enter("a", about("3"))).toBeUndefined();
    // The same again continues its question.
    const again = room.enter("a", about("1"));
    expect(again).toBeDefined();
    expect(room.enter("a", about("1"))).toBeUndefined();
    again?.over();
    expect(room.enter("a", about("3"))).toBeDefined();
  });

  it("frees a question that ended, and one that was answered with a yes", async () => {
    const clock = manualClock();
    const room = createServerRoom(clock, undefined);
    room.enter("a", about("1"))?.over(clock.now() + 10);
    room.enter("a", about("2"))?.judged();
    room.enter("a", about("3"));
    expect(room.enter("a", about("4"))).toBeUndefined();
    await clock.advance(10);
    expect(room.enter("a", about("4"))).toBeDefined();
  });

  it("takes eight at once, and one more each half second", async () => {
    const clock = manualClock();
    const room = createServerRoom(clock, undefined);
    const ask = (): boolean => {
      const place = room.enter("a", about("x"));
      place?.over();
      return place !== undefined;
    };
    expect(Array.from({ length: 10 }, ask).filter(Boolean)).toHaveLength(8);
    await clock.advance(1_000);
    expect(Array.from({ length: 10 }, ask).filter(Boolean)).toHaveLength(2);
  });

  it("takes a place of the client's room, and gives it back", () => {
    const asked: unknown[] = [];
    let left = 0;
    let isFull = false;
    const room = createServerRoom(manualClock(), {
      enter(each) {
        asked.push(each);
        return isFull ? { full: "enough" } : { leave: () => left++ };
      },
      isShared: () => false,
    });
    const place = room.enter("a", about("1"));
    place?.judged();
    expect(left).toBe(0);
    place?.over();
    expect([asked, left]).toEqual([[{ bytes: 10, isCall: true }], 1]);
    isFull = true;
    expect(room.enter("a", about("2"))).toBeUndefined();
  });
});
