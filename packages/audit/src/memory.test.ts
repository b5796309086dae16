import { describe, expect, it } from "vitest";
import { makeEvent, streamOf } from "../test/support.js";
import { splitLines } from "./lines.js";
import { memoryAuditSink } from "./memory.js";
import { verifyLines } from "./verify.js";

describe("memoryAuditSink()", () => {
  it("keeps the lines that a file would hold", async () => {
    const sink = memoryAuditSink();
    await sink.append([makeEvent(1), makeEvent(2)]);
    expect(sink.events()).toMatchObject([makeEvent(1), makeEvent(2)]);
    expect(
      await verifyLines(splitLines(streamOf(sink.lines.map((line) => `${line}\n`).join("")))),
    ).toMatchObject({ ok: true, events: 2 });
  });

  it("refuses everything after fail(), with its reason", async () => {
    const sink = memoryAuditSink();
    sink.fail(new Error("no space"));
    await expect(sink.append([makeEvent(1)])).rejects.toMatchObject({
      code: "audit_failed",
      message: expect.stringContaining("no space"),
    });
    expect(sink.lines).toEqual([]);
  });
});
