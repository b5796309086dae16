import { appendFile, chmod, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { memoryStore } from "@acp/core";
import { manualClock, storeConformance } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { scratchDirectory } from "../test/support.js";
import { fileClaims } from "./claims-file.js";

const START_MS = 1_768_473_000_000;

describe("fileClaims()", () => {
  for (const { name, run } of storeConformance(async (clock) => {
    const dir = join(await scratchDirectory(), "claims");
    return { ...memoryStore(clock), claims: fileClaims(dir, clock) };
  }).filter((each) => /^(?:claimOnce|isClaimed)\(\)/.test(each.name)))
    it(name, () => run());

  it("keeps a claim over a restart, for its time", async () => {
    const dir = join(await scratchDirectory(), "claims");
    expect(await fileClaims(dir, manualClock(START_MS)).claimOnce("a", 60_000)).toBe(true);
    expect(await fileClaims(dir, manualClock(START_MS + 59_999)).claimOnce("a", 60_000)).toBe(
      false,
    );
    expect(await fileClaims(dir, manualClock(START_MS + 60_000)).claimOnce("a", 60_000)).toBe(true);
  });

  it("ends a claim after its time also where the wall clock went back over a restart", async () => {
    const dir = join(await scratchDirectory(), "claims");
    await fileClaims(dir, manualClock(START_MS)).claimOnce("a", 60_000);
    const clock = manualClock(START_MS - 3_600_000);
    const claims = fileClaims(dir, clock);
    expect(await claims.claimOnce("a", 60_000)).toBe(false);
    await clock.advance(60_000);
    expect(await claims.claimOnce("a", 60_000)).toBe(true);
  });

  it("gives a key to one of two processes", async () => {
    const dir = join(await scratchDirectory(), "claims");
    const [one, two] = [fileClaims(dir), fileClaims(dir)];
    const given = await Promise.all(
      Array.from({ length: 10 }, (_, at) => (at % 2 === 0 ? one : two).claimOnce("a", 60_000)),
    );
    expect(given.filter(Boolean)).toHaveLength(1);
  });

  it("takes back a line that a crash cut short, and refuses one that is none", async () => {
    const dir = join(await scratchDirectory(), "claims");
    const file = join(dir, "claims.jsonl");
    await fileClaims(dir).claimOnce("a", 60_000);
    await appendFile(file, '{"key":"b","en');
    expect(await fileClaims(dir).claimOnce("b", 60_000)).toBe(true);
    expect((await readFile(file, "utf8")).trimEnd().split("\n")).toHaveLength(2);
    await appendFile(file, "{}\n");
    await expect(fileClaims(dir).claimOnce("c", 60_000)).rejects.toMatchObject({
      code: "home_invalid",
      message: /line 3 is no claim/,
    });
  });

  it("is private, and gives nothing while others may read or write it", async () => {
    const dir = join(await scratchDirectory(), "claims");
    const file = join(dir, "claims.jsonl");
    await fileClaims(dir).claimOnce("a", 60_000);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await chmod(file, 0o644);
    await expect(fileClaims(dir).claimOnce("b", 60_000)).rejects.toMatchObject({
      code: "home_invalid",
    });
  });

  it("drops claims that are over when there are many, and keeps the rest", async () => {
    const dir = join(await scratchDirectory(), "claims");
    const file = join(dir, "claims.jsonl");
    await fileClaims(dir, manualClock(START_MS)).claimOnce("old", 1);
    const [line = ""] = (await readFile(file, "utf8")).split("\n");
    const live = JSON.stringify({ key: "live", end_ms: START_MS + 60_000, ttl_ms: 60_000 });
    await writeFile(file, `${`${line}\n`.repeat(1_100)}${live}\n`);
    const claims = fileClaims(dir, manualClock(START_MS + 10));
    expect(await claims.claimOnce("new", 60_000)).toBe(true);
    expect((await readFile(file, "utf8")).trimEnd().split("\n")).toHaveLength(2);
    expect(await claims.claimOnce("live", 60_000)).toBe(false);
  });
});
