import { appendFile, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { makeEvent, makeLines, scratchLog } from "../test/support.js";
import { type ReadOptions, readAuditLog } from "./read.js";

const EVENTS = [
  makeEvent(1, { agent: "a", tool: "read_file", decision: "allow" }),
  makeEvent(2, {
    agent: "b",
    tool: "write_file",
    decision: "deny",
    eventType: "consent_denied",
    requestId: "cr_1",
  }),
  makeEvent(3, { agent: "a", tool: "write_file", decision: "allow" }),
];

async function writtenLog(more = ""): Promise<string> {
  const path = await scratchLog();
  await writeFile(path, (await makeLines(EVENTS)).map((line) => `${line}\n`).join(""));
  await appendFile(path, more);
  return path;
}

async function read(path: string, options?: ReadOptions): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const event of readAuditLog(path, options)) ids.push(event.id);
  return ids;
}

describe("readAuditLog()", () => {
  it("gives the events as they were appended, with their place", async () => {
    const events = [];
    for await (const event of readAuditLog(await writtenLog())) events.push(event);
    expect(events).toMatchObject(EVENTS);
    expect(events.map(({ seq }) => seq)).toEqual([0, 1, 2]);
    expect(events[1]?.previousHash).toBe(events[0]?.hash);
  });

  it.each([
    [{ agent: "a" }, ["ae_1", "ae_3"]],
    [{ tool: "write_file" }, ["ae_2", "ae_3"]],
    [{ tool: "write_file", agent: "a" }, ["ae_3"]],
    [{ decision: "deny" }, ["ae_2"]],
    [{ eventType: "consent_denied" }, ["ae_2"]],
    [{ requestId: "cr_1" }, ["ae_2"]],
    [{ sinceMs: EVENTS[1]?.atMs ?? 0 }, ["ae_2", "ae_3"]],
    [{ untilMs: EVENTS[1]?.atMs ?? 0 }, ["ae_1"]],
    [{}, ["ae_1", "ae_2", "ae_3"]],
  ])("filters by %j", async (filter, ids) => {
    expect(await read(await writtenLog(), { filter })).toEqual(ids);
  });

  it("leaves out a last line without an end", async () => {
    expect(await read(await writtenLog('{"agent":'))).toEqual(["ae_1", "ae_2", "ae_3"]);
  });

  it("fails at a line that is no event, after those before it", async () => {
    const seen: string[] = [];
    const reading = (async () => {
      for await (const event of readAuditLog(await writtenLog("{}\n"))) seen.push(event.id);
    })();
    await expect(reading).rejects.toMatchObject({
      code: "audit_failed",
      message: expect.stringContaining("line 4"),
    });
    expect(seen).toEqual(["ae_1", "ae_2", "ae_3"]);
  });

  it("ends with the signal", async () => {
    await expect(read(await writtenLog(), { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: "aborted",
    });
  });
});
