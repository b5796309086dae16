import { chmodSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp, readFile, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { createKeptReading, createKeptReadingSync } from "./kept-reading.js";

interface Counted {
  readonly read: () => Promise<string>;
  readonly times: () => number;
}

function counted(path: string): Counted {
  let times = 0;
  const read = createKeptReading(path, () => {
    times++;
    return readFile(path, "utf8");
  });
  return { read, times: () => times };
}

/** From here on nothing has changed just now. */
function laterOn(): void {
  const nowMs = Date.now();
  vi.spyOn(Date, "now").mockImplementation(() => nowMs + 60_000);
  onTestFinished(() => void vi.restoreAllMocks());
}

let at = "";
beforeEach(async () => {
  at = await mkdtemp(join(tmpdir(), "acp-"));
  onTestFinished(() => rm(at, { recursive: true, force: true }));
});

it("createKeptReading() reads a file once, and again after each change that can be made to it", async () => {
  const path = join(at, "a");
  writeFileSync(path, "1");
  laterOn();
  const { read, times } = counted(path);
  expect([await read(), await read(), await read(), times()]).toEqual(["1", "1", "1", 1]);
  const changes: readonly (readonly [string, () => void])[] = [
    ["2", () => writeFileSync(path, "2")],
    ["3", () => (writeFileSync(`${path}.new`, "3"), renameSync(`${path}.new`, path))],
    ["3", () => chmodSync(path, 0o600)],
    ["4", () => (rmSync(path), writeFileSync(path, "4"))],
  ];
  for (const [want, change] of changes) {
    const before = times();
    change();
    // What was looked at in a turn is looked at again in the next one.
    await new Promise((resolve) => setImmediate(resolve));
    expect([await read(), await read(), times()]).toEqual([want, want, before + 1]);
  }
});

it("createKeptReading() keeps nothing of a file that may change again without showing it", async () => {
  const path = join(at, "a");
  writeFileSync(path, "1");
  const changedMs = statSync(path).ctimeMs;
  const { read, times } = counted(path);
  const now = vi.spyOn(Date, "now");
  onTestFinished(() => void vi.restoreAllMocks());
  // The last two are of a clock that went back.
  for (const afterMs of [0, 1_000, 1_999, -5_000, -3_600_000]) {
    now.mockReturnValue(changedMs + afterMs);
    const before = times();
    expect([await read(), await read(), times()]).toEqual(["1", "1", before + 2]);
  }
  now.mockReturnValue(changedMs + 3_000);
  const before = times();
  expect([await read(), await read(), times()]).toEqual(["1", "1", before + 1]);
});

it("createKeptReading() keeps nothing of a file that changes while it is read", async () => {
  const path = join(at, "a");
  writeFileSync(path, "1");
  laterOn();
  let isFirst = true;
  const read = createKeptReading(path, async () => {
    const text = await readFile(path, "utf8");
    if (isFirst) writeFileSync(path, "22");
    isFirst = false;
    return text;
  });
  expect([await read(), await read()]).toEqual(["1", "22"]);
});

it("createKeptReading() throws for a file that is gone, and reads one that comes back", async () => {
  const path = join(at, "a");
  writeFileSync(path, "1");
  laterOn();
  const { read } = counted(path);
  await read();
  rmSync(path);
  await expect(read()).rejects.toThrow("ENOENT");
  await expect(read()).rejects.toThrow("ENOENT");
  writeFileSync(path, "1");
  expect(await read()).toBe("1");
});

it("createKeptReading() keeps nothing that is read over a link", async () => {
  const path = join(at, "a");
  writeFileSync(path, "1");
  await symlink(path, join(at, "link"));
  laterOn();
  const { read, times } = counted(join(at, "link"));
  expect([await read(), await read(), times()]).toEqual(["1", "1", 2]);
});

it("createKeptReading() sees each name that comes and goes in a directory", async () => {
  laterOn();
  const read = createKeptReading(at, () => readdir(at));
  expect(await read()).toEqual([]);
  writeFileSync(join(at, "a"), "");
  expect(await read()).toEqual(["a"]);
  rmSync(join(at, "a"));
  expect(await read()).toEqual([]);
});

it("createKeptReadingSync() reads a file again after each change, and keeps it only where changes show", async () => {
  const path = join(at, "a");
  writeFileSync(path, "1");
  laterOn();
  let times = 0;
  const read = createKeptReadingSync(path, () => (times++, readFileSync(path, "utf8")));
  const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  expect(read()).toBe("1");
  // Whether changes show is not known yet.
  await nextTurn();
  expect(read()).toBe("1");
  expect(times).toBe(2);
  const isKept = async (): Promise<void> => {
    await nextTurn();
    const before = times;
    expect([read(), read(), times]).toEqual(["1", "1", before]);
  };
  await vi.waitFor(isKept, { timeout: 120_000 });
  writeFileSync(path, "2");
  await nextTurn();
  expect(read()).toBe("2");
  rmSync(path);
  await nextTurn();
  expect(() => read()).toThrow("ENOENT");
});
