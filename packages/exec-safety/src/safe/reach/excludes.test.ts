/**
 * The options that leave out secrets, run by the real programs over files with every secret name.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { isDeep } from "../../../../../tools/deep.js";
import { SECRET_FILES, SECRET_FOLDERS, SECRET_PROBES } from "../../secrets/secret-globs.js";
import { matchesGlob } from "../../secrets/name-glob.js";
import { isSecretName } from "../../secrets/secret-names.js";
import { evaluateCommandSafety } from "../../evaluate.js";

const has = (program: string): boolean => spawnSync(program, ["--version"]).status === 0;

describe("secret globs", () => {
  it("try names that are secret, and only such", () =>
    expect(SECRET_PROBES.filter((name) => !isSecretName(name))).toEqual([]));

  it.each(SECRET_PROBES)("leave out %s", (name) => {
    const parts = name.split("/");
    const isLeftOut =
      SECRET_FILES.some((glob) => matchesGlob(glob, parts.at(-1) ?? "")) ||
      parts.slice(0, -1).some((part) => SECRET_FOLDERS.some((glob) => matchesGlob(glob, part)));
    expect(isLeftOut).toBe(true);
  });

  it.each([
    "src/token.ts",
    "password.py",
    "a.json",
    "README.md",
    "package.json",
    "keyboard.ts",
    "environment.ts",
    "main.go",
    ".gitignore",
  ])("leave in %s", (name) =>
    expect(
      SECRET_FILES.filter((glob) => matchesGlob(glob, name.slice(name.lastIndexOf("/") + 1))),
    ).toEqual([]),
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
    for (const [index, name] of SECRET_PROBES.entries())
      put(`${side}/${index}/${name}`, `password=SECRET ${side} ${name}\n`);
    for (const name of ["x.json", "src/token.ts", "src/password.py", "notes.txt", "conf/app.yml"])
      put(`${side}/${name}`, `password ORDINARY ${side} ${name}\n`);
  }
  return world;
}

/** In the quick lane one for each program. */
const firstOfEach = <T>(
  cases: readonly (readonly [string, T])[],
): readonly (readonly [string, T])[] =>
  isDeep ? cases : cases.filter(([name], at) => cases.findIndex(([each]) => each === name) === at);

describe("a text that leaves out secrets", () => {
  it.each(
    firstOfEach([
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
    ]),
  )("of %s shows none, and everything else: %s", (_, command) => {
    const [program = ""] = command.split(" ");
    if (!has(program)) return;
    const cwd = makeWorld();
    const run = (text: string): string =>
      spawnSync("bash", ["-c", text], { cwd, encoding: "utf8", maxBuffer: 16_000_000 }).stdout;
    const { rewrite } = evaluateCommandSafety(command);
    const [before, after] = [run(command), run(rewrite?.command ?? "")];
    const count = (text: string, word: string): number => text.split(word).length - 1;
    expect(count(before, "SECRET")).toBeGreaterThan(0);
    expect(count(after, "SECRET")).toBe(0);
    expect(count(before, "ORDINARY")).toBeGreaterThan(0);
    expect(count(after, "ORDINARY")).toBe(count(before, "ORDINARY"));
  });
});

/**
 * What a text in place of `command` prints in a world. Where there is none, nothing runs unasked.
 */
function printedInstead(cwd: string, command: string): string {
  const { riskLevel, rewrite } = evaluateCommandSafety(command);
  const text = riskLevel === "safe" ? command : rewrite?.command;
  return text === undefined
    ? ""
    : spawnSync("bash", ["-c", text], { cwd, encoding: "utf8", maxBuffer: 16_000_000 }).stdout;
}

describe("what runs unasked", () => {
  it.each([
    "grep -rn password secrets/",
    "grep -rn password .git/modules",
    "rg password secrets",
    "diff -r a/secrets b/secrets",
    "find .config -type f | xargs cat",
    "cd secrets && grep -rn password .",
    "cd .config && rg -uuu password",
  ])("shows nothing of a folder of secrets in which it starts: %s", (command) => {
    const world = mkdtempSync(join(tmpdir(), "among-"));
    onTestFinished(() => rmSync(world, { recursive: true, force: true }));
    for (const folder of [
      ".git/modules/m",
      "secrets/prod",
      ".config/gh",
      "a/secrets",
      "b/secrets",
    ]) {
      mkdirSync(join(world, folder), { recursive: true });
      writeFileSync(join(world, folder, "x"), `password=SECRET ${folder}\n`);
    }
    expect(printedInstead(world, command)).not.toContain("SECRET");
  });

  it.each([
    "grep -rn password .",
    "rg -uuu password .",
    "rg -uuu --iglob '*' password .",
    "diff -rN a b",
    "find . -type f | xargs cat",
  ])("shows no key whose name ends in capitals: %s", (command) => {
    const world = mkdtempSync(join(tmpdir(), "case-"));
    onTestFinished(() => rmSync(world, { recursive: true, force: true }));
    mkdirSync(join(world, "a"));
    mkdirSync(join(world, "b"));
    for (const name of ["server.PEM", "Client.Key", "x.P12", "y.txt"])
      writeFileSync(
        join(world, "a", name),
        name === "y.txt" ? "password ORDINARY\n" : "password=SECRET\n",
      );
    const printed = printedInstead(world, command);
    expect(printed).not.toContain("SECRET");
    if (has(command.split(" ")[0] ?? "")) expect(printed).toContain("ORDINARY");
  });

  it.each([
    "git ls-files '*.ts' | xargs -I{} cat {}",
    "git ls-files '*.ts' | while read -r f; do cat \"$f\"; done",
    "find . -type f | grep '\\.ts$' | while read -r f; do cat \"$f\"; done",
    "find . -type f | grep '\\.ts$' | xargs -d '\\n' cat",
    'find . -type f | while read f; do cat "$f"; done',
    'find . -type f | while read -r f; do cat "$f"; done',
  ])("reads the files that are listed and no other, whatever they are called: %s", (command) => {
    const world = mkdtempSync(join(tmpdir(), "names-"));
    onTestFinished(() => rmSync(world, { recursive: true, force: true }));
    const project = join(world, "project");
    // Without its quotes, its first blank or its line break each leads to the file outside; the
    // last two to the key.
    const hostile = [
      "'..'/out.ts",
      ` ${world}/out.ts`,
      `x\n${world}/out.ts`,
      "server.pem ",
      "server.p\\em",
    ];
    for (const name of [...hostile, "a.ts"]) {
      mkdirSync(dirname(join(project, name)), { recursive: true });
      writeFileSync(join(project, name), name === "a.ts" ? "ORDINARY\n" : "");
    }
    writeFileSync(join(world, "out.ts"), "SECRET\n");
    writeFileSync(join(project, "server.pem"), "SECRET\n");
    spawnSync("git", ["init", "-q"], { cwd: project });
    spawnSync("git", ["add", "-A", "--", ":!server.pem"], { cwd: project });
    expect(printedInstead(project, command)).not.toContain("SECRET");
  });
});
