import { execFile } from "node:child_process";
import { access, mkdtemp, realpath, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { GIT_GUARDS } from "@acp/core/exec";
import { gitOverrides } from "./git-config.js";

const run = promisify(execFile);
const BASE = {
  PATH: process.env["PATH"] ?? "/usr/bin:/bin",
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
};

let folder = "";
let repository = "";
let mark = "";
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "exec-git-")));
  repository = join(folder, "repository");
  mark = join(folder, "was-run");
  await run("git", ["init", "-q", repository], { env: BASE });
  const git = (...args: readonly string[]): Promise<unknown> =>
    run("git", ["-C", repository, "-c", "user.name=a", "-c", "user.email=a@b.example", ...args], {
      env: BASE,
    });
  await writeFile(join(repository, "a.txt"), "one\n");
  await git("add", "a.txt");
  await git("commit", "-qm", "one");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const config = (key: string, value: string): Promise<unknown> =>
  run("git", ["-C", repository, "config", key, value], { env: BASE });
const wasRun = (): Promise<boolean> =>
  access(mark).then(
    () => true,
    () => false,
  );

/**
 * What git says with the overrides; its exit code is not looked at: refusing is as good as
 * answering.
 */
async function gitWith(
  overrides: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<string> {
  return run("git", [...args], { cwd: repository, env: { ...BASE, ...overrides } }).then(
    ({ stdout }) => stdout,
    () => "(git refused)",
  );
}

const PLANTED: readonly (readonly [
  name: string,
  plant: (command: string) => Promise<unknown>,
  call: readonly string[],
])[] = [
  ["core.fsmonitor", (command) => config("core.fsmonitor", command), ["status", "--short"]],
  ["diff.external", (command) => config("diff.external", command), ["diff"]],
  [
    "a diff driver's command",
    async (command) => {
      await config("diff.Evil.command", command);
      await writeFile(join(repository, ".gitattributes"), "* diff=Evil\n");
    },
    ["diff"],
  ],
  [
    "a diff driver's textconv",
    async (command) => {
      await config("diff.evil.textconv", command);
      await writeFile(join(repository, ".gitattributes"), "* diff=evil\n");
    },
    ["diff"],
  ],
  [
    "a filter's clean",
    async (command) => {
      await config("filter.evil.clean", command);
      await writeFile(join(repository, ".gitattributes"), "* filter=evil\n");
    },
    ["status", "--short"],
  ],
  [
    "an included file",
    async (command) => {
      await writeFile(join(repository, ".git", "more"), `[diff]\n\texternal = "${command}"\n`);
      await config("include.path", "more");
    },
    ["diff"],
  ],
];

/** Another content of the same length, and another time: git has to read it to know. */
async function change(text: string, laterSeconds: number): Promise<void> {
  const path = join(repository, "a.txt");
  await writeFile(path, text);
  const time = Date.now() / 1_000 + laterSeconds;
  await utimes(path, time, time);
}

describe("gitOverrides()", () => {
  it.each(PLANTED)("gitOverrides() keeps git from running %s", async (_name, plant, call) => {
    await plant(`touch '${mark}'; false`);
    await change("two\n", 10);
    const overrides = await gitOverrides({ cwd: repository, variables: BASE });
    await gitWith(overrides, ...call);
    expect(await wasRun()).toBe(false);
    // The same without them runs it: the case can fail.
    await change("six\n", 20);
    await gitWith({}, ...call);
    expect(await wasRun()).toBe(true);
  });

  it("gitOverrides() leaves `git diff` and `git status` of a plain repository as they are", async () => {
    await writeFile(join(repository, "a.txt"), "two\n");
    const overrides = await gitOverrides({ cwd: repository, variables: BASE });
    for (const call of [["diff"], ["status", "--short"], ["log", "--oneline"]])
      expect(await gitWith(overrides, ...call)).toBe(await gitWith({}, ...call));
    expect(await gitWith(overrides, "diff")).toContain("+two");
  });

  it("gitOverrides() enters no repository that is plain files of another one", async () => {
    await run("git", ["init", "-q", "--bare", join(repository, "bare")], { env: BASE });
    await run(
      "git",
      ["--git-dir", join(repository, "bare"), "config", "core.fsmonitor", `touch '${mark}'; false`],
      { env: BASE },
    );
    const overrides = await gitOverrides({ cwd: repository, variables: BASE });
    expect(await gitWith(overrides, "-C", "bare", "log")).toBe("(git refused)");
    expect(await wasRun()).toBe(false);
  });

  it("gitOverrides() works outside a repository, and where there is no git", async () => {
    const outside = await gitOverrides({ cwd: folder, variables: BASE });
    expect(outside["GIT_CONFIG_COUNT"]).toBe(String(GIT_GUARDS.length));
    expect(await gitOverrides({ cwd: folder, variables: { ...BASE, PATH: folder } })).toEqual(
      outside,
    );
  });

  it("gitOverrides() takes diff programs away where git's configuration cannot be read", async () => {
    await writeFile(join(repository, ".git", "config"), "[broken\n");
    const overrides = await gitOverrides({ cwd: repository, variables: BASE });
    expect(Object.values(overrides)).toContain("diff.external");
  });

  it("gitOverrides() turns hooks off", async () => {
    expect(
      await gitWith(
        await gitOverrides({ cwd: repository, variables: BASE }),
        "config",
        "core.hooksPath",
      ),
    ).toBe("/dev/null\n");
  });
});
