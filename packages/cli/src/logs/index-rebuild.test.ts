import { mkdtemp, readdir, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openAuditLog } from "@acp/audit";
import { logEvent } from "@acp/core";
import { homePaths } from "@acp/home";
import type { HomePaths } from "@acp/home";
import { describe, expect, it, onTestFinished } from "vitest";
import { SAMPLE_MS } from "../../test/sample-event.js";
import { initCheckpointKey } from "./checkpoint-key.js";
import { readIndexKey } from "./index-key.js";
import { createIndexRebuild, lagOf, percentOf, readIndexLag } from "./index-rebuild.js";

const EVENTS = 1_200;

async function folder(): Promise<string> {
  const at = await mkdtemp(join(tmpdir(), "acp-"));
  onTestFinished(() => rm(at, { recursive: true, force: true }));
  return at;
}

/** A home with two logs of more events than one record speaks of, and their indexes. */
async function indexedHome(): Promise<HomePaths> {
  const home = homePaths(await folder());
  await initCheckpointKey(home);
  const indexKey = await readIndexKey(home);
  for (const name of ["audit.jsonl", "audit.2.jsonl"]) {
    await using log = await openAuditLog({
      path: join(home.dir, name),
      ...(indexKey !== undefined && { indexKey }),
    });
    const events = Array.from({ length: EVENTS }, (_, number) =>
      logEvent("gate_notice", { id: `ae_${number}`, atMs: SAMPLE_MS }, { notice: "sample" }),
    );
    await log.append(events);
  }
  return home;
}

const indexOf = (home: HomePaths, name: string): string => join(home.dir, `${name}.index`);

describe("createIndexRebuild()", () => {
  it("lets gates open where the indexes are there, or little of them is missing", async () => {
    const home = await indexedHome();
    expect(percentOf(await readIndexLag(home))).toBe(100);
    await using none = createIndexRebuild({ home, lagBytesMax: 0 });
    await none.check();
    expect(none.percent()).toBeUndefined();
    await rm(indexOf(home, "audit.jsonl"));
    await using little = createIndexRebuild({ home });
    await little.check();
    await little.whole;
    expect(await readdir(home.dir)).not.toContain("audit.jsonl.index");
  });

  it("refuses with how far it is until every index is whole, and then lets gates open", async () => {
    const home = await indexedHome();
    await rm(indexOf(home, "audit.jsonl"));
    const said: string[] = [];
    await using rebuild = createIndexRebuild({
      home,
      lagBytesMax: 0,
      say: (text) => void said.push(text),
    });
    const first = rebuild.check();
    const refusal = { code: "index_rebuilding", message: expect.stringContaining("50 %") };
    await expect(first).rejects.toMatchObject(refusal);
    expect(rebuild.percent()).toBeGreaterThanOrEqual(50);
    await rebuild.whole;
    await rebuild.check();
    expect(rebuild.percent()).toBeUndefined();
    expect(lagOf(await readIndexLag(home))).toBe(0);
    expect(said).toEqual([expect.stringContaining("50 %"), expect.stringContaining("whole")]);
  });

  it("refuses for as long as it lives where it was stopped, and the next one goes on there", async () => {
    const home = await indexedHome();
    await truncate(indexOf(home, "audit.2.jsonl"), 100);
    const stopped = createIndexRebuild({ home, lagBytesMax: 0 });
    await expect(stopped.check()).rejects.toMatchObject({ code: "index_rebuilding" });
    await stopped[Symbol.asyncDispose]();
    await expect(stopped.check()).rejects.toMatchObject({ code: "index_rebuilding" });
    await using next = createIndexRebuild({ home, lagBytesMax: 0 });
    await next.check().catch(() => undefined);
    await next.whole;
    expect(lagOf(await readIndexLag(home))).toBe(0);
  });

  it("leaves a log that is broken, or that somebody writes, to whoever opens it", async () => {
    const home = await indexedHome();
    await rm(indexOf(home, "audit.jsonl"));
    await rm(indexOf(home, "audit.2.jsonl"));
    await writeFile(join(home.dir, "audit.3.jsonl"), "no log\n", { mode: 0o600 });
    await using _log = await openAuditLog({ path: join(home.dir, "audit.2.jsonl") });
    await using rebuild = createIndexRebuild({ home, lagBytesMax: 0 });
    await expect(rebuild.check()).rejects.toMatchObject({ code: "index_rebuilding" });
    await rebuild.whole;
    await rebuild.check();
    const lag = await readIndexLag(home);
    const isWhole = [...lag.values()].map(({ bytes, covered }) => bytes === covered);
    expect(isWhole).toEqual([true, false, false]);
    expect(percentOf(lag)).toBeLessThan(100);
  });

  it("has nothing to make in a home without a checkpoint key", async () => {
    const home = homePaths(await folder());
    await writeFile(join(home.dir, "audit.jsonl"), "", { mode: 0o600 });
    await using rebuild = createIndexRebuild({ home, lagBytesMax: 0 });
    await rebuild.check();
  });
});
