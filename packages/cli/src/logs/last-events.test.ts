/** The newest events of several logs: as sorting all of them gives, however many are held. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openAuditLog, readAuditLog } from "@acp/audit";
import type { AuditEvent } from "@acp/audit";
import { logEvent } from "@acp/core";
import { describe, expect, it, onTestFinished } from "vitest";
import { lastEvents } from "./last-events.js";

async function threeLogs(): Promise<readonly string[]> {
  const directory = await mkdtemp(join(tmpdir(), "acp-last-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const files = [1, 2, 3].map((number) => join(directory, `audit.${number}.jsonl`));
  for (const [index, path] of files.entries()) {
    await using log = await openAuditLog({ path });
    for (let count = 0; count < 5 + 10 * index; count++)
      await log.append([
        logEvent("gate_notice", { id: `ae_${index}_${count}`, atMs: 1_000 * count + index }, {}),
      ]);
  }
  return files;
}

async function idsOf(events: AsyncIterable<AuditEvent>): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { id } of events) ids.push(id);
  return ids;
}

async function sorted(files: readonly string[]): Promise<readonly string[]> {
  const all: AuditEvent[] = [];
  for (const file of files) for await (const event of readAuditLog(file)) all.push(event);
  return all.toSorted((one, other) => one.atMs - other.atMs).map(({ id }) => id);
}

describe("lastEvents()", () => {
  it.each([0, 1, 4, 12, 30, 45, 99, Number.POSITIVE_INFINITY])(
    "gives the newest %d of three logs by their time, held or counted",
    async (limit) => {
      const files = await threeLogs();
      const all = await sorted(files);
      const wanted = limit === 0 ? [] : all.slice(-limit);
      for (const keptMax of [2, 10, 2_000])
        expect(await idsOf(lastEvents({ files, limit, keptMax }))).toEqual(wanted);
    },
  );

  it("leaves out what the filter does", async () => {
    const files = await threeLogs();
    const filter = { sinceMs: 20_000, untilMs: 22_000 };
    expect(await idsOf(lastEvents({ files, limit: 10, filter }))).toEqual(["ae_2_20", "ae_2_21"]);
  });
});
