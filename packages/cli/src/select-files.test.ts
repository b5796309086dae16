import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ConsentError } from "@acp/core";
import { describe, expect, it } from "vitest";
import { scratch } from "../test/harness.js";
import { selectFiles } from "./select-files.js";

const TREE = [
  "a.yml",
  "b.yaml",
  "-.yml",
  ".hidden.yml",
  "notes.txt",
  "[x].yml",
  "x.yml",
  "deep/c.yml",
  "deep/er/d.yml",
  "deep/.git/e.yml",
  "logs/2.jsonl",
  "logs/10.jsonl",
  "dir.yml/inner.txt",
];

async function tree(): Promise<Awaited<ReturnType<typeof scratch>>> {
  const at = await scratch();
  for (const file of TREE) {
    await mkdir(dirname(join(at.path, file)), { recursive: true });
    await writeFile(join(at.path, file), "");
  }
  return at;
}

const select = (
  cwd: string,
  operands: readonly string[],
  rest: readonly string[] = [],
): Promise<readonly string[]> => selectFiles({ operands, rest, io: { cwd } }, "policies");

describe("selectFiles()", () => {
  it.each([
    [["a.yml"], ["a.yml"]],
    [["nowhere.yml"], ["nowhere.yml"]],
    [["-"], ["-"]],
    [["*.yml"], ["-.yml", "[x].yml", "a.yml", "x.yml"]],
    [["?.y{a,}ml"], ["-.yml", "a.yml", "b.yaml", "x.yml"]],
    [[".*.yml"], [".hidden.yml"]],
    [["[ab].*"], ["a.yml", "b.yaml"]],
    [["[!a-w]*.yml"], ["-.yml", "[x].yml", "x.yml"]],
    [["deep/**/*.yml"], ["deep/c.yml", "deep/er/d.yml"]],
    [["**/[cd].yml"], ["deep/c.yml", "deep/er/d.yml"]],
    [["deep/**"], ["deep/c.yml", "deep/er/d.yml"]],
    [["*/c.yml"], ["deep/c.yml"]],
    [["deep/../?.yaml"], ["b.yaml"]],
    [["logs/*.jsonl"], ["logs/10.jsonl", "logs/2.jsonl"]],
    [
      ["x.yml", "*.yml"],
      ["x.yml", "-.yml", "[x].yml", "a.yml"],
    ],
    [["./a.yml", "a.yml"], ["./a.yml"]],
    // It exists, so it is that file and not the pattern of x.yml.
    [["[x].yml"], ["[x].yml"]],
  ] as const)("%j is %j", async (operands, expected) => {
    await using at = await tree();
    expect(await select(at.path, operands)).toEqual(expected);
  });

  it("takes absolute patterns", async () => {
    await using at = await tree();
    expect(await select("/", [`${at.path}/deep/*.yml`])).toEqual([join(at.path, "deep/c.yml")]);
  });

  it("takes what follows -- literally, and a hyphen there as a file", async () => {
    await using at = await tree();
    expect(await select(at.path, ["a.yml"], ["*.yml", "-"])).toEqual(["a.yml", "*.yml", "./-"]);
  });

  it.each([
    ["*.json", 'Cannot find policies "*.json": no file matches the pattern'],
    ["nowhere/*.yml", "no file matches"],
    ["a.yml/*", "no file matches"],
    // Folders are no files, and parentheses no part of a pattern.
    ["dir.y*", "no file matches"],
    ["(a|b).*", "no file matches"],
    ["+(a).yml*", "no file matches"],
    ["*a*a*b", "2 asterisks at most"],
    ["*".repeat(1_025), "more than 1024 characters"],
    ["*/".repeat(65), "more than 64 names"],
  ])("refuses %j", async (pattern, message) => {
    await using at = await tree();
    const selected = select(at.path, [pattern]);
    await expect(selected).rejects.toThrow(ConsentError);
    await expect(selected).rejects.toMatchObject({ code: "options_invalid" });
    await expect(selected).rejects.toThrow(message);
  });

  it("follows no link below **, and one that a pattern names", async () => {
    await using at = await tree();
    await symlink("..", join(at.path, "deep/up"));
    await symlink("../a.yml", join(at.path, "deep/link.yml"));
    expect(await select(at.path, ["deep/**/*.yml"])).toEqual([
      "deep/c.yml",
      "deep/er/d.yml",
      "deep/link.yml",
    ]);
    expect(await select(at.path, ["deep/u*/b.*"])).toEqual(["deep/up/b.yaml"]);
  });

  it("refuses a folder that cannot be read, rather than leaving out what is in it", async () => {
    await using at = await tree();
    await symlink("loop", join(at.path, "deep/loop"));
    await expect(select(at.path, ["deep/*/?.yml"])).rejects.toThrow(
      'the folder "deep/loop" cannot be read',
    );
  });

  it("looks at a name of 255 characters a few thousand times at most", async () => {
    await using at = await scratch();
    await writeFile(join(at.path, "a".repeat(255)), "");
    await expect(select(at.path, ["*a*b"])).rejects.toThrow("no file matches");
  });
});
