/**
 * A repository that came as plain files of a clone, and real git: what runs without the guards, and
 * that nothing runs with them.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { evaluateCommandSafety } from "../src/index.js";

const ENVIRONMENT = {
  PATH: process.env["PATH"] ?? "/usr/bin:/bin",
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
};
/** Git 2.38 is the first that can tell a repository that came as files. */
const version = /(\d+)\.(\d+)/.exec(
  spawnSync("git", ["--version"], { encoding: "utf8" }).stdout ?? "",
);
const isKnown = version !== null && Number(version[1]) * 100 + Number(version[2]) >= 238;

let project = "";
let mark = "";

function git(...args: readonly string[]): string {
  const who = ["-c", "user.name=a", "-c", "user.email=a@b.example"];
  const { status, stdout, stderr } = spawnSync("git", [...who, ...args], {
    cwd: project,
    env: ENVIRONMENT,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`Cannot make the project: ${stderr}`);
  return stdout;
}

function run(command: string): void {
  spawnSync("bash", ["--noprofile", "--norc", "-c", command], {
    cwd: project,
    env: ENVIRONMENT,
    stdio: "ignore",
    timeout: 60_000,
  });
}

/** A commit with a signature that nobody has made. */
function signedCommit(tree: string): string {
  const text = `tree ${tree}\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nx\n`;
  const options = {
    cwd: join(project, "evil.git"),
    env: ENVIRONMENT,
    input: text,
    encoding: "utf8",
  } as const;
  const { stdout } = spawnSync(
    "git",
    ["--git-dir=.", "hash-object", "-t", "commit", "-w", "--stdin"],
    options,
  );
  return stdout.trim();
}

beforeAll(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), "acp-bare-")));
  mark = join(project, "was-run");
  const evil = join(project, "evil.git");
  git("init", "-q");
  git("init", "-q", "--bare", evil);
  writeFileSync(join(evil, "f.txt"), "one\n");
  git("--git-dir", evil, "--work-tree", evil, "add", "f.txt");
  git(
    "--git-dir",
    evil,
    "update-ref",
    "HEAD",
    signedCommit(git("--git-dir", evil, "write-tree").trim()),
  );
  writeFileSync(join(evil, "f.txt"), "two and more\n");
  writeFileSync(join(evil, ".gitattributes"), "* filter=e diff=e\n");
  mkdirSync(join(evil, "hooks"), { recursive: true });
  writeFileSync(join(evil, "trap"), `#!/bin/sh\ntouch '${mark}'\n`, { mode: 0o755 });
});
afterAll(() => rmSync(project, { recursive: true, force: true }));
beforeEach(() => rmSync(mark, { force: true }));

const FILES = "[core]\nrepositoryformatversion = 0\nworktree = .\nbare = false";

/** What the repository's settings say, and a command that runs it. */
const TRAPS: readonly (readonly [name: string, settings: string, command: string])[] = [
  ["core.fsmonitor", `${FILES}\nfsmonitor = ./trap`, "git -C evil.git status"],
  ["core.fsmonitor, behind cd", `${FILES}\nfsmonitor = ./trap`, "cd evil.git && git status"],
  [
    "core.fsmonitor, in a loop",
    `${FILES}\nfsmonitor = ./trap`,
    'for d in */; do git -C "$d" status -s; done',
  ],
  ["diff.external", `${FILES}\n[diff]\nexternal = ./trap`, "git -C evil.git diff"],
  ["a diff driver", `${FILES}\n[diff "e"]\ncommand = ./trap`, "git -C evil.git diff"],
  ["a conversion", `${FILES}\n[diff "e"]\ntextconv = ./trap`, "git -C evil.git diff"],
  ["a filter", `${FILES}\n[filter "e"]\nclean = ./trap`, "git -C evil.git diff"],
  [
    "log.showSignature",
    "[core]\nrepositoryformatversion = 0\nbare = true\n[log]\nshowSignature = true\n[gpg]\nprogram = ./trap",
    "cd evil.git && git log",
  ],
];

describe.skipIf(!isKnown)(
  "a repository among the files of a project (skipped: no git 2.38 or later)",
  () => {
    it.each(TRAPS)(
      "its %s runs, which is asked about, and does not with the guards",
      (_name, settings, command) => {
        writeFileSync(join(project, "evil.git/config"), `${settings}\n`);
        run(command);
        expect(existsSync(mark)).toBe(true);
        rmSync(mark);
        const { riskLevel, rewrite } = evaluateCommandSafety(command);
        expect(riskLevel).toBe("needs-review");
        run(rewrite?.command ?? command);
        expect(existsSync(mark)).toBe(false);
      },
    );

    it("a format that checks signatures is asked about, also in the project's own repository", () => {
      writeFileSync(
        join(project, "evil.git/config"),
        "[core]\nrepositoryformatversion = 0\nbare = true\n[gpg]\nprogram = ./trap\n",
      );
      run("cd evil.git && git log --format=%G?");
      expect(existsSync(mark)).toBe(true);
      expect(evaluateCommandSafety("git log --format=%G?").riskLevel).toBe("needs-review");
    });
  },
);

describe("a tag that is called like an option", () => {
  it.each([
    "git log $(git describe --tags --abbrev=0)..HEAD",
    "git show --stat $(git describe --tags --abbrev=0)",
  ])("is a revision in the words that are offered for %s", (command) => {
    git("commit", "-q", "--allow-empty", "-m", "x");
    git("update-ref", "refs/tags/--output=pwned", "HEAD");
    run(command);
    const written = ["pwned", "pwned..HEAD"].map((name) => join(project, name));
    expect(written.some((path) => existsSync(path))).toBe(true);
    for (const path of written) rmSync(path, { force: true });
    run(evaluateCommandSafety(command).rewrite?.command ?? "exit 1");
    expect(written.filter((path) => existsSync(path))).toEqual([]);
  });
});
