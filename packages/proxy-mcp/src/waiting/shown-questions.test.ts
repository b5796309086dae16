import type { Pending } from "@acp/core";
import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { createShownQuestions } from "./shown-questions.js";

describe("createShownQuestions()", () => {
  it("takes each question once, and says once that it is over", async () => {
    const clock = manualClock();
    const shown = createShownQuestions(clock, 2);
    const over: string[] = [];
    const add = (requestId: string, expiresAtMs = clock.now() + 1_000): boolean => {
      const pending = { requestId, expiresAtMs } as Pending;
      return shown.add({ pending, tellOver: () => void over.push(requestId) });
    };
    expect([add("a"), add("a"), add("b"), add("c")]).toEqual([true, false, true, false]);
    shown.end("a");
    shown.end("a");
    expect([over, add("c", clock.now())]).toEqual([["a"], true]);
    await clock.advance(1_000);
    expect(over).toEqual(["a", "c", "b"]);
    expect(shown.get("b")).toBeUndefined();
  });
});
