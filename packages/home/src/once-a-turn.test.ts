import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as immediate } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { onceATurn } from "./once-a-turn.js";
import { readAgentPause } from "./agent-pause.js";
import { pauseAgent, homePaths, resumeAgent } from "./index.js";

it("onceATurn() looks once for each argument in a turn, over all of its promises", async () => {
  let looks = 0;
  const look = (key: string): string => `${key} ${++looks}`;
  const once = onceATurn(look);
  await immediate();
  // The promises of a turn come after what was begun in it.
  await Promise.resolve();
  expect([once("a"), once("a"), once("b")]).toEqual(["a 1", "a 1", "b 2"]);
  for (let n = 0; n < 10; n++) await Promise.resolve();
  expect(once("a")).toBe("a 1");
  await immediate();
  expect([once("a"), once("b")]).toEqual(["a 3", "b 4"]);
});

it("onceATurn() keeps undefined, and nothing of a look that throws", async () => {
  const look = vi.fn<(fails: boolean) => void>((fails) => {
    if (fails) throw new Error("no look");
  });
  const once = onceATurn(look);
  await immediate();
  await Promise.resolve();
  expect([once(false), once(false), look.mock.calls.length]).toEqual([undefined, undefined, 1]);
  expect(() => once(true)).toThrow("no look");
  expect(() => once(true)).toThrow("no look");
  expect(look).toHaveBeenCalledTimes(3);
});

it("onceATurn() has what another process changed after any wait for the system", async () => {
  const dir = await mkdtemp(join(tmpdir(), "acp-once-"));
  try {
    const file = join(dir, "file");
    const once = onceATurn((path: string) => existsSync(path));
    for (const want of [true, false, true, false]) {
      await (want ? writeFile(file, "") : rm(file));
      expect([once(file), once(file)]).toEqual([want, want]);
    }
  } finally {
    await rm(dir, { recursive: true });
  }
});

it("readAgentPause() says that an agent is paused in the turn after it was, and no longer after", async () => {
  const dir = await mkdtemp(join(tmpdir(), "acp-once-"));
  const home = homePaths(dir);
  try {
    for (let n = 0; n < 3; n++) {
      expect(readAgentPause(home, { id: "a" }, 0)).toBeUndefined();
      await pauseAgent(home, "a", "until-off");
      expect(readAgentPause(home, { id: "a" }, 0)).toContain("is paused");
      await resumeAgent(home, "a");
    }
  } finally {
    await rm(dir, { recursive: true });
  }
});
