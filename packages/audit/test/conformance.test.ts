import { type SinkUnderTest, auditSinkConformance } from "@acp/testing";
import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "vitest";
import { type AuditEvent, memoryAuditSink, openAuditLog, readAuditLog } from "../src/index.js";

async function fileSink(): Promise<SinkUnderTest> {
  const directory = await mkdtemp(join(tmpdir(), "acp-audit-"));
  const path = join(directory, "audit.jsonl");
  const log = await openAuditLog({ path });
  return {
    sink: log,
    close: () => log.close(),
    async read() {
      const events: AuditEvent[] = [];
      for await (const event of readAuditLog(path)) events.push(event);
      return events;
    },
    fail: () => appendFile(path, "{"), // somebody else writes into it: from then on nothing may be added
    async [Symbol.asyncDispose]() {
      await log.close();
      await rm(directory, { recursive: true });
    },
  };
}

async function memorySink(): Promise<SinkUnderTest> {
  const sink = memoryAuditSink();
  return {
    sink,
    close: () => sink.close(),
    read: async () => sink.events(),
    fail: async () => sink.fail(new Error("out of memory")),
    [Symbol.asyncDispose]: () => sink.close(),
  };
}

describe.each([
  ["openAuditLog()", fileSink],
  ["memoryAuditSink()", memorySink],
])("%s conforms to AuditSink", (_name, makeSink) => {
  for (const { name, run } of auditSinkConformance(makeSink)) it(name, run);
});
