/** What the tests of this package share: events, scratch directories, logs made of memory. */
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AuditEventInput } from "@acp/core";
import { onTestFinished } from "vitest";
import { memoryAuditSink } from "../src/memory.js";
import type { LogClock } from "../src/wall-clock.js";

export function makeEvent(number: number, fields: Partial<AuditEventInput> = {}): AuditEventInput {
  return {
    id: `ae_${number}`,
    atMs: Date.UTC(2026, 0, 15, 10, 30) + number,
    eventType: "policy_evaluated",
    requestId: "",
    agent: "agent-1",
    tool: "write_file",
    category: "write",
    riskLevel: "medium",
    decision: "allow",
    responseTimeMs: 0,
    policyRule: "rule_1",
    metadata: {},
    ...fields,
  };
}

/** A clock that the test moves: both hands with `pass`, the wall clock alone with `jump`. */
export interface ManualTime extends LogClock {
  pass(ms: number): void;
  jump(ms: number): void;
}

export function manualTime(startMs: number): ManualTime {
  let [wall, mono] = [startMs, 0];
  return {
    now: () => wall,
    monotonic: () => mono,
    pass(ms) {
      wall += ms;
      mono += ms;
    },
    jump(ms) {
      wall += ms;
    },
  };
}

/** Everything that an iterable gives. */
export async function collect<T>(from: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = [];
  for await (const each of from) found.push(each);
  return found;
}

/** A private directory that is gone after the test. */
export async function scratchDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "acp-audit-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** The path of a log that does not exist yet, in a scratch directory. */
export async function scratchLog(): Promise<string> {
  return join(await scratchDirectory(), "audit.jsonl");
}

/** The lines of a good log. */
export async function makeLines(events: readonly AuditEventInput[]): Promise<readonly string[]> {
  await using sink = memoryAuditSink();
  await sink.append(events);
  return sink.lines;
}

/** A byte stream of one text or several pieces. */
export async function* streamOf(
  ...pieces: readonly (string | Uint8Array)[]
): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield Buffer.from(piece);
}

/** Counts the bytes that are read of files from now on, in this process. */
export async function countingReads(): Promise<() => number> {
  await using any = await open(import.meta.filename);
  const proto: Pick<typeof any, "read"> = Object.getPrototypeOf(any);
  const read = proto.read;
  let total = 0;
  proto.read = async function (this: typeof any, ...args: unknown[]) {
    const result = await Reflect.apply(read, this, args);
    total += result.bytesRead;
    return result;
  };
  onTestFinished(() => {
    proto.read = read;
  });
  return () => total;
}
