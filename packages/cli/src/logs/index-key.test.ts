/** The logs of a home have an index where the home has a key of checkpoints, and look-ups use it. */
import { access, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readAuditLog } from "@acp/audit";
import { logEvent } from "@acp/core";
import { checkpointKeyPath, homePaths } from "@acp/home";
import type { HomePaths } from "@acp/home";
import { describe, expect, it, onTestFinished } from "vitest";
import { initCheckpointKey } from "./checkpoint-key.js";
import { readIndexKey } from "./index-key.js";
import { openHomeAudit } from "./open-audit.js";

async function emptyHome(): Promise<HomePaths> {
  const directory = await mkdtemp(join(tmpdir(), "acp-index-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return homePaths(directory);
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

async function writeLog(home: HomePaths): Promise<string> {
  await using log = await openHomeAudit(home);
  await log.append(
    Array.from({ length: 60 }, (_, at) =>
      logEvent("gate_notice", { id: `ae_${at}`, atMs: 1_000 + at }, {}),
    ),
  );
  return log.path;
}

describe("readIndexKey()", () => {
  it("follows from the home's key of checkpoints, and seals the indexes of its logs", async () => {
    const [home, other] = [await emptyHome(), await emptyHome()];
    for (const each of [home, other]) await initCheckpointKey(each);
    const [key, theirs] = [await readIndexKey(home), await readIndexKey(other)];
    expect(key).toEqual(await readIndexKey(home));
    expect(key).not.toEqual(theirs);
    const path = await writeLog(home);
    expect(await isThere(`${path}.index`)).toBe(true);
    const from = { filter: { sinceMs: 1_059 }, indexKey: key };
    const found: string[] = [];
    for await (const { id } of readAuditLog(path, from)) found.push(id);
    expect(found).toEqual(["ae_59"]);
  });

  it("is nothing in a home without one, whose logs have no index, or where it cannot be read", async () => {
    const home = await emptyHome();
    expect(await readIndexKey(home)).toBeUndefined();
    expect(await isThere(`${await writeLog(home)}.index`)).toBe(false);
    await initCheckpointKey(home);
    await writeFile(checkpointKeyPath(home), "x".repeat(5_000));
    expect(await readIndexKey(home)).toBeUndefined();
  });
});
