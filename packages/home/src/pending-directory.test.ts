import { appendFileSync } from "node:fs";
import {
  type FileHandle,
  appendFile,
  chmod,
  mkdir,
  open,
  readdir,
  rm,
  stat,
  truncate,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { type MachineEvent, type PendingRecord, reduce } from "@acp/core";
import { pendingRecord } from "@acp/testing";
import { describe, expect, it, vi } from "vitest";
import { scratchDirectory } from "../test/support.js";
import { type PendingFiles, openPendingFiles } from "./pending-directory.js";

const place = async (): Promise<string> => join(await scratchDirectory(), "pending");

/**
 * Files as a process leaves them that was killed: closing gives up the lock and keeps everything.
 */
async function leave(
  directory: string,
  use: (store: PendingFiles) => Promise<unknown>,
): Promise<string> {
  await using store = await openPendingFiles(directory);
  await use(store);
  const [folder = ""] = await folders(directory);
  return join(directory, folder, "journal.jsonl");
}

const folders = async (directory: string): Promise<readonly string[]> =>
  (await readdir(directory)).filter((name) => /^[0-9a-f]{8}$/.test(name));

describe("openPendingFiles()", () => {
  it("takes over the questions of a process that is gone, and their ends", async () => {
    const directory = await place();
    await leave(directory, async (store) => {
      await store.put(pendingRecord({ id: "cr_open" }));
      const over = pendingRecord({ id: "cr_over" });
      await store.put(over);
      const ended = reduce(over, { type: "expire", atMs: over.request.expiresAtMs });
      if (ended.ok) await store.transition("cr_over", 0, ended.next);
    });
    await using store = await openPendingFiles(directory);
    expect(store.leftOpen).toEqual(new Set(["cr_open"]));
    expect(await store.get("cr_open")).toEqual(pendingRecord({ id: "cr_open" }));
    expect((await store.get("cr_over"))?.end?.status).toBe("expired");
    expect(await folders(directory)).toHaveLength(1);
  });

  it("leaves the questions of a process that lives", async () => {
    const directory = await place();
    await using one = await openPendingFiles(directory);
    await one.put(pendingRecord());
    await using two = await openPendingFiles(directory);
    expect(two.leftOpen).toEqual(new Set());
    expect(await two.get("cr_1")).toBeUndefined();
    expect(await folders(directory)).toHaveLength(2);
    expect(await one.get("cr_1")).toEqual(pendingRecord());
  });

  it("opens while a process that lives adds to its own, and where one died in a letter", async () => {
    const directory = await place();
    await using one = await openPendingFiles(directory);
    await one.put(pendingRecord());
    const [folder = ""] = await folders(directory);
    const journal = join(directory, folder, "journal.jsonl");
    const handle = await open(journal);
    const { prototype } = handle.constructor;
    await handle.close();
    const { stat: statOf } = prototype;
    // Between the look at its size and the reading.
    vi.spyOn(prototype, "stat").mockImplementation(async function (this: FileHandle) {
      const found: unknown = await Reflect.apply(statOf, this, []);
      appendFileSync(journal, "é");
      return found;
    });
    await using two = await openPendingFiles(directory);
    vi.restoreAllMocks();
    await one[Symbol.asyncDispose]();
    await truncate(journal, (await stat(journal)).size - 1);
    await using three = await openPendingFiles(directory);
    expect([two.leftOpen, three.leftOpen]).toEqual([new Set(), new Set(["cr_1"])]);
  });

  it("gives what is left to one of many that start at the same time", async () => {
    const directory = await place();
    await leave(directory, (store) => store.put(pendingRecord()));
    const stores = await Promise.all(Array.from({ length: 4 }, () => openPendingFiles(directory)));
    expect(stores.filter(({ leftOpen }) => leftOpen.has("cr_1"))).toHaveLength(1);
    for (const store of stores) await store[Symbol.asyncDispose]();
  });

  it("takes the further one of a record that a crash left in two folders", async () => {
    const directory = await place();
    const file = await leave(directory, (store) =>
      store.put({ ...pendingRecord(), version: 1, status: "delivered" }),
    );
    await using other = await openPendingFiles(directory);
    expect((await other.get("cr_1"))?.version).toBe(1);
    await other[Symbol.asyncDispose]();
    // The folder that was taken over is back, as if it had not been removed.
    await mkdir(join(file, ".."), { mode: 0o700 });
    await writeFile(file, `${JSON.stringify(pendingRecord())}\n`, { mode: 0o600 });
    await using store = await openPendingFiles(directory);
    expect((await store.get("cr_1"))?.version).toBe(1);
  });

  it("drops a last line that was cut short", async () => {
    const directory = await place();
    const file = await leave(directory, (store) => store.put(pendingRecord()));
    await appendFile(file, JSON.stringify({ ...pendingRecord({ id: "cr_2" }) }).slice(0, -1));
    await using store = await openPendingFiles(directory);
    expect(store.leftOpen).toEqual(new Set(["cr_1"]));
  });

  it.each([
    ["is no question", "{}"],
    ["is no JSON", "nonsense"],
    [
      "is one that does not count",
      JSON.stringify({ ...pendingRecord(), version: 7, agentId: "forged" }),
    ],
  ])("starts over a line that %s, and keeps the others", async (_what, line) => {
    const directory = await place();
    const file = await leave(directory, (store) => store.put(pendingRecord()));
    await appendFile(file, `${line}\n`);
    const accepts = ({ agentId }: PendingRecord): boolean => agentId !== "forged";
    await using store = await openPendingFiles(directory, accepts);
    expect([store.leftOpen, store.held]).toEqual([new Set(["cr_1"]), new Set(["cr_1"])]);
    expect(store.ignored).toBe(1);
    expect(await store.get("cr_1")).toEqual(pendingRecord());
  });

  it("is private, and does not start while others may read a journal", async () => {
    const directory = await place();
    const file = await leave(directory, (store) => store.put(pendingRecord()));
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await chmod(file, 0o644);
    await expect(openPendingFiles(directory)).rejects.toMatchObject({ code: "home_invalid" });
  });

  it("starts after a process that died before it wrote anything", async () => {
    const directory = await place();
    await leave(directory, async () => {});
    const [name = ""] = await folders(directory);
    await rm(join(directory, name, "journal.jsonl"));
    await using store = await openPendingFiles(directory);
    expect(store.leftOpen).toEqual(new Set());
  });
});

describe("openPendingFiles() for who reads an audit log", () => {
  const approval = {
    approverId: "local",
    channel: "test",
    atMs: pendingRecord().request.createdAtMs,
  };
  const approve = {
    type: "approve",
    approval,
    terms: { reason: "", validUntilMs: pendingRecord().request.expiresAtMs },
  } as const;
  const deny = { ...approve, type: "deny" } as const;
  const recorded = { type: "recorded" } as const;
  const taken = { type: "collect" } as const;

  async function ask(
    store: PendingFiles,
    id: string,
    ...events: readonly MachineEvent[]
  ): Promise<void> {
    let record = pendingRecord({ id });
    await store.put(record);
    for (const event of events) {
      const reduction = reduce(record, event);
      if (!reduction.ok) throw new Error(reduction.code);
      await store.transition(id, record.version, reduction.next);
      record = reduction.next;
    }
  }

  async function askAll(store: PendingFiles): Promise<void> {
    await ask(store, "cr_open");
    await ask(store, "cr_no", deny, recorded);
    await ask(store, "cr_unrecorded", approve);
    await ask(store, "cr_yes", approve, recorded);
    await ask(store, "cr_given_up", approve, recorded, { type: "uncollected", reason: "" });
    await ask(store, "cr_taken", approve, recorded, taken);
    await ask(store, "cr_late", approve, recorded, taken, {
      type: "outcome",
      outcome: { status: "not_collected", detail: "" },
    });
    await ask(store, "cr_ran", approve, recorded, taken, {
      type: "outcome",
      outcome: { status: "ran", detail: "" },
    });
  }

  it("holds what a dead process left unfinished, and knows whose answers nobody took", async () => {
    const directory = await place();
    await leave(directory, askAll);
    await using store = await openPendingFiles(directory);
    expect(store.held).toEqual(new Set(["cr_open", "cr_yes"]));
    expect(store.untaken).toEqual(new Set(["cr_no", "cr_unrecorded", "cr_given_up", "cr_late"]));
    expect(store.leftOpen).toEqual(new Set(["cr_open"]));
  });

  it("holds what a live process goes on with: it will write down what it did with it", async () => {
    const directory = await place();
    await using one = await openPendingFiles(directory);
    await askAll(one);
    await using two = await openPendingFiles(directory);
    expect(two.held).toEqual(new Set(["cr_open", "cr_yes", "cr_unrecorded", "cr_taken"]));
    expect(two.untaken).toEqual(new Set(["cr_no", "cr_given_up", "cr_late"]));
    expect(two.leftOpen).toEqual(new Set());
  });
});
