import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { homePaths } from "@acp/home";
import { describe, expect, it, onTestFinished } from "vitest";
import { sampleEvent } from "../../test/sample-event.js";
import { openHomeAudit } from "./open-audit.js";
import { KEEP_BYTES, KEEP_MS, keptTerms, rotateMsOf } from "./kept-terms.js";

const DAY_MS = 86_400_000;

describe("keptTerms()", () => {
  it("keeps 90 days and 2 GiB where nothing is said, and by a number alone where only that is", () => {
    expect([KEEP_MS, KEEP_BYTES]).toEqual([90 * DAY_MS, 2 ** 31]);
    const defaults = { keepFiles: Infinity, keepMs: KEEP_MS, keepBytes: KEEP_BYTES };
    expect(keptTerms({})).toEqual(defaults);
    expect(keptTerms({ keepMs: 5 })).toEqual({ ...defaults, keepMs: 5 });
    expect(keptTerms({ keepFiles: 4 })).toEqual({
      keepFiles: 4,
      keepMs: Infinity,
      keepBytes: Infinity,
    });
  });
});

describe("rotateMsOf()", () => {
  it("is a third of the time that files are kept, unless it is said or age limits nothing", () => {
    expect(rotateMsOf({})).toBe(30 * DAY_MS);
    expect(rotateMsOf({ keepMs: 9 * DAY_MS })).toBe(3 * DAY_MS);
    expect(rotateMsOf({ keepFiles: 4 })).toBeUndefined();
    expect(rotateMsOf({ keepFiles: 4, keepMs: 9 * DAY_MS })).toBe(3 * DAY_MS);
    expect(rotateMsOf({ rotateMs: 100 * DAY_MS })).toBe(100 * DAY_MS);
  });
});

it("a log that never fills a file begins another one when its first event is 30 days old", async () => {
  const dir = await mkdtemp(join(tmpdir(), "acp-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const home = homePaths(dir);
  const append = async (daysAgo: number): Promise<void> => {
    await using log = await openHomeAudit(home);
    await log.append([sampleEvent(`ae_${daysAgo}`, { atMs: Date.now() - daysAgo * DAY_MS })]);
  };
  const names = async (): Promise<readonly string[]> =>
    (await readdir(dir)).filter((name) => name.startsWith("audit.jsonl"));
  for (const daysAgo of [29, 1]) await append(daysAgo);
  expect(await names()).toEqual(["audit.jsonl"]);
  await rm(join(dir, "audit.jsonl"));
  for (const daysAgo of [31, 1]) await append(daysAgo);
  expect(await names()).toEqual(["audit.jsonl", "audit.jsonl.000000000000"]);
});
