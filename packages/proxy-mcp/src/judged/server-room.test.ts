import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { createServerRoom } from "./server-room.js";
import type { ServerPlace, ServersQuestion } from "./server-room.js";
import type { RequestRoom } from "../in-flight.js";

const about = (what: string, effect: ServersQuestion["effect"] = "ask"): ServersQuestion => ({
  method: "elicitation/create",
  args: { message: what },
  bytes: 10,
  effect,
});

/** A room, and what began in it. */
function roomed(room?: RequestRoom) {
  const clock = manualClock();
  const begun: string[] = [];
  const own = createServerRoom(clock, room);
  const enter = (what: string, effect?: ServersQuestion["effect"], server = "a") =>
    own.enter(server, about(what, effect), () => void begun.push(what));
  return { clock, begun, enter, own };
}

describe("createServerRoom()", () => {
  it("has two questions of one server open, and the next ones wait in their order", () => {
    const { begun, enter } = roomed();
    const [one, two] = ["1", "2", "3", "4"].map((what) => enter(what));
    expect(begun).toEqual(["1", "2"]);
    enter("b's", "ask", "b");
    two?.over();
    expect(begun).toEqual(["1", "2", "b's", "3"]);
    one?.judged();
    expect(begun).toEqual(["1", "2", "b's", "3", "4"]);
  });

  it("has no question in the way of what rules allow, or deny", () => {
    const { begun, enter } = roomed();
    for (const what of ["1", "2", "3"]) enter(what);
    enter("allowed", "allow");
    enter("denied", "deny");
    expect(begun).toEqual(["1", "2", "allowed", "denied"]);
  });

  it("counts questions that go on without their request, until they end", async () => {
    const { clock, begun, enter } = roomed();
    enter("1")?.over(clock.now() + 10);
    enter("2");
    enter("3");
    expect(begun).toEqual(["1", "2"]);
    // The same again continues its question, once.
    const again = enter("1");
    enter("1");
    expect(begun).toEqual(["1", "2", "1"]);
    again?.over(clock.now() + 20);
    await clock.advance(19);
    expect(begun).toEqual(["1", "2", "1", "1"]);
    await clock.advance(1);
    expect(begun).toEqual(["1", "2", "1", "1"]);
  });

  it("gives a turn to who waits when a question that goes on ends by itself", async () => {
    const { clock, begun, enter } = roomed();
    for (const what of ["1", "2"]) enter(what)?.over(clock.now() + 10);
    enter("3");
    expect(begun).toEqual(["1", "2"]);
    await clock.advance(10);
    expect(begun).toEqual(["1", "2", "3"]);
  });

  it("begins eight at once, and one more each half second; of what rules allow more", async () => {
    for (const [effect, atOnce, inASecond] of [
      ["ask", 8, 2],
      ["deny", 8, 2],
      ["allow", 64, 20],
    ] as const) {
      const { clock, own } = roomed();
      let begun = 0;
      for (let n = 0; n < 100; n++) {
        const place: ServerPlace | undefined = own.enter("a", about(String(n), effect), () => {
          begun++;
          queueMicrotask(() => place?.over());
        });
      }
      await clock.advance(0);
      expect([effect, begun]).toEqual([effect, atOnce]);
      for (let ms = 0; ms < 1_000; ms += 50) await clock.advance(50);
      expect([effect, begun]).toEqual([effect, atOnce + inASecond]);
    }
  });

  it("gives no turn to what was taken back, or whose server is gone", async () => {
    const { clock, begun, enter, own } = roomed();
    const [one, , three] = ["1", "2", "3", "4"].map((what) => enter(what));
    three?.over();
    one?.over();
    expect(begun).toEqual(["1", "2", "4"]);
    enter("5");
    own.forget("a");
    await clock.advance(60_000);
    expect(begun).toEqual(["1", "2", "4"]);
  });

  it("takes a place of the client's room, and gives it back", () => {
    const asked: unknown[] = [];
    let left = 0;
    let isFull = false;
    const { begun, enter } = roomed({
      enter(each) {
        asked.push(each);
        return isFull ? { full: "enough" } : { leave: () => left++ };
      },
      isShared: () => false,
    });
    const place = enter("1");
    place?.judged();
    expect(left).toBe(0);
    place?.over();
    expect([asked, left]).toEqual([[{ bytes: 10, isCall: true }], 1]);
    isFull = true;
    expect(enter("2")).toBeUndefined();
    expect(begun).toEqual(["1"]);
  });
});
