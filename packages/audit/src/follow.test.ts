import { open } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { makeEvent, scratchLog } from "../test/support.js";
import { openAuditLog } from "./audit-log.js";
import { followAuditLog, type FollowOptions } from "./follow.js";
import { listArchives } from "./log-parts.js";

/**
 * Follows until `count` events came; `step` runs at every pause with the number of those before.
 */
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
    for (let number = 0; number < 7; number++)
      await log.append([makeEvent(number, { tool: number % 2 === 0 ? "even" : "odd" })]);
    const step = async (): Promise<void> => {};
    expect(await follow(path, 7, { fromSeq: 0, step })).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(await follow(path, 2, { fromSeq: 3, filter: { tool: "even" }, step })).toEqual([4, 6]);
  });

  it("does not read what stands far before the first event to give, in this file and in full ones", async () => {
    const path = await scratchLog();
    await using log = await openAuditLog({ path, rotation: { maxBytes: 400_000 } });
    const text = "x".repeat(1_000);
    for (let number = 0; number < 400; number++)
      await log.append([makeEvent(number, { metadata: { text } })]);
    const archives = await listArchives(path);
    expect(archives).toHaveLength(1);
    // Whoever reads the beginning of a file now says that it holds a line that is no event.
    const spoil = async (file: string): Promise<void> => {
      await using handle = await open(file, "r+");
      await handle.write("!", 0);
    };
    const step = async (): Promise<void> => {};
    const from = async (fromSeq: number): Promise<void> => {
      const rest = Array.from({ length: 400 - fromSeq }, (_, index) => fromSeq + index);
      expect(await follow(path, rest.length, { fromSeq, step })).toEqual(rest);
    };
    await spoil(archives[0]?.path ?? "");
    await from(200);
    await expect(from(0)).rejects.toMatchObject({ code: "audit_failed" });
    await spoil(path);
    await from(390);
    await expect(from(200)).rejects.toMatchObject({ code: "audit_failed" });
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
    for await (const _ of followAuditLog(path, { signal: ending }))
      throw new Error("nothing should come");
    const step = (): Promise<void> => Promise.reject(new Error("mine"));
    await expect(follow(path, 1, { step })).rejects.toThrow("mine");
  });
});
