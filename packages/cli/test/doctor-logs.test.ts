/** What the doctor says of logs besides their faults: indexes that are behind, and what was removed. */
import { rm } from "node:fs/promises";
import { openAuditLog, pruneAuditLog } from "@acp/audit";
import { isoTime } from "@acp/core";
import { afterAll, describe, expect, it } from "vitest";
import { EXAMINATIONS, examine } from "../src/doctor/examine.js";
import { indexesFound } from "../src/doctor/look/indexes.js";
import { reportJson, reportLines } from "../src/doctor/report.js";
import { lagOf, readIndexLag } from "../src/logs/index-rebuild.js";
import { readIndexKey } from "../src/logs/index-key.js";
import { addEvents, doctorWorld, removeTemplate } from "./doctor-world.js";
import { SAMPLE_MS, sampleEvent } from "./sample-event.js";

afterAll(removeTemplate);

const LOGS = EXAMINATIONS.filter(({ id }) => id === "logs");
const print = { tone: (_tone: string, text: string) => text };

describe("indexesFound()", () => {
  it("says how much of the logs has no index, and makes it", async () => {
    const { home, log } = await doctorWorld();
    await addEvents(home, 60);
    expect(await indexesFound(home, 0)).toEqual([]);
    await rm(`${log}.index`);
    expect(await indexesFound(home)).toEqual([]);
    const [found, ...others] = await indexesFound(home, 0);
    expect(others).toEqual([]);
    expect(found?.finding).toMatchObject({
      code: "index_behind",
      level: "warning",
      found: "The indexes cover 0 % of the logs; 1 MB are missing",
      command: "acp doctor --fix index_behind",
      can_fix: true,
    });
    expect(await found?.mend?.run()).toBe("The indexes are whole");
    expect(lagOf(await readIndexLag(home))).toBe(0);
  });

  it("leaves the index of a log that is written to its gate", async () => {
    const { home, log } = await doctorWorld();
    await rm(`${log}.index`, { force: true });
    await using _log = await openAuditLog({ path: log });
    const [found] = await indexesFound(home, 0);
    expect(await found?.mend?.run()).toContain("audit.jsonl: Cannot open");
  });
});

describe("acp doctor", () => {
  it("says what retention removed of a log and when, which is no finding", async () => {
    const { home, log, context } = await doctorWorld();
    const indexKey = await readIndexKey(home);
    expect((await examine(context(), LOGS))[0]?.notes).toBeUndefined();
    const removed: string[] = [];
    {
      await using audit = await openAuditLog({
        path: log,
        rotation: { maxBytes: 4_000 },
        ...(indexKey !== undefined && { indexKey }),
      });
      for (let number = 0; number < 40; number++)
        await audit.append([sampleEvent(`ae_${number}`, { metadata: { number } })]);
      const clock = { now: () => SAMPLE_MS + 5_000 };
      removed.push(...(await pruneAuditLog(audit, { keepFiles: 1, clock })));
    }
    expect(removed.length).toBeGreaterThan(1);
    const all = await examine(context(), LOGS);
    expect(all[0]).toMatchObject({ level: "ok", found: [] });
    const said = new RegExp(
      `^audit\\.jsonl: retention removed the first \\d+ events, the last of them on ${isoTime(SAMPLE_MS + 5_000)} with ${removed.at(-1) ?? ""}$`,
    );
    expect(all[0]?.notes).toEqual([expect.stringMatching(said)]);
    const parts = { home: home.dir, all, mended: [] };
    expect(reportLines(parts, print).join("\n")).toContain(`\n  ${all[0]?.notes?.[0] ?? ""}\n`);
    expect(JSON.stringify(reportJson(parts))).toContain('"notes":["audit.jsonl: retention');
    // Without looking at the past of logs.
    expect((await examine(context({ isQuick: true }), LOGS))[0]?.notes).toBeUndefined();
  });
});
