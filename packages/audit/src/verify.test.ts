import { appendFile, readFile, stat, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { makeEvent, makeLines, scratchDirectory, scratchLog } from "../test/support.js";
import { verifyAuditLog } from "./verify.js";

const EVENTS = [1, 2, 3].map((number) => makeEvent(number));

async function writtenLog(): Promise<string> {
  const path = await scratchLog();
  await writeFile(path, (await makeLines(EVENTS)).map((line) => `${line}\n`).join(""));
  return path;
}

describe("verifyAuditLog()", () => {
  it("reports a whole log and where it ends", async () => {
    const path = await writtenLog();
    const last = JSON.parse((await readFile(path, "utf8")).split("\n")[2] ?? "") as {
      readonly event_hash: string;
    };
    expect(await verifyAuditLog(path)).toEqual({
      ok: true,
      events: 3,
      head: { seq: 2, hash: last.event_hash },
    });
  });

  it("reports an empty log", async () => {
    const path = await scratchLog();
    await writeFile(path, "");
    expect(await verifyAuditLog(path)).toEqual({ ok: true, events: 0 });
  });

  it("names the first bad line and goes no further", async () => {
    const path = await writtenLog();
    await appendFile(path, "not json\nmore\n");
    expect(await verifyAuditLog(path)).toMatchObject({
      ok: false,
      events: 3,
      firstBad: { line: 4, code: "not_json" },
      head: { seq: 2 },
    });
  });

  it("names a torn last line", async () => {
    const path = await writtenLog();
    await appendFile(path, '{"agent":"a');
    expect(await verifyAuditLog(path)).toMatchObject({
      ok: false,
      events: 3,
      firstBad: { line: 4, code: "torn_line" },
    });
  });

  it("reports progress", async () => {
    const seen: unknown[] = [];
    const path = await writtenLog();
    await verifyAuditLog(path, { onProgress: (progress) => seen.push(progress) });
    const { size: bytes } = await stat(path);
    expect(seen.at(-1)).toEqual({ events: 3, bytes, bytesTotal: bytes });
  });

  it("ends with the signal", async () => {
    const aborted = verifyAuditLog(await writtenLog(), { signal: AbortSignal.abort() });
    await expect(aborted).rejects.toMatchObject({ code: "aborted" });
  });

  it("refuses what is no file", async () => {
    await expect(verifyAuditLog(await scratchLog())).rejects.toMatchObject({
      code: "audit_failed",
      message: expect.stringContaining("does not exist"),
    });
    await expect(verifyAuditLog(await scratchDirectory())).rejects.toMatchObject({
      code: "audit_failed",
      message: expect.stringContaining("not a file"),
    });
    await expect(verifyAuditLog("/dev/zero")).rejects.toMatchObject({ code: "audit_failed" });
  });
});
