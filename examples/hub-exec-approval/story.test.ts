import { spawn } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { someInLane } from "../../tools/deep.js";
import { runStory } from "./story.js";

const START = fileURLToPath(new URL("start.ts", import.meta.url));
const TSX = fileURLToPath(import.meta.resolve("tsx"));

interface Scratch extends AsyncDisposable {
  readonly path: string;
}

async function scratch(): Promise<Scratch> {
  const path = await mkdtemp(join(tmpdir(), "acp-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

describe("examples/hub-exec-approval", () => {
  it("asks about what changes something, lets nothing dangerous through, and remembers what is allowed for good", async () => {
    await using at = await scratch();
    const lines: string[] = [];
    const end = await runStory({ folder: at.path, say: (line) => lines.push(line) });
    expect(end.read).toEqual([
      "first line\nnotes.txt\n(exit code 0)",
      "(exit code 0)",
      "The command was not run (consent_denied): a person denied the command. Do not repeat the call; ask the person what they would accept.",
      "(exit code 0)",
      "(exit code 0)",
    ]);
    // Asked three times of five: the safe command and the second mkdir ran unasked.
    const asked = lines.filter((line) => line.startsWith("person   is asked"));
    expect(asked.map((line) => /\((.*?):/.exec(line)?.[1])).toEqual([
      "needs-review",
      "dangerous",
      "needs-review",
    ]);
    expect(lines).toContain("person   hears that from now on nobody is asked about: mkdir **");
    expect(end).toMatchObject({ arePhotosThere: true, isLogWhole: true });
    expect(JSON.parse(end.allowlist)).toEqual({
      execApproval: { allowlist: [{ pattern: "mkdir **" }] },
    });
    expect((await readdir(join(at.path, "project"), { recursive: true })).sort()).toEqual([
      "build",
      "build/js",
      "copy.txt",
      "notes.txt",
    ]);
  });

  const ways: readonly (readonly [string, readonly string[], string])[] = [
    // What is typed is read line by line: once for cp, no for rm, always for mkdir.
    ["a person", ["--interactive"], "o\nd\na\n"],
    ["the script", [], ""],
  ];
  it.each(someInLane(ways))(
    "is a program that ends well, and leaves nothing behind: %s",
    async (_name, args, typed) => {
      await using at = await scratch();
      const child = spawn(process.execPath, ["--import", TSX, START, ...args], {
        env: { ...process.env, TMPDIR: at.path },
      });
      let said = "";
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (chunk) => (said += String(chunk)));
      child.stdin.write(typed);
      const code = await new Promise((resolve) => child.on("close", resolve));
      child.stdin.destroy();
      expect([code, said]).toEqual([
        0,
        expect.stringContaining("# the photos are still there\n# the log is whole"),
      ]);
      expect((await readdir(at.path)).filter((name) => name.startsWith("acp-"))).toEqual([]);
    },
  );
});
