import { stat } from "node:fs/promises";
import { logEvent, systemClock } from "@acp/core";
import { stateSavedEvent } from "@acp/core/unstable";
import { expect, it } from "vitest";
import { newHome } from "../../test/rollback-world.js";
import { openHomeAudit } from "../logs/open-audit.js";
import { followNotedStates } from "./noted-states.js";

let made = 0;
const stamp = () => ({ id: `ae_${made++}`, atMs: systemClock.now() });
const saved = (counter: number) =>
  stateSavedEvent({ kind: "grants", counter, hash: `sha256:${"0".repeat(64)}` }, stamp());
const other = () => logEvent("gate_notice", stamp(), { notice: "something" });

it("followNotedStates() hears of each state that this process notes, and of others' too", async () => {
  const home = await newHome();
  await using log = await openHomeAudit(home);
  const noted = followNotedStates(home);
  noted.own(log);
  const counter = async (): Promise<number | undefined> =>
    (await noted.newest()).get("grants")?.counter;
  for (let n = 1; n <= 3; n++) {
    await log.append([other(), other()]);
    expect(await counter()).toBe(n === 1 ? undefined : n - 1);
    await log.append([other(), saved(n), other()]);
    expect(await counter()).toBe(n);
    await log.append([other()]);
  }
  await using beside = await openHomeAudit(home);
  await beside.append([saved(9)]);
  expect(await counter()).toBe(9);
});

it("followNotedStates() reads nothing of what it was told is plain, and the rest", async () => {
  const home = await newHome();
  await using log = await openHomeAudit(home);
  await log.append([other()]);
  const { size: from, ino } = await stat(log.path);
  const counterWith = async (tail: object): Promise<number | undefined> => {
    const noted = followNotedStates(home);
    await noted.newest();
    await log.append([saved(++last)]);
    const { size: to } = await stat(log.path);
    noted.own({
      path: log.path,
      plainTail: () => ({ inode: BigInt(ino), from, to, ...tail }),
    });
    return (await noted.newest()).get("grants")?.counter;
  };
  let last = 0;
  expect(await counterWith({})).toBe(undefined);
  // Of another file, or only a part of what it lacks.
  expect(await counterWith({ inode: 1n })).toBe(2);
  expect(await counterWith({ from: Infinity })).toBe(3);
  expect(await counterWith({ to: from })).toBe(4);
});
