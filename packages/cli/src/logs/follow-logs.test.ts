import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AuditLog, openAuditLog } from "@acp/audit";
import { logEvent } from "@acp/core";
import { expect, it, onTestFinished } from "vitest";
import { listAuditFiles } from "./log-files.js";
import { followLogs } from "./follow-logs.js";

interface World {
  readonly directory: string;
  /** Opens a log and writes events with these ids. */
  write(name: string, ...ids: readonly string[]): Promise<void>;
  /** Lets the follower look for new logs again. */
  look(): Promise<void>;
  /** Ids of the events that were given. */
  readonly seen: string[];
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/** A follower of a directory that looks for new logs only when it is told to. */
async function following(
  fromSeqs: Readonly<Record<string, number>> = {},
  before?: (at: string) => Promise<void>,
): Promise<World> {
  const directory = await mkdtemp(join(tmpdir(), "acp-"));
  const stop = new AbortController();
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  onTestFinished(() => stop.abort());
  await before?.(directory);
  const seen: string[] = [];
  let go: (() => void) | undefined;
  const pause = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      go = resolve;
      signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
      if (signal.aborted) reject(new Error("aborted"));
    });
  const ended = followLogs({
    list: () => listAuditFiles(directory),
    fromSeqs: new Map(Object.entries(fromSeqs).map(([name, seq]) => [join(directory, name), seq])),
    filter: {},
    signal: stop.signal,
    onEvent: ({ id }) => seen.push(id),
    pause,
  });
  ended.catch(() => {});
  return {
    directory,
    write: (name, ...ids) => write(join(directory, name), ids),
    async look() {
      await expect.poll(() => go).toBeDefined();
      go?.();
      go = undefined;
    },
    seen,
    stop,
    ended,
  };
}

async function write(path: string, ids: readonly string[]): Promise<void> {
  await using log: AuditLog = await openAuditLog({ path });
  for (const id of ids) await log.append([logEvent("gate_notice", { id, atMs: 0 }, {})]);
}

it("followLogs() joins every log that appears later, from its start, and goes on with those that it knew", {
  timeout: 120_000,
}, async () => {
  const at = await following({ "audit.jsonl": 1 }, (directory) =>
    write(join(directory, "audit.jsonl"), ["old", "a"]),
  );
  await expect.poll(() => at.seen).toEqual(["a"]);
  await at.write("audit.2.jsonl", "b1", "b2");
  await at.write("audit.3.jsonl", "c1");
  await at.look();
  await expect.poll(() => at.seen.toSorted()).toEqual(["a", "b1", "b2", "c1"]);
  await at.write("audit.10.jsonl", "d1");
  await at.write("audit.2.jsonl", "b3");
  await at.write("audit.jsonl", "a2");
  await at.look();
  await expect.poll(() => at.seen.toSorted()).toEqual(["a", "a2", "b1", "b2", "b3", "c1", "d1"]);
  at.stop.abort();
  await expect(at.ended).resolves.toBeUndefined();
});

it("followLogs() ends with the error of a log that is broken", async () => {
  const at = await following();
  await at.write("audit.jsonl", "a");
  await writeFile(join(at.directory, "audit.2.jsonl"), "no event\n");
  await at.look();
  await expect(at.ended).rejects.toMatchObject({
    code: "audit_failed",
    message: expect.stringContaining("audit.2.jsonl"),
  });
});
