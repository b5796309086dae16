import { type DurableSinkUnderTest, type SinkUnderTest, auditRecoveryConformance, auditSinkConformance } from "@acp/testing";
import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "vitest";
import { type AuditEvent, type AuditLogOptions, generateNoteKey, memoryAuditSink, openAuditLog, readAuditLog } from "../src/index.js";

async function fileSink(options: Omit<AuditLogOptions, "path"> = {}): Promise<DurableSinkUnderTest> {
  const directory = await mkdtemp(join(tmpdir(), "acp-audit-"));
  const path = join(directory, "audit.jsonl");
  const first = await openAuditLog({ path, ...options });
  const opened = [first];
  const closeLast = (): Promise<void> => opened.at(-1)?.close() ?? Promise.resolve();
  return {
    sink: first,
    close: closeLast,
    async read() {
      const events: AuditEvent[] = [];
      for await (const event of readAuditLog(path)) events.push(event);
      return events;
    },
    fail: () => appendFile(path, "{"), // somebody else writes into it: from then on nothing may be added
    mend: async () => {}, // the next opening does
    async crash() {
      await closeLast();
      await appendFile(path, '{"agent":"agent-1","category":"wri');
    },
    async reopen() {
      const next = await openAuditLog({ path, ...options });
      opened.push(next);
      return next;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map((log) => log.close()));
      await rm(directory, { recursive: true });
    },
  };
}

const signed = { checkpoints: { signerKey: generateNoteKey("conformance").signerKey, everyEvents: 7 } };

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

const inFiles = (): Promise<DurableSinkUnderTest> => fileSink({ rotation: { maxBytes: 2_000 }, ...signed });

describe.each([
  ["openAuditLog()", fileSink],
  ["openAuditLog() with rotation and checkpoints", inFiles],
  ["memoryAuditSink()", memorySink],
])("%s conforms to AuditSink", (_name, makeSink) => {
  for (const { name, run } of auditSinkConformance(() => makeSink())) it(name, run);
});

describe.each([
  ["openAuditLog()", fileSink],
  ["openAuditLog() with rotation and checkpoints", inFiles],
])("%s conforms to a sink that outlives its process", (_name, makeSink) => {
  for (const { name, run } of auditRecoveryConformance(() => makeSink())) it(name, run);
});
