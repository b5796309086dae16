import { appendFile, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { makeEvent, makeLines, scratchLog } from "../test/support.js";
import { type ReadOptions, readAuditLog, readAuditLogBackward } from "./read.js";

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

describe("readAuditLogBackward()", () => {
  const readBack = async (path: string, options?: ReadOptions): Promise<readonly string[]> => {
    const ids: string[] = [];
    for await (const event of readAuditLogBackward(path, options)) ids.push(event.id);
    return ids;
  };

  it("gives what readAuditLog() gives, the last first, whatever the lines' lengths and the end", async () => {
    const sizes = [1, 300_000, 10, 261_000, 262_144, 700_000, 2, 1_500_000, 3];
    const events = sizes.map((size, at) =>
      makeEvent(at, { metadata: { text: "x".repeat(size) }, agent: `agent-${at % 2}` }),
    );
    const path = await scratchLog();
    const text = (await makeLines(events)).map((line) => `${line}\n`).join("");
    for (const torn of ["", '{"agent":"', `{"agent":"${"x".repeat(300_000)}`]) {
      await writeFile(path, text + torn);
      for (const filter of [{}, { agent: "agent-1" }])
        expect(await readBack(path, { filter })).toEqual(
          (await read(path, { filter })).toReversed(),
        );
    }
  });

  it("reads no more than is asked for, and fails at a line that is no event when it comes to it", async () => {
    const path = await scratchLog();
    const lines = await makeLines(EVENTS);
    await writeFile(path, `{}\n${lines.join("\n")}\n`);
    const seen: string[] = [];
    const reading = (async () => {
      for await (const event of readAuditLogBackward(path)) seen.push(event.id);
    })();
    await expect(reading).rejects.toMatchObject({ code: "audit_failed" });
    expect(seen).toEqual(["ae_3", "ae_2", "ae_1"]);
    await writeFile(path, `${"x".repeat(9_000_000)}\n`);
    await expect(readBack(path)).rejects.toMatchObject({ code: "audit_failed" });
  });

  it("ends with the signal", async () => {
    await expect(
      readBack(await writtenLog(), { signal: AbortSignal.abort() }),
    ).rejects.toMatchObject({ code: "aborted" });
  });
});
