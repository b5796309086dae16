import { readFile, rm, writeFile } from "node:fs/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { makeEvent, scratchLog } from "../test/support.js";
import { type AuditLog, type AuditLogOptions, openAuditLog } from "./audit-log.js";
import { generateNoteKey } from "./note.js";
import { pruneAuditLog } from "./prune.js";
import { checkpointsPath, fileWitness, readCheckpoints, type Witness } from "./witness.js";

const KEY = generateNoteKey("log-1");

const open = (
  path: string,
  witnesses: readonly Witness[],
  more: Partial<AuditLogOptions> = {},
): Promise<AuditLog> =>
  openAuditLog({ path, checkpoints: { signerKey: KEY.signerKey, witnesses }, ...more });

/** A log of so many events; every close leaves a checkpoint. */
async function written(
  witnesses: readonly Witness[],
  ...counts: readonly number[]
): Promise<string> {
  const path = await scratchLog();
  let next = 0;
  for (const count of counts) {
    await using log = await open(path, witnesses);
    for (const end = next + count; next < end; next++)
      await log.append([makeEvent(next, { tool: `tool of ${path}` })]);
  }
  return path;
}

async function cut(path: string, lines: number): Promise<void> {
  const text = await readFile(path, "utf8");
  await writeFile(path, `${text.split("\n").slice(0, lines).join("\n")}${lines === 0 ? "" : "\n"}`);
}

const refusal = (words: string): unknown =>
  expect.objectContaining({ code: "audit_failed", message: expect.stringContaining(words) });
const witnessAt = (path: string): Witness => fileWitness(`${path}.elsewhere`, "elsewhere");

describe("openAuditLog() with a witness", () => {
  it.each([0, 2, 4])(
    "does not go on with a log that was cut back to %i events together with its checkpoints",
    async (left) => {
      const elsewhere = witnessAt(await scratchLog());
      const path = await written([elsewhere], 3, 3);
      await cut(path, left);
      await rm(checkpointsPath(path));
      await expect(open(path, [elsewhere])).rejects.toEqual(
        refusal("a checkpoint that a witness keeps covers 6"),
      );
      // This is what happens to who has none.
      await using alone = await open(path, []);
      expect(alone.start?.seq).toBe(left === 0 ? undefined : left - 1);
    },
  );

  it("does not go on with a log of other events, however its own checkpoints were made", async () => {
    const [elsewhere, forger] = [witnessAt(await scratchLog()), witnessAt(await scratchLog())];
    const path = await written([elsewhere], 3);
    const other = await written([forger], 2, 5);
    await writeFile(path, await readFile(other, "utf8"));
    await writeFile(checkpointsPath(path), await readFile(checkpointsPath(other), "utf8"));
    await expect(open(path, [elsewhere])).rejects.toEqual(refusal("one of them was replaced"));
  });

  it("looks at the last of many checkpoints, and at those before where none of the last count", async () => {
    const path = await written([], 3);
    const other = await written([], 1);
    const [own = ""] = await readCheckpoints(checkpointsPath(path));
    const others = (await readCheckpoints(checkpointsPath(other))).map((note) =>
      note.replaceAll("log-1", "log-2"),
    );
    const many = (notes: readonly string[]): readonly string[] =>
      Array.from({ length: 600 }, () => notes).flat();
    await cut(path, 2);
    for (const notes of [
      [own, ...many(others)],
      [...many(others), own],
    ]) {
      const lines = notes.map((note) => `${JSON.stringify(note)}\n`);
      await writeFile(checkpointsPath(path), lines.join(""));
      await expect(open(path, [])).rejects.toEqual(refusal("its last checkpoint covers 3"));
    }
    await writeFile(checkpointsPath(path), `{}\n${JSON.stringify(own)}\n`.repeat(600));
    await expect(open(path, [])).rejects.toEqual(refusal("line 1 is not"));
  });

  it("finds two checkpoints of one size that differ", async () => {
    const elsewhere = witnessAt(await scratchLog());
    const path = await written([elsewhere], 3);
    const other = await written([], 1, 2);
    const last = (await readCheckpoints(checkpointsPath(other))).at(-1) ?? "";
    await writeFile(checkpointsPath(path), `${JSON.stringify(last)}\n`);
    await expect(open(path, [elsewhere])).rejects.toEqual(refusal("one of them was replaced"));
  });

  it.each<readonly [string, NonNullable<Witness["newest"]>]>([
    ["fails", () => Promise.reject(new Error("not mounted"))],
    ["has none", () => Promise.resolve(undefined)],
    ["has something else", () => Promise.resolve("hello")],
    [
      "has the checkpoint of another key",
      async () => (await readCheckpoints(checkpointsPath(await writtenByAnother()))).at(-1),
    ],
  ])("goes on where the witness %s", async (_, newest) => {
    const path = await written([], 3);
    await using log = await open(path, [
      { name: "elsewhere", publish: () => Promise.resolve(), newest },
    ]);
    expect(log.start?.seq).toBe(2);
  });

  it("holds the log to the largest checkpoint beside it that its key signed, wherever it stands", async () => {
    const path = await written([], 2, 2, 2);
    const lines = (await readFile(checkpointsPath(path), "utf8")).trim().split("\n");
    const [first = "", second = "", third = ""] = lines;
    const unsigned = [third.replace("\\n6\\n", "\\n60\\n"), JSON.stringify("log-1\nmany\n")];
    expect(unsigned).not.toContain(third);
    await cut(path, 4);
    const shuffled = [third, first, ...unsigned, second];
    await writeFile(checkpointsPath(path), `${shuffled.join("\n")}\n`);
    await expect(open(path, [])).rejects.toEqual(refusal("its last checkpoint covers 6"));
  });

  it("goes on where the witness never answers, after a time", async () => {
    const path = await written([], 3);
    const time = new AbortController();
    const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValueOnce(time.signal);
    onTestFinished(() => timeout.mockRestore());
    let given: AbortSignal | undefined;
    const silent = (signal: AbortSignal): Promise<string> => {
      given = signal;
      return new Promise(() => {});
    };
    const opening = open(path, [
      { name: "elsewhere", publish: () => Promise.resolve(), newest: silent },
    ]);
    await vi.waitFor(() => expect(given).toBe(time.signal), { timeout: 120_000 });
    time.abort();
    await using log = await opening;
    expect(log.start?.seq).toBe(2);
  });

  it("goes on where a witness has an older checkpoint, also one of events that retention removed", async () => {
    const path = await written([], 2, 2);
    const [first = ""] = await readCheckpoints(checkpointsPath(path));
    const late: Witness = {
      name: "late",
      publish: () => Promise.resolve(),
      newest: () => Promise.resolve(first),
    };
    await using log = await open(path, [late], { rotation: { maxBytes: 1 } });
    expect(log.start?.seq).toBe(3);
    for (let number = 4; number < 8; number++) await log.append([makeEvent(number)]);
    expect(await pruneAuditLog(log, { keepFiles: 1 })).not.toEqual([]);
    await log.close();
    await using again = await open(path, [late]);
    expect(again.start?.seq).toBeGreaterThan(7);
  });
});

async function writtenByAnother(): Promise<string> {
  const path = await scratchLog();
  await using log = await openAuditLog({
    path,
    checkpoints: { signerKey: generateNoteKey("log-1").signerKey },
  });
  for (let number = 0; number < 9; number++) await log.append([makeEvent(number)]);
  await log.close();
  return path;
}
