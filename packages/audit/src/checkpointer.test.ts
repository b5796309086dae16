import { appendFile, readFile, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { collect, makeEvent, scratchLog } from "../test/support.js";
import { type AuditLog, type CheckpointOptions, openAuditLog } from "./audit-log.js";
import { openCheckpoint } from "./checkpoint.js";
import { generateNoteKey, noteVerifier } from "./note.js";
import { readAuditLog } from "./read.js";
import { verifyAuditLog } from "./verify.js";
import { checkpointsPath, fileWitness, readCheckpoints, type Witness } from "./witness.js";

const KEY = generateNoteKey("log-1");
const VERIFIER = noteVerifier(KEY.verifierKey);

/** Notes the sizes that it was given; fails while it is told to. */
function recordingWitness(): Witness & { readonly sizes: number[]; failure: Error | undefined } {
  return {
    name: "recorder",
    sizes: [],
    failure: undefined,
    async publish(note) {
      if (this.failure !== undefined) throw this.failure;
      this.sizes.push(sizeOf(note));
    },
  };
}

function sizeOf(note: string): number {
  const opened = openCheckpoint(note, [VERIFIER]);
  if (!opened.ok) throw new Error(opened.reason);
  return opened.checkpoint.size;
}

async function openSigned(
  path: string,
  options: Partial<CheckpointOptions> = {},
): Promise<AuditLog> {
  return openAuditLog({ path, checkpoints: { signerKey: KEY.signerKey, ...options } });
}

const fill = async (log: AuditLog, count: number): Promise<void> => {
  for (let number = 0; number < count; number++) await log.append([makeEvent(number)]);
};

const sizesBeside = async (path: string): Promise<readonly number[]> =>
  (await readCheckpoints(checkpointsPath(path))).map(sizeOf);

afterEach(() => {
  vi.useRealTimers();
});

/** A tree takes events once whoever appended them has gone on. */
async function released(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describe("openAuditLog() with checkpoints", () => {
  it("signs after so many events, on request, and at the end", async () => {
    const path = await scratchLog();
    const witness = recordingWitness();
    await using log = await openSigned(path, { everyEvents: 4, witnesses: [witness] });
    await fill(log, 5);
    expect(sizeOf(await log.checkpoint())).toBe(5);
    await fill(log, 1);
    await log.close();
    expect(witness.sizes).toEqual([4, 5, 6]);
    expect(await sizesBeside(path)).toEqual([4, 5, 6]);
    expect((await stat(checkpointsPath(path))).mode & 0o777).toBe(0o600);
    const notes = await readCheckpoints(checkpointsPath(path));
    const found = await verifyAuditLog(path, {
      checkpoints: { notes, verifierKeys: [KEY.verifierKey], origin: "log-1" },
    });
    expect(found).toMatchObject({
      ok: true,
      events: 6,
      checkpoints: { verified: 3, events: 6, tooOld: 0 },
    });
  });

  it("signs when an event has waited long enough, once", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const path = await scratchLog();
    const witness = recordingWitness();
    await using log = await openSigned(path, { everyMs: 60_000, witnesses: [witness] });
    await fill(log, 2);
    await released();
    vi.advanceTimersByTime(59_999);
    expect(witness.sizes).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(witness.sizes).toEqual([2]);
    vi.advanceTimersByTime(600_000);
    expect(witness.sizes).toEqual([2]);
    vi.useRealTimers();
  });

  it("signs nothing at the end where all is signed, and nothing of an empty log", async () => {
    const path = await scratchLog();
    await using log = await openSigned(path);
    await log.close();
    expect(await sizesBeside(path)).toEqual([]);
    await using again = await openSigned(path, { everyEvents: 1 });
    await fill(again, 1);
    await again.close();
    expect(await sizesBeside(path)).toEqual([1]);
  });

  it("goes on over openings, from the last checkpoint or from the lines", async () => {
    const path = await scratchLog();
    for (const forget of [false, true, false]) {
      await using log = await openSigned(path, { everyEvents: 2 });
      await fill(log, 3);
      await log.close();
      if (forget) await writeFile(checkpointsPath(path), "");
    }
    const notes = await readCheckpoints(checkpointsPath(path));
    expect(
      await verifyAuditLog(path, { checkpoints: { notes, verifierKeys: [KEY.verifierKey] } }),
    ).toMatchObject({
      ok: true,
      checkpoints: { events: 9 },
    });
  });

  it("records once that a witness fails, and that it works again, and never holds up an append", async () => {
    const path = await scratchLog();
    const witness = recordingWitness();
    await using log = await openSigned(path, { everyEvents: 1_000, witnesses: [witness] });
    witness.failure = new Error("no answer\nat all");
    for (let round = 0; round < 3; round++) {
      await fill(log, 1);
      await log.checkpoint();
    }
    witness.failure = undefined;
    await log.checkpoint();
    await log.close();
    const said = (await collect(readAuditLog(path))).filter(({ eventType }) =>
      eventType.startsWith("witness_"),
    );
    expect(said.map(({ eventType, metadata }) => [eventType, metadata])).toEqual([
      ["witness_failed", { witness: "recorder", reason: "no answer at all" }],
      ["witness_restored", { witness: "recorder" }],
    ]);
    expect((await sizesBeside(path)).length).toBeGreaterThan(3);
  });

  it("gives a slow witness the newest checkpoint only, one at a time", async () => {
    const path = await scratchLog();
    const release: (() => void)[] = [];
    const sizes: number[] = [];
    const slow: Witness = {
      name: "slow",
      publish(note) {
        sizes.push(sizeOf(note));
        return new Promise((resolve) => release.push(resolve));
      },
    };
    await using log = await openSigned(path, { everyEvents: 1, witnesses: [slow] });
    await fill(log, 5);
    await released();
    expect(sizes).toEqual([1]);
    release.shift()?.();
    await vi.waitFor(() => expect(sizes).toEqual([1, 5]), { timeout: 120_000 });
    release.shift()?.();
    await log.close();
  });

  it("closes in time though a witness never answers", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const path = await scratchLog();
    let given: AbortSignal | undefined;
    const silent: Witness = {
      name: "silent",
      publish(_note, signal) {
        given = signal;
        return new Promise(() => {});
      },
    };
    const log = await openSigned(path, { everyEvents: 1, witnesses: [silent] });
    await fill(log, 1);
    const closing = log.close();
    await vi.waitFor(
      async () => {
        vi.advanceTimersByTime(5_000);
        expect(given?.aborted).toBe(true);
      },
      { timeout: 120_000 },
    );
    await closing;
  });

  it("refuses to go on with a log whose end was cut off", async () => {
    const path = await scratchLog();
    await using log = await openSigned(path);
    await fill(log, 3);
    await log.close();
    const lines = (await readFile(path, "utf8")).split("\n");
    await writeFile(path, `${lines.slice(0, 2).join("\n")}\n`);
    await expect(openSigned(path)).rejects.toMatchObject({
      code: "audit_failed",
      message: expect.stringContaining("its end was cut off"),
    });
  });

  it("takes no checkpoint of another key or another log for its own", async () => {
    const path = await scratchLog();
    const other = generateNoteKey("log-1");
    await using theirs = await openAuditLog({
      path: `${path}2`,
      checkpoints: { signerKey: other.signerKey },
    });
    await fill(theirs, 9);
    await theirs.close();
    await using foreign = await openSigned(`${path}3`, { origin: "log-3" });
    await fill(foreign, 9);
    await foreign.close();
    await writeFile(
      checkpointsPath(path),
      (await readFile(checkpointsPath(`${path}2`), "utf8")) +
        (await readFile(checkpointsPath(`${path}3`), "utf8")),
    );
    await using log = await openSigned(path);
    await fill(log, 1);
    await log.close();
    const notes = (await readCheckpoints(checkpointsPath(path))).slice(-1);
    const claims = { notes, verifierKeys: [KEY.verifierKey], origin: "log-1" };
    expect(await verifyAuditLog(path, { checkpoints: claims })).toMatchObject({
      ok: true,
      checkpoints: { verified: 1 },
    });
  });

  it("refuses a bad key, and checkpoint() without one", async () => {
    const path = await scratchLog();
    await expect(
      openAuditLog({ path, checkpoints: { signerKey: "PRIVATE+KEY+x" } }),
    ).rejects.toMatchObject({ code: "key_rejected" });
    await using log = await openAuditLog({ path });
    await expect(log.checkpoint()).rejects.toMatchObject({ code: "audit_failed" });
  });
});

