import { appendFile, readFile } from "node:fs/promises";
import type { AuditSink } from "@acp/core";
import { describe, expect, it } from "vitest";
import { collect, makeEvent, scratchDirectory, scratchLog } from "../test/support.js";
import { openAuditLog } from "./audit-log.js";
import { openPlainLog } from "./plain-log.js";
import { readAuditLog } from "./read.js";
import { teeSinks } from "./tee.js";

describe("teeSinks()", () => {
  it("gives every event to all, in one order, and answers with the first one's place", async () => {
    const directory = await scratchDirectory();
    const [chainedPath, plainPath] = [`${directory}/audit.jsonl`, `${directory}/plain.jsonl`];
    await using chained = await openAuditLog({ path: chainedPath });
    await using plain = await openPlainLog({ path: plainPath });
    const sink = teeSinks(chained, plain);
    const receipts = await Promise.all(
      Array.from({ length: 50 }, (_, number) => sink.append([makeEvent(number)])),
    );
    const events = await collect(readAuditLog(chainedPath));
    expect(receipts.map(({ hash }) => hash)).toEqual(events.map(({ hash }) => hash));
    const lines = (await readFile(plainPath, "utf8")).trimEnd().split("\n");
    expect(lines.map((line) => Date.parse(JSON.parse(line).timestamp))).toEqual(
      events.map(({ atMs }) => atMs),
    );
  });

  it("gives nothing to the second that the first does not hold", async () => {
    const given: unknown[] = [];
    const first: AuditSink = { append: () => Promise.reject(new Error("disk")) };
    const second: AuditSink = { append: async (events) => ({ seq: given.push(events), hash: "" }) };
    await expect(teeSinks(first, second).append([makeEvent(1)])).rejects.toThrow("disk");
    expect(given).toEqual([]);
  });

  it("fails where the second does, also later", async () => {
    const path = await scratchLog();
    await using chained = await openAuditLog({ path });
    await using plain = await openPlainLog({ path: `${path}.v03` });
    const sink = teeSinks(chained, plain);
    await sink.append([makeEvent(1)]);
    await appendFile(plain.path, "{");
    await expect(sink.append([makeEvent(2)])).rejects.toMatchObject({ code: "audit_failed" });
    await expect(sink.append([makeEvent(3)])).rejects.toMatchObject({ code: "audit_failed" });
  });
});
