import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { faultsOf, filesOf } from "./check.js";
import { FOLDER, leftIn, runDemo, scratch } from "./running-demo.js";
import { recordOf } from "./timeline.js";

describe("npm run demo", () => {
  it("allows, asks, denies and edits without a terminal, says who answered, and leaves nothing behind", async () => {
    await using temporary = await scratch();
    const { code, text } = await runDemo(FOLDER, temporary.path);
    expect(text).toContain("a script answers for the person");
    expect(text.match(/^ {3}policy {2}\w+/gm)?.map((line) => line.slice(11))).toEqual([
      "allow",
      "ask",
      "deny",
      "ask",
      "ask",
    ]);
    expect(text).toContain("person  approved with modifications");
    expect(text).toContain("We release on Monday");
    expect(text).toContain("person  denied: keep my notes");
    expect(text.match(/server {2}never saw the call/g)).toHaveLength(2);
    expect(text).toMatch(/audit {3}\d+ events, the chain is whole; head sha256:[0-9a-f]{64}/);
    expect(code).toBe(0);
    expect(await leftIn(temporary.path)).toEqual([]);
  });

  it.each([
    ["no other channel", ["--channel", "pigeon"], 'there is no channel "pigeon"'],
    [
      "one place at a time",
      ["--web", "--channel", "webhook"],
      "--web and --channel are two places",
    ],
  ])("knows %s", async (_, args, complaint) => {
    await using temporary = await scratch();
    const { code, text } = await runDemo(FOLDER, temporary.path, { args });
    expect(text).toContain(complaint);
    expect(code).toBe(1);
  });

  it("cleans up when it is interrupted", async () => {
    await using temporary = await scratch();
    const { code } = await runDemo(FOLDER, temporary.path, {
      onText: (text, kill) => {
        if (text.includes("1  agent")) kill();
      },
    });
    expect(code).toBe(130);
    expect(await leftIn(temporary.path)).toEqual([]);
  });
});

describe("faultsOf()", () => {
  it("finds a file that holds what nobody approved, and one that changed without a call", async () => {
    await using folder = await scratch();
    await writeFile(join(folder.path, "a.txt"), "old");
    const before = await filesOf(folder.path, { path: "a.txt" });
    const denied = recordOf([]);
    expect(await faultsOf(folder.path, before, denied)).toEqual([]);
    await writeFile(join(folder.path, "a.txt"), "new");
    expect(await faultsOf(folder.path, before, denied)).toEqual([
      'a.txt holds "new", approved was "old"',
    ]);
    expect(
      await faultsOf(folder.path, before, {
        ...denied,
        forwarded: true,
        approved: { path: "a.txt", content: "new" },
      }),
    ).toEqual([]);
    expect(
      await faultsOf(folder.path, before, {
        ...denied,
        forwarded: true,
        approved: { path: "a.txt", content: "other" },
      }),
    ).toHaveLength(1);
  });
});
