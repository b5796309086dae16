import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ownProcessName } from "@acp/sandbox-linux";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { keepRecord, settleRecords } from "./left-record.js";

let dir: string;
let work: string;
let records: string;
beforeEach(() => {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), "acp-record-")));
  onTestFinished(() => rmSync(scratch, { recursive: true }));
  dir = join(scratch, "home");
  work = join(scratch, "work");
  records = join(dir, "left-behind");
  mkdirSync(dir, { mode: 0o700 });
  mkdirSync(work);
});

/** The name of a process that is gone. */
async function goneName(): Promise<string> {
  const child = spawn("true");
  await once(child, "exit");
  return ownProcessName().replace(/-\d+-\d+$/u, `-${child.pid}-1`);
}

/** As if the manager that kept it were gone. */
async function orphan(): Promise<void> {
  const [name = ""] = readdirSync(records);
  renameSync(join(records, name), join(records, name.replace(ownProcessName(), await goneName())));
}

describe("records of workspaces", () => {
  it("are settled once, when their manager is gone", async () => {
    await keepRecord({ dir }, { path: work, places: [], ids: [], writable: [] });
    writeFileSync(join(work, ".npmrc"), "");
    expect(await settleRecords({ dir })).toEqual([]);
    expect(existsSync(join(work, ".npmrc"))).toBe(true);
    await orphan();
    expect(await settleRecords({ dir })).toEqual([
      expect.stringContaining(".npmrc → .npmrc.set-aside"),
    ]);
    expect(readdirSync(work)).toEqual([".npmrc.set-aside"]);
    expect(readdirSync(records)).toEqual([]);
    expect(await settleRecords({ dir })).toEqual([]);
  });

  it("are forgotten when they are done, and nobody else's to read", async () => {
    const kept = await keepRecord(
      { dir },
      { path: work, places: [join(work, ".envrc")], ids: [], writable: [] },
    );
    const [name = ""] = readdirSync(records);
    expect(JSON.parse(readFileSync(join(records, name), "utf8"))).toEqual({
      path: work,
      places: [join(work, ".envrc")],
      ids: [],
      writable: [],
    });
    await kept.done();
    expect(readdirSync(records)).toEqual([]);
  });

  it.each([
    "",
    "{}",
    "[]",
    "null",
    '{"path":1,"places":[],"writable":[]}',
    '{"path":"/","places":"x","writable":[]}',
  ])("that hold something else end no start: %s", async (text) => {
    await keepRecord({ dir }, { path: work, places: [], ids: [], writable: [] });
    await orphan();
    const [name = ""] = readdirSync(records);
    writeFileSync(join(records, name), text);
    expect((await settleRecords({ dir })).length).toBeLessThan(2);
    expect(readdirSync(records)).toEqual([]);
  });

  it("are nowhere in a new home", async () => {
    expect(await settleRecords({ dir })).toEqual([]);
  });
});