describe("fileWitness()", () => {
  it("writes over a line that a crash cut short, which readers leave out", async () => {
    const path = await scratchLog();
    const witness = fileWitness(path);
    const signal = AbortSignal.timeout(60_000);
    await witness.publish("one\n", signal);
    await appendFile(path, '"torn');
    expect(await readCheckpoints(path)).toEqual(["one\n"]);
    await witness.publish("two\n", signal);
    expect(await readCheckpoints(path)).toEqual(["one\n", "two\n"]);
  });

  it("writes over one that is longer than what it looks at", async () => {
    const path = await scratchLog();
    await writeFile(path, `"one"\n"${"x".repeat(200_000)}`);
    await fileWitness(path).publish("two", AbortSignal.timeout(60_000));
    expect(await readCheckpoints(path)).toEqual(["one", "two"]);
  });

  it("writes through no link: what is behind it is another file", async () => {
    const path = await scratchLog();
    await writeFile(`${path}.other`, "other\n");
    await symlink(`${path}.other`, path);
    await expect(
      fileWitness(path).publish("one", AbortSignal.timeout(60_000)),
    ).rejects.toMatchObject({ code: "ELOOP" });
    expect(await readFile(`${path}.other`, "utf8")).toBe("other\n");
  });
});

describe("readCheckpoints()", () => {
  it("finds none where there is no file, and refuses what is no checkpoint file", async () => {
    const path = await scratchLog();
    expect(await readCheckpoints(path)).toEqual([]);
    await writeFile(path, '"one"\n7\n');
    await expect(readCheckpoints(path)).rejects.toMatchObject({
      code: "audit_failed",
      message: expect.stringContaining("line 2"),
    });
    await truncate(path, 64 * 1024 * 1024 + 1);
    await expect(readCheckpoints(path)).rejects.toMatchObject({
      code: "audit_failed",
      message: expect.stringContaining("more than"),
    });
  });
});
