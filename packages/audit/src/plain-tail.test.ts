import { stat } from "node:fs/promises";
import { expect, it } from "vitest";
import { stateSavedEvent } from "@acp/core/unstable";
import { makeEvent, scratchLog } from "../test/support.js";
import { openAuditLog } from "./audit-log.js";

const SAVED = stateSavedEvent(
  { kind: "grants", counter: 1, hash: `sha256:${"0".repeat(64)}` },
  { id: "ae_state", atMs: 0 },
);

it("plainTail() is what the open log wrote since its last event about a state", async () => {
  const path = await scratchLog();
  const sizeOf = async (): Promise<number> => (await stat(path)).size;
  const { ino: inode } = await stat(path).catch(() => ({ ino: -1 }));
  expect(inode).toBe(-1);
  {
    await using log = await openAuditLog({ path });
    await log.append([makeEvent(1)]);
    expect(log.plainTail()).toEqual({
      inode: BigInt((await stat(path)).ino),
      from: 0,
      to: await sizeOf(),
    });
  }
  const before = await sizeOf();
  await using log = await openAuditLog({ path });
  // What an earlier process wrote is not known.
  expect(log.plainTail()).toMatchObject({ from: before, to: before });
  await log.append([makeEvent(2)]);
  expect(log.plainTail()).toMatchObject({ from: before, to: await sizeOf() });
  await log.append([makeEvent(3), SAVED, makeEvent(4)]);
  const noted = await sizeOf();
  expect(log.plainTail()).toMatchObject({ from: noted, to: noted });
  await log.append([makeEvent(5)]);
  expect(log.plainTail()).toMatchObject({ from: noted, to: await sizeOf() });
  await log.close();
  expect(log.plainTail()).toMatchObject({ from: await sizeOf(), to: await sizeOf() });
});

it("plainTail() begins at the start of each new file", async () => {
  const path = await scratchLog();
  await using log = await openAuditLog({ path, rotation: { maxBytes: 1_100 } });
  const inodes = new Set<bigint>();
  await log.append([SAVED]);
  expect(log.plainTail().from).toBeGreaterThan(0);
  await log.append([makeEvent(1_000), makeEvent(1_001)]);
  for (let number = 0; number < 5; number++) {
    await log.append([makeEvent(number)]);
    const { ino, size } = await stat(path);
    expect(log.plainTail()).toEqual({ inode: BigInt(ino), from: 0, to: size });
    inodes.add(log.plainTail().inode);
  }
  expect(inodes.size).toBeGreaterThan(1);
});
