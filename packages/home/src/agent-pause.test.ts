import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratchDirectory } from "../test/support.js";
import { listPausedAgents, pauseAgent, readAgentPause, resumeAgent } from "./agent-pause.js";
import { type HomePaths, homePaths } from "./paths.js";

const NOW = Date.UTC(2026, 0, 15, 10, 30);
const home = async (): Promise<HomePaths> => homePaths(await scratchDirectory());

describe("pauseAgent()", () => {
  it("holds for the agent and all that it started, and for nobody else, until it is ended", async () => {
    const at = await home();
    await pauseAgent(at, "demo", "until-off");
    expect(readAgentPause(at, { id: "demo" }, Number.MAX_SAFE_INTEGER)).toBe(
      'the agent "demo" is paused',
    );
    expect(readAgentPause(at, { id: "sub", parents: ["demo"] }, NOW)).toContain("demo");
    expect(readAgentPause(at, { id: "other" }, NOW)).toBeUndefined();
    expect(await listPausedAgents(at, NOW)).toEqual([{ agent: "demo", until: "until-off" }]);
    expect([await resumeAgent(at, "demo"), await resumeAgent(at, "demo")]).toEqual([true, false]);
    expect(readAgentPause(at, { id: "demo" }, NOW)).toBeUndefined();
  });

  it("ends with its time", async () => {
    const at = await home();
    await pauseAgent(at, "demo", NOW + 60_000);
    expect(readAgentPause(at, { id: "demo" }, NOW + 59_999)).toBe(
      'the agent "demo" is paused until 2026-01-15T10:31:00.000Z',
    );
    expect(readAgentPause(at, { id: "demo" }, NOW + 60_000)).toBeUndefined();
    expect(await listPausedAgents(at, NOW + 60_000)).toEqual([]);
  });

  it("loses none of many that are paused at once", async () => {
    const at = await home();
    const names = Array.from(
      { length: 20 },
      (_, index) => `agent-${String(index).padStart(2, "0")}`,
    );
    await Promise.all(names.map((name) => pauseAgent(at, name, "until-off")));
    expect((await listPausedAgents(at, NOW)).map(({ agent }) => agent)).toEqual(names);
  });

  it("takes whatever an id is made of, and names no file by it", async () => {
    const at = await home();
    await pauseAgent(at, "../../x", "until-off");
    expect(readAgentPause(at, { id: "../../x" }, NOW)).toBeDefined();
    expect(await readdir(at.pausedAgentsDir)).toEqual([
      expect.stringMatching(/^[0-9a-f]{64}\.json$/),
    ]);
  });

  it.each([
    "",
    "no json",
    '{"version":"2","agent":"demo","until":"off"}',
    '{"version":"1","agent":"demo","until":"never"}',
    '{"version":"1","agent":"x","until":"off"}',
  ])("counts as paused where its file says %j", async (text) => {
    const at = await home();
    await pauseAgent(at, "demo", "until-off");
    const [file = ""] = await readdir(at.pausedAgentsDir);
    await writeFile(join(at.pausedAgentsDir, file), text);
    expect(readAgentPause(at, { id: "demo" }, NOW)).toContain("is malformed");
    expect(await resumeAgent(at, "demo")).toBe(true);
  });

  it("counts as paused where its file cannot be read", async () => {
    const at = await home();
    await pauseAgent(at, "demo", "until-off");
    const [file = ""] = await readdir(at.pausedAgentsDir);
    await resumeAgent(at, "demo");
    await mkdir(join(at.pausedAgentsDir, file));
    expect(readAgentPause(at, { id: "demo" }, NOW)).toContain("cannot be read");
  });

  it.each([
    ["", "until-off"],
    ["x".repeat(257), "until-off"],
    ["demo", Number.NaN],
  ] as const)("refuses %j until %j", async (id, end) => {
    await expect(pauseAgent(await home(), id, end)).rejects.toMatchObject({
      code: "options_invalid",
    });
  });
});
