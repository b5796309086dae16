import {
  chmodSync,
  chownSync,
  linkSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hostNeed } from "@acp/testing";
import { type AgentReach, trustedPath } from "./trusted-path.js";

const root = hostNeed("root", () => (process.getuid?.() === 0 ? undefined : "not root"));
const note = root.run ? "" : ` [${root.reason}]`;
const SOMEBODY = 61_042;

let scratch: string;
beforeEach(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), "acp-trusted-")));
});
afterEach(() => rmSync(scratch, { recursive: true }));

function folder(name: string, mode = 0o755): string {
  const path = join(scratch, name);
  mkdirSync(path, { recursive: true });
  chmodSync(path, mode);
  return path;
}

function file(path: string, mode = 0o755): string {
  writeFileSync(path, "");
  chmodSync(path, mode);
  return path;
}

const why = (path: string, reach?: AgentReach): string => {
  const found = trustedPath(path, reach);
  return typeof found === "string" ? `trusted: ${found}` : found.reason;
};

describe("trustedPath()", () => {
  it("gives the real path of what is root's or ours", () => {
    expect(trustedPath("/usr/bin/env")).toMatch(/env$/u);
    const at = file(join(folder("a"), "tool"));
    symlinkSync("a/../a/./tool", join(scratch, "link"));
    expect(trustedPath(join(scratch, "link"))).toBe(at);
    expect(trustedPath(`${scratch}//a/../a/tool`)).toBe(at);
  });

  it("says that there is nothing", () => {
    expect(trustedPath(join(scratch, "nothing/tool"))).toEqual({
      reason: expect.stringContaining("does not exist"),
      isMissing: true,
    });
    expect(trustedPath(join(file(join(scratch, "file")), "tool"))).toMatchObject({
      isMissing: true,
    });
  });

  it.each(["", "a", "./a", "/a\0b"])("takes no path like %j", (path) => {
    expect(trustedPath(path)).toEqual({
      reason: expect.stringContaining("not an absolute path"),
      isMissing: false,
    });
  });

  it.each([
    ["a file that everybody can change", 0o757, 0o755],
    ["a file that a group can change", 0o775, 0o755],
    ["a folder that everybody can change", 0o755, 0o757],
    ["a folder that a group can change", 0o755, 0o775],
  ])("refuses %s", (_, fileMode, folderMode) => {
    const at = folder("a", folderMode);
    const tool = file(join(at, "tool"), fileMode);
    // A group with nobody in it but us is ours: this one is nobody's that we know.
    if (root.run) for (const each of [at, tool]) chownSync(each, 0, 4_242);
    const isGroups = (fileMode & 0o002) === 0 && (folderMode & 0o002) === 0;
    if (isGroups && !root.run) return;
    expect(why(tool)).toMatch(/is writable by (?:all users|a group \(gid 4242\))$/u);
  });

  it("takes a folder that is everybody's where nobody may replace what others put there", () => {
    const tool = file(join(folder("a", 0o1777), "tool"));
    expect(trustedPath(tool)).toBe(tool);
  });

  it.runIf(root.run)(`refuses what belongs to somebody else, at every step${note}`, () => {
    const at = folder("a/b");
    const tool = file(join(at, "tool"));
    symlinkSync(tool, join(scratch, "link"));
    for (const each of [join(scratch, "a"), at, tool]) {
      chownSync(each, SOMEBODY, SOMEBODY);
      expect(why(tool)).toContain(`"${each}" belongs to another user (uid ${SOMEBODY})`);
      expect(why(join(scratch, "link"))).toContain(each);
      chownSync(each, 0, 0);
    }
    lchownSync(join(scratch, "link"), SOMEBODY, SOMEBODY);
    expect(why(join(scratch, "link"))).toContain("belongs to another user");
  });

  it.runIf(root.run)(
    `takes a group of root's alone, and of the system's own without members${note}`,
    () => {
      const tool = file(join(scratch, "tool"), 0o775);
      chownSync(tool, 0, 0);
      expect(trustedPath(tool)).toBe(tool);
      chownSync(tool, 0, 999);
      expect(trustedPath(tool)).toBe(tool);
      chownSync(tool, 0, 1_000);
      expect(why(tool)).toContain("is writable by a group");
    },
  );

  it("refuses everything in a workspace, however it is reached, and nothing beside one", () => {
    const workspaces = [folder("work")];
    const inside = file(join(folder("work/node_modules/.bin"), "bwrap"));
    const outside = file(join(folder("workshop"), "bwrap"));
    symlinkSync(inside, join(scratch, "in"));
    symlinkSync(outside, join(scratch, "work/out"));
    for (const path of [
      inside,
      join(scratch, "in"),
      join(scratch, "work/out"),
      `${scratch}/workshop/../work/node_modules/.bin/bwrap`,
    ])
      expect(why(path, { workspaces })).toContain("is in a workspace, where an agent can write");
    expect(trustedPath(outside, { workspaces })).toBe(outside);
  });

  it("gives up in a loop of symbolic links", () => {
    symlinkSync("b", join(scratch, "a"));
    symlinkSync("a", join(scratch, "b"));
    expect(why(join(scratch, "a"))).toContain("loop of symbolic links");
  });

  it("refuses a file of ours that has another name", () => {
    const tool = file(join(scratch, "tool"));
    linkSync(tool, join(folder("work"), "tool"));
    // Nobody but root writes what is root's, by whatever name.
    expect(why(tool)).toMatch(root.run ? /^trusted: / : /hard link/u);
  });
});
