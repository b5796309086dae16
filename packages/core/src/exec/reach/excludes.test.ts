/** The options that leave out secrets, run by the real programs over files with every secret name. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { SECRET_FILES, SECRET_FOLDERS, SECRET_PROBES } from "../../guard/secret-globs.js";
import { matchesGlob } from "../../guard/name-glob.js";
import { isSecretName } from "../../guard/secret-names.js";
import { evaluateCommandSafety } from "../evaluate.js";

const has = (program: string): boolean => spawnSync(program, ["--version"]).status === 0;

describe("secret globs", () => {
  it("try names that are secret, and only such", () => expect(SECRET_PROBES.filter((name) => !isSecretName(name))).toEqual([]));

  it.each(SECRET_PROBES)("leave out %s", (name) => {
    const parts = name.split("/");
    const isLeftOut =
      SECRET_FILES.some((glob) => matchesGlob(glob, parts.at(-1) ?? "")) ||
      parts.slice(0, -1).some((part) => SECRET_FOLDERS.some((glob) => matchesGlob(glob, part)));
    expect(isLeftOut).toBe(true);
  });

  it.each(["src/token.ts", "password.py", "a.json", "README.md", "package.json", "keyboard.ts", "environment.ts", "main.go", ".gitignore"])(
    "leave in %s",
    (name) => expect(SECRET_FILES.filter((glob) => matchesGlob(glob, name.slice(name.lastIndexOf("/") + 1)))).toEqual([]),
  );
});

/** A folder with two copies of every secret, and of some files that hold none. */
function makeWorld(): string {
  const world = mkdtempSync(join(tmpdir(), "reach-"));
  onTestFinished(() => rmSync(world, { recursive: true, force: true }));
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(world, path)), { recursive: true });
    writeFileSync(join(world, path), text);
  };
  for (const side of ["a", "b"]) {
    for (const [index, name] of SECRET_PROBES.entries()) put(`${side}/${index}/${name}`, `password=SECRET ${side} ${name}\n`);
    for (const name of ["x.json", "src/token.ts", "src/password.py", "notes.txt", "conf/app.yml"])
      put(`${side}/${name}`, `password ORDINARY ${side} ${name}\n`);
  }
  return world;
}

describe("a text that leaves out secrets", () => {
  it.each([
    ["grep", "grep -rn password ."],
    ["grep", "grep -rn password"],
    ["grep", "egrep -rn password . --include='*.json'"],
    ["grep", "grep -rn password --exclude='*.md' ."],
    ["rg", "rg password ."],
    ["rg", "rg -g '*.json' password ."],
    ["diff", "diff -rN a b"],
    ["find", "find . -type f | xargs cat"],
    ["find", "find . -type f -print0 | xargs -0 cat"],
    ["find", "find . -name '*.json' -o -name '*.ts' | xargs cat"],
    ["find", "find . -maxdepth 9 -type f | xargs cat"],
    ["find", 'find a -type f | while read -r f; do cat "$f"; done'],
  ])("of %s shows none, and everything else: %s", (_, command) => {
    const [program = ""] = command.split(" ");
    if (!has(program)) return;
    const cwd = makeWorld();
    const run = (text: string): string => spawnSync("bash", ["-c", text], { cwd, encoding: "utf8", maxBuffer: 16_000_000 }).stdout;
    const { rewrite } = evaluateCommandSafety(command);
    const [before, after] = [run(command), run(rewrite?.command ?? "")];
    const count = (text: string, word: string): number => text.split(word).length - 1;
    expect(count(before, "SECRET")).toBeGreaterThan(0);
    expect(count(after, "SECRET")).toBe(0);
    expect(count(before, "ORDINARY")).toBeGreaterThan(0);
    expect(count(after, "ORDINARY")).toBe(count(before, "ORDINARY"));
  });
});
