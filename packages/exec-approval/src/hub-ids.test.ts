import { randomIds } from "@acp/core";
import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { approvalIdOf, hubIds } from "./hub-ids.js";
import { isUuidV7 } from "./uuid-v7.js";

describe("hubIds()", () => {
  it("hubIds() numbers questions by time, and everything else as given", async () => {
    const clock = manualClock();
    const ids = hubIds(randomIds, clock);
    const first = ids.next("cr");
    await clock.advance(1);
    const second = ids.next("cr");
    expect([first, second].map((id) => isUuidV7(approvalIdOf(id)))).toEqual([true, true]);
    expect(first < second).toBe(true);
    expect(Number.parseInt(approvalIdOf(second).replaceAll("-", "").slice(0, 12), 16)).toBe(
      clock.now(),
    );
    expect(isUuidV7(ids.next("n").slice(2))).toBe(false);
  });
});

describe("approvalIdOf()", () => {
  it("approvalIdOf() takes the gate's prefix away, and no other", () => {
    expect(approvalIdOf("cr_019444a0-1234-7abc-8000-abcdef123456")).toBe(
      "019444a0-1234-7abc-8000-abcdef123456",
    );
    expect(approvalIdOf("n_019444a0-1234-7abc-8000-abcdef123456")).toBe(
      "n_019444a0-1234-7abc-8000-abcdef123456",
    );
  });
});
