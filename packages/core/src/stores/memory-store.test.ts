import { storeConformance } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { manualClock, pendingRecord } from "@acp/testing";
import { reduce } from "../approval/machine.js";
import { ENDED_KEPT_MAX } from "../limits.js";
import { memoryClaims } from "./memory-claims.js";
import { memoryPending } from "./memory-pending.js";
import { memoryStore } from "./memory-store.js";

describe("memoryStore() conforms", () => {
  it.each(storeConformance(memoryStore))("$name", async ({ run }) => run());
});

describe("memoryPending()", () => {
  it("remembers a bounded number of ends, newest last", async () => {
    const pending = memoryPending();
    for (let i = 0; i <= ENDED_KEPT_MAX; i++) {
      const record = pendingRecord({ id: `cr_${i}` });
      await pending.put(record);
      const ended = reduce(record, { type: "expire", atMs: record.request.expiresAtMs });
      if (!ended.ok) throw new Error(ended.code);
      await pending.transition(record.id, 0, ended.next);
    }
    expect(await pending.get("cr_0")).toBeUndefined();
    expect(await pending.get(`cr_${ENDED_KEPT_MAX}`)).toBeDefined();
  });
});

describe("memoryClaims()", () => {
  it("forgets claims whose time is over when it grows", async () => {
    const clock = manualClock();
    const claims = memoryClaims(clock);
    for (let i = 0; i < 1_024; i++) await claims.claimOnce(`old:${i}`, 10);
    await clock.advance(11);
    expect(await claims.claimOnce("new", 10)).toBe(true);
    expect(await claims.claimOnce("old:5", 10)).toBe(true);
  });
});
