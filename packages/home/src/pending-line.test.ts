import { pendingRecord } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { printRecord, readRecord } from "./pending-line.js";

describe("printRecord()", () => {
  it("gives a line that reads back as it was", () => {
    const line = printRecord(pendingRecord());
    expect(line.indexOf("\n")).toBe(line.length - 1);
    expect(readRecord(line)).toEqual(pendingRecord());
  });
});

describe("readRecord()", () => {
  const record = pendingRecord();
  it.each<readonly [string, unknown]>([
    ["null", null],
    ["a list", [record]],
    ["a version that is none", { ...record, version: 0.5 }],
    ["a version as text", { ...record, version: "0" }],
    ["another status", { ...record, status: "approved" }],
    ["an end of an open question", { ...record, end: { status: "approved" } }],
    ["no end of an ended question", { ...record, status: "ended" }],
    ["another question's request", { ...record, request: { ...record.request, id: "cr_2" } }],
    ["no expiry", { ...record, request: { id: record.id } }],
    ["an adoption that is no flag", { ...record, adopted: 0 }],
    ["no agent", { ...record, agentId: undefined }],
  ])("takes %s for no record", (_, value) => {
    expect(readRecord(JSON.stringify(value))).toBeUndefined();
  });

  it("takes text that is not JSON for no record", () => {
    expect(readRecord('{"id":"cr_1"')).toBeUndefined();
  });
});
