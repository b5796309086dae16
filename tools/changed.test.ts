import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { changedSince, findBase, isIn, members, reached, toLookAt } from "./changed.mjs";

const MEMBERS = [
  { folder: "packages/core", name: "@acp/core", needs: [] },
  { folder: "packages/home", name: "@acp/home", needs: ["@acp/core"] },
  { folder: "packages/audit", name: "@acp/audit", needs: ["@acp/core"] },
  { folder: "packages/cli", name: "@acp/cli", needs: ["@acp/home"] },
  { folder: "tools/checks", name: "tools/checks", needs: [] },
  { folder: "examples/embed", name: "embed", needs: ["@acp/cli", "vitest"] },
];

describe("reached()", () => {
  it("takes a member with a changed file, and all that depend on it", () => {
    expect(reached(["packages/home/src/home.ts"], MEMBERS)).toEqual([
      "packages/home",
      "packages/cli",
      "examples/embed",
    ]);
    expect(reached(["packages/audit/test/a.test.ts"], MEMBERS)).toEqual(["packages/audit"]);
  });

  it("takes none for pages, and for tools that nothing depends on their own tests alone", () => {
    const files = [
      "docs/index.md",
      "README.md",
      "spec/audit.md",
      "packages/core/README.md",
      "tools/new/new.mjs",
      "tools/lanes.mjs",
    ];
    expect(reached(files, MEMBERS)).toEqual([]);
    expect(reached(["tools/checks/size.ts"], MEMBERS)).toEqual(["tools/checks"]);
  });

  it.each([
    "vitest.config.ts",
    "pnpm-lock.yaml",
    "tools/shared-tests.ts",
    "spec/vectors/globs.json",
    "spec/schemas/policy.schema.json",
    "tools/ci-plan.mjs",
    ".ci/run",
    "packages/gone/src/a.ts",
    "packages/testing/src/clock.ts",
  ])("takes everything for %s", (file) => expect(reached([file], MEMBERS)).toBeUndefined());
});

it("members() are the packages and examples of this workspace, with what they need", () => {
  const found = members();
  expect(found.find(({ folder }) => folder === "packages/home")).toMatchObject({
    name: "@acp/home",
    needs: expect.arrayContaining(["@acp/core"]),
  });
  expect(found.some(({ folder }) => folder === "examples/embed")).toBe(true);
});

it("isIn() is true for a file of a folder, and for every file where no folder is named", () => {
  expect(isIn(["packages/home"], "packages/home/src/a.test.ts")).toBe(true);
  expect(isIn(["packages/home"], "packages/homeless/src/a.test.ts")).toBe(false);
  expect(isIn(undefined, "tools/a.test.ts")).toBe(true);
});

describe("what to compare with", () => {
  it("is where the branch left the remote's main", () => {
    const { clone, git, write } = repositories();
    const start = git(clone, "rev-parse", "HEAD");
    write(clone, "packages/home/a.ts", "1");
    git(clone, "commit", "-qam", "more");
    write(clone, "packages/core/new.ts", "not committed");
    expect(findBase(undefined, clone)).toBe(start);
    expect(changedSince(start, clone)).toEqual(["packages/home/a.ts", "packages/core/new.ts"]);
    expect(toLookAt(undefined, clone).folders).toEqual(["packages/core", "packages/home"]);
  });

  it("is nothing where the remote's main is HEAD itself, where there is no remote, and in a shallow clone", () => {
    const { clone, origin, room, git, write } = repositories();
    expect(toLookAt(undefined, clone)).toEqual({ base: undefined, folders: undefined });
    expect(findBase(undefined, origin)).toBeUndefined();
    write(origin, "packages/home/a.ts", "2");
    git(origin, "commit", "-qam", "more");
    const shallow = join(room, "shallow");
    git(room, "clone", "-q", "--depth=1", `file://${origin}`, shallow);
    expect(toLookAt(undefined, shallow).folders).toBeUndefined();
    expect(toLookAt(git(origin, "rev-parse", "HEAD^"), shallow).folders).toBeUndefined();
  });

  it("is the commit that is asked for, HEAD too, and nothing where there is none of that name", () => {
    const { clone, git } = repositories();
    expect(findBase("HEAD", clone)).toBe(git(clone, "rev-parse", "HEAD"));
    expect(toLookAt("HEAD", clone).folders).toEqual([]);
    expect(findBase("no-such-branch", clone)).toBeUndefined();
  });
});

/** A repository with two packages, and a clone of it. */
function repositories() {
  const room = mkdtempSync(join(tmpdir(), "acp-changed-"));
  onTestFinished(() => rmSync(room, { recursive: true }));
  const who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
  const git = (cwd: string, ...args: readonly string[]): string =>
    execFileSync("git", [...who, ...args], { cwd, encoding: "utf8", stdio: "pipe" }).trim();
  const write = (base: string, file: string, text: string): void => {
    mkdirSync(dirname(join(base, file)), { recursive: true });
    writeFileSync(join(base, file), text);
  };
  const [origin, clone] = [join(room, "origin"), join(room, "clone")];
  git(room, "init", "-q", "-b", "main", origin);
  write(origin, "packages/core/package.json", JSON.stringify({ name: "@acp/core" }));
  write(origin, "packages/home/package.json", JSON.stringify({ name: "@acp/home" }));
  write(origin, "packages/home/a.ts", "0");
  git(origin, "add", ".");
  git(origin, "commit", "-qm", "first");
  git(room, "clone", "-q", origin, clone);
  return { room, origin, clone, git, write };
}
