/** Scanning gives every line that reading gives, proven, with and without an index. */
import { appendFile, readFile, writeFile } from "node:fs/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AuditEvent } from "../src/event.js";
import { indexPath } from "../src/log-index/index-file.js";
import { openIndexWriter } from "../src/log-index/index-writer.js";
import { type ScannedLine, scanAuditLog } from "../src/log-index/scan.js";
import { archivePath } from "../src/log-parts.js";
import { readAuditLog, readRecords } from "../src/read.js";
import { anyEvent, eventsOf, KEY, OTHER_KEY, putLog } from "./index-world.js";
import { collect, makeLines, scratchLog } from "./support.js";

type Fields = Parameters<typeof eventsOf>[0];

async function indexedLog(fields: Fields, starts: readonly number[] = []): Promise<string> {
  const path = await scratchLog();
  await putLog(path, await makeLines(eventsOf(fields)), starts);
  const parts = { key: KEY, everyEvents: 3, closeEventsMin: 3, now: () => 5 };
  await (await openIndexWriter({ ...parts, path, nextSeq: fields.length }))?.close();
  return path;
}

const scan = async <T>(
  path: string,
  indexKey: Uint8Array | undefined,
  pick: (line: ScannedLine) => readonly T[],
): Promise<readonly T[]> => (await collect(scanAuditLog(path, { indexKey }, pick))).flat();

interface Seen extends Pick<ScannedLine, "eventType" | "size"> {
  readonly event: AuditEvent;
  readonly later: () => AuditEvent;
  readonly decision: string;
  readonly tool: string | undefined;
  readonly call: string | undefined;
}

const see = (line: ScannedLine): readonly [Seen] => [
  {
    eventType: line.eventType,
    size: line.size,
    event: line.event(),
    later: line.keep(),
    decision: line.decision(),
    tool: line.tool(),
    call: line.call(),
  },
];

const TWENTY: Fields = Array.from({ length: 20 }, () => ({}));

describe("scanAuditLog()", () => {
  it("gives what reading gives, and of each line what the event says", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyEvent, { minLength: 1, maxLength: 14 }),
        fc.integer({ min: 1, max: 13 }),
        async (fields, start) => {
          const path = await indexedLog(fields, [start]);
          await appendFile(path, '{"agent":"cut sh');
          const events = await collect(readAuditLog(path));
          for (const key of [KEY, OTHER_KEY, undefined]) {
            const seen = await scan(path, key, see);
            expect(seen.map(({ event }) => event)).toEqual(events);
            expect(seen.map(({ later }) => later())).toEqual(events);
            const texts = (await collect(readRecords(path))).map(({ line }) => line);
            expect(await scan(path, key, (line) => [line.text()])).toEqual(texts);
            for (const { event, eventType, decision, tool, call } of seen) {
              expect({ eventType, decision }).toEqual({
                eventType: event.eventType,
                decision: event.decision,
              });
              expect([event.tool, undefined]).toContain(tool);
              expect(call).toBe(event.metadata["call"]);
            }
          }
        },
      ),
      { numRuns: 20 },
    );
  });

  it("names tools as they are, or leaves that to who reads all", async () => {
    const tools = ["read_file", "", 'we"ird', "bäck", 'a,"tool":"b', 'type","x'];
    const path = await indexedLog(tools.map((tool) => ({ tool })));
    const seen = await scan(path, KEY, (line) => [line.tool()]);
    expect(seen).toEqual(["read_file", "", undefined, "bäck", undefined, undefined]);
  });

  it("proves each line that is not as its index says, and refuses a bad one", async () => {
    for (const file of ["full", "last"]) {
      const path = await indexedLog(TWENTY, [9]);
      const name = file === "full" ? archivePath(path, 0) : path;
      const text = await readFile(name, "utf8");
      await writeFile(name, text.replace("agent-1", "agent-2"));
      await expect(scan(path, KEY, see)).rejects.toMatchObject({ code: "audit_failed" });
    }
    const path = await indexedLog(TWENTY, [9]);
    await appendFile(path, "no event\n");
    await expect(scan(path, KEY, see)).rejects.toMatchObject({ code: "audit_failed" });
  });

  it("reads each line once where records are missing, twice or of another order", async () => {
    const path = await indexedLog(TWENTY, [9]);
    const records = (await readFile(indexPath(path), "utf8")).trimEnd().split("\n");
    const orders = [
      records.toReversed(),
      [...records, ...records],
      records.toSpliced(1, 2),
      records.slice(0, 1),
      [...records.slice(3), "x", ...records.slice(0, 3)],
    ];
    for (const order of orders) {
      await writeFile(indexPath(path), `${order.join("\n")}\n`);
      const seqs = await scan(path, KEY, (line) => [line.event().seq]);
      expect(seqs).toEqual(TWENTY.map((_, seq) => seq));
    }
  });

  it("ends where the signal says so, and says how far it is", async () => {
    const path = await indexedLog(TWENTY, [9]);
    const progress: (readonly [number, number, number])[] = [];
    const onProgress: NonNullable<Parameters<typeof scanAuditLog>[1]["onProgress"]> = (now) =>
      void progress.push([now.events, now.bytes, now.bytesTotal]);
    await collect(scanAuditLog(path, { indexKey: KEY, onProgress }, see));
    const [events, bytes, total] = progress.at(-1) ?? [];
    expect([events, bytes]).toEqual([20, total]);
    const signal = AbortSignal.abort();
    await expect(collect(scanAuditLog(path, { indexKey: KEY, signal }, see))).rejects.toMatchObject(
      { code: "aborted" },
    );
  });
});
