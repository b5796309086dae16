/** Pins that several write at once, and servers that try to get around them. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { fileToolPins, homePaths } from "@acp/home";
import type { HomePaths, UpstreamServer } from "@acp/home";
import { pinOf } from "@acp/proxy-mcp";
import type { PresentedText, ToolPins } from "@acp/proxy-mcp";
import type { RollbackGuard } from "../rollback/state-guard.js";
import { collisionsOf } from "./collisions.js";
import { createHomePins } from "./home-pins.js";
import { decideHeld, heldTexts } from "./review-pins.js";

const GUARD = {
  of: () => ({
    counter: () => Promise.resolve(0),
    whyNot: () => Promise.resolve(undefined),
    saved: () => Promise.resolve(),
  }),
} as unknown as RollbackGuard;
const ONE: UpstreamServer = { name: "one", command: ["x"] };
const tool = (name: string, description: string): PresentedText => ({
  kind: "tool",
  name,
  ...pinOf({ name, description }),
});

async function place(): Promise<HomePaths> {
  const dir = await mkdtemp(join(tmpdir(), "acp-pins-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return homePaths(dir);
}

/** The pins of one more gate of the home. */
const gateOf = (
  home: HomePaths,
  servers: readonly UpstreamServer[] = [ONE],
  said: string[] = [],
): ToolPins =>
  createHomePins({
    home,
    guard: GUARD,
    servers,
    notices: {
      say: (code) => Promise.resolve(void said.push(code)),
      log: () => Promise.resolve(),
    },
  });

describe("pins of one home, written by several at once", () => {
  it("have one first definition, whichever gate is faster", async () => {
    const home = await place();
    const gates = Array.from({ length: 6 }, () => gateOf(home));
    const all = await Promise.all(
      gates.map((gate, index) => gate.look("one", [tool("a", `${index % 2}`)])),
    );
    const states = all.map(([state]) => state);
    expect(states.filter((state) => state === "changed")).toHaveLength(3);
    const [server] = await fileToolPins(home).read();
    expect(server?.pins).toHaveLength(1);
  });

  it("lose nothing of what others add", async () => {
    const home = await place();
    await Promise.all(
      Array.from({ length: 12 }, (_, index) => gateOf(home).look("one", [tool(`t${index}`, "")])),
    );
    const [server] = await fileToolPins(home).read();
    expect(server?.pins).toHaveLength(12);
  });

  it("are decided once where two people review", async () => {
    const home = await place();
    await gateOf(home).look("one", [tool("a", "first")]);
    await gateOf(home).look("one", [tool("a", "second")]);
    const pins = fileToolPins(home);
    const [held] = await heldTexts(pins, {});
    if (held === undefined) throw new Error("nothing is held back");
    const shown = tool("a", "second").pin;
    const decisions = (["accepted", "refused"] as const).map((decided) => ({
      decided,
      shown,
      nowMs: 1,
    }));
    for (const how of decisions)
      expect(await decideHeld(pins, held, how)).toBe(how.decided === "accepted");
    expect(await gateOf(home).look("one", [tool("a", "second")])).toEqual(["same"]);
    // What another reviewer saw before is another text.
    const stale = { decided: "accepted", shown: tool("a", "first").pin, nowMs: 1 } as const;
    expect(await decideHeld(pins, held, stale)).toBe(false);
  });
});

describe("a server that tries to get around its pins", () => {
  it("does not by taking a tool away and bringing another one of its name", async () => {
    const home = await place();
    const pins = gateOf(home);
    await pins.look("one", [tool("a", "first"), tool("b", "")]);
    await pins.look("one", [tool("b", "")]);
    expect(await gateOf(home).look("one", [tool("a", "second")])).toEqual(["changed"]);
  });

  it.each(["\u200b", "\u2060", "\u{e0041}", "\u00ad", "\ufe0f"])(
    "does not by a character that nobody sees (%j)",
    async (unseen) => {
      const home = await place();
      const pins = gateOf(home);
      await pins.look("one", [tool("a", "Reads a file")]);
      expect(await pins.look("one", [tool("a", `Reads a${unseen} file`)])).toEqual(["changed"]);
    },
  );

  it.each([
    ["its command", { name: "one", command: ["y"] }],
    ["an argument", { name: "one", command: ["x", "--more"] }],
    ["its name", { name: "two", command: ["x"] }],
    ["an address", { name: "one", url: "https://host.example/mcp" }],
  ] as const)("is another server with another %s, which is said", async (_, server) => {
    const home = await place();
    await gateOf(home).look("one", [tool("a", "first")]);
    const said: string[] = [];
    const gate = gateOf(home, [server], said);
    expect(await gate.look(server.name, [tool("a", "second")])).toEqual(["new"]);
    expect(said).toEqual(server.name === "one" ? ["server_changed"] : []);
    // The first one keeps its own.
    expect(await gateOf(home).look("one", [tool("a", "second")])).toEqual(["changed"]);
  });

  it("takes no place of others where it has many resources, and that is said once", async () => {
    const home = await place();
    const said: string[] = [];
    const gate = gateOf(home, [ONE], said);
    const many = Array.from(
      { length: 1_001 },
      (_, index): PresentedText => ({
        kind: "resource",
        name: `x:${index}`,
        ...pinOf({ uri: `x:${index}`, title: "A" }),
      }),
    );
    for (const _ of [1, 2]) expect(await gate.look("one", many)).toHaveLength(1_001);
    expect(said).toEqual(["resources_unpinned"]);
    expect(await gate.look("one", [tool("a", "first")])).toEqual(["new"]);
    expect(await gate.look("one", [tool("a", "second")])).toEqual(["changed"]);
  });
});

describe("collisionsOf()", () => {
  it.each([
    ["read_file", "READ_FILE"],
    ["read_file", "ｒead_file"],
    ["read_file", "read-file"],
    ["read_file", "rеad_file"],
  ])("flags %s and %s, of one server too", (one, other) => {
    for (const server of ["a", "b"])
      expect(
        collisionsOf([
          { server: "a", name: one, text: "" },
          { server, name: other, text: "" },
        ]),
      ).toMatchObject([{ code: "look_alike_names", weight: "high" }]);
  });
});
