import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { homePaths } from "@acp/home";
import { pinOf } from "@acp/proxy-mcp";
import type { PresentedText } from "@acp/proxy-mcp";
import type { RollbackGuard } from "../rollback/state-guard.js";
import { createHomePins } from "./home-pins.js";

const tool = (name: string, description: string): PresentedText => ({
  kind: "tool",
  name,
  ...pinOf({ name, description }),
});
const GUARD = {
  of: () => ({
    counter: () => Promise.resolve(0),
    whyNot: () => Promise.resolve(undefined),
    saved: () => Promise.resolve(),
  }),
} as unknown as RollbackGuard;

describe("createHomePins()", () => {
  it("notes no more changes of a server that changes all the time, and holds them back", async () => {
    const dir = await mkdtemp(join(tmpdir(), "acp-pins-"));
    onTestFinished(() => rm(dir, { recursive: true, force: true }));
    const home = homePaths(dir);
    const events: string[] = [];
    const pins = createHomePins({
      home,
      guard: GUARD,
      servers: [{ name: "one", command: ["x"] }],
      notices: {
        say: () => Promise.resolve(),
        log: (event) => Promise.resolve(void events.push(event)),
      },
    });
    await pins.look("one", [tool("a", "first")]);
    for (let index = 0; index < 50; index++)
      expect(await pins.look("one", [tool("a", `${index}`)])).toEqual(["changed"]);
    const before = await readFile(home.toolPinsPath, "utf8");
    for (let index = 50; index < 60; index++)
      expect(await pins.look("one", [tool("a", `${index}`)])).toEqual(["changed"]);
    expect(await readFile(home.toolPinsPath, "utf8")).toBe(before);
    expect(events.filter((event) => event === "tools_changed")).toHaveLength(50);
    expect(await pins.look("one", [tool("a", "first"), tool("b", "one")])).toEqual(["new", "new"]);
  });
});
