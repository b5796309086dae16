import { describe, expect, it } from "vitest";
import { makeEvent, scratchLog } from "../test/support.js";
import { openAuditLog } from "./audit-log.js";
import { followAuditLog, type FollowOptions } from "./follow.js";

/** Follows until `count` events came; `step` runs at every pause with the number of those before. */
async function follow(
  path: string,
  count: number,
  options: Partial<FollowOptions> & { readonly step: (pauses: number) => Promise<void> },
): Promise<readonly number[]> {
  const ending = new AbortController();
  const seqs: number[] = [];
  let pauses = 0;
  const pause = async (): Promise<void> => {
    await options.step(pauses++);
    if (pauses > 100) throw new Error(`${seqs.length} of ${count} events came`);
  };
  for await (const { seq } of followAuditLog(path, { ...options, signal: ending.signal, pause })) {
    seqs.push(seq);
    if (seqs.length === count) ending.abort();
  }
  return seqs;
}

describe("followAuditLog()", () => {
  it("gives new events as they are written, over every new file", async () => {
    const path = await scratchLog();
    await using log = await openAuditLog({ path, rotation: { maxBytes: 1_000 } });
    await log.append([makeEvent(0)]);
    const seqs = await follow(path, 20, {
      step: async (pauses) => {
        for (let more = 0; more < pauses % 5; more++) await log.append([makeEvent(1)]);
      },
    });
    expect(seqs).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  });

  it("gives old ones too where it is asked for them, and filters", async () => {
    const path = await scratchLog();
    await using log = await openAuditLog({ path, rotation: { maxBytes: 1_000 } });
    for (let number = 0; number < 7; number++) await log.append([makeEvent(number, { tool: number % 2 === 0 ? "even" : "odd" })]);
    const step = async (): Promise<void> => {};
    expect(await follow(path, 7, { fromSeq: 0, step })).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(await follow(path, 2, { fromSeq: 3, filter: { tool: "even" }, step })).toEqual([4, 6]);
  });

  it("waits for a log that does not exist yet", async () => {
    const path = await scratchLog();
    const seqs = await follow(path, 1, {
      step: async (pauses) => {
        if (pauses !== 2) return;
        await using log = await openAuditLog({ path });
        await log.append([makeEvent(0)]);
      },
    });
    expect(seqs).toEqual([0]);
  });

  it("ends without a word when the signal aborts, and throws what else goes wrong", async () => {
    const path = await scratchLog();
    const ending = AbortSignal.abort();
    for await (const _ of followAuditLog(path, { signal: ending })) throw new Error("nothing should come");
    const step = (): Promise<void> => Promise.reject(new Error("mine"));
    await expect(follow(path, 1, { step })).rejects.toThrow("mine");
  });
});
