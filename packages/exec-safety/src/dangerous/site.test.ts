import { describe, expect, it } from "vitest";
import { UNKNOWN, UNSET } from "./feed.js";
import { belowHome, kindOf, resolvePath, siteOf, type Site } from "./site.js";

const UNKNOWN_ROOT = siteOf({ inside: "", projectRoot: undefined, trustedWorkspace: true });
const KNOWN_ROOT = siteOf({ inside: "src", projectRoot: "/work/app", trustedWorkspace: true });

describe("kindOf()", () => {
  it.each([
    ["/", "root"],
    ["/*", "root"],
    ["/.*", "root"],
    ["//", "root"],
    ["/..", "root"],
    ["/tmp/..", "root"],
    ["/home", "home"],
    ["/home/alice", "home"],
    ["/home/alice/", "home"],
    ["/home/alice/*", "home"],
    ["/root", "home"],
    ["/Users/alice", "home"],
    ["/home/alice/notes", "outside"],
    ["/root/notes", "outside"],
    ["/etc", "system"],
    ["/etc/hosts", "system"],
    ["/usr/bin/ls", "system"],
    ["/usr/local", "system"],
    ["/usr/local/bin/x", "outside"],
    ["/var", "system"],
    ["/var/log", "system"],
    ["/var/www/site", "outside"],
    ["/opt", "system"],
    ["/opt/app", "outside"],
    ["/e*", "system"],
    ["/private/etc/hosts", "system"],
    ["/tmp/x", "outside"],
    [".", "project"],
    ["./", "project"],
    ["*", "project"],
    ["./*", "project"],
    [".*", "project"],
    [".[!.]*", "project"],
    ["..", "project"],
    ["src/..", "project"],
    ["dist", "inside"],
    ["./dist/", "inside"],
    ["dist/*", "inside"],
    ["*.log", "inside"],
    ["../x", "outside"],
    ["../../../../..", "root"],
    ["", "unknown"],
    [UNKNOWN, "unknown"],
    [`${UNSET}/x`, "unknown"],
    [`${UNKNOWN}/..`, "unknown"],
    [`dist/${UNKNOWN}`, "inside"],
    [`/tmp/${UNKNOWN}`, "outside"],
  ])("%j is %s where the root is not known", (text, kind) => {
    expect(kindOf(text, UNKNOWN_ROOT)).toBe(kind);
  });

  it.each([
    ["/work/app", "project"],
    ["/work", "project"],
    ["/work/app/dist", "inside"],
    ["/work/app2", "outside"],
    ["..", "project"],
    ["../dist", "inside"],
    ["*", "inside"],
    ["../../x", "outside"],
  ])("%j is %s from src of /work/app", (text, kind) => {
    expect(kindOf(text, KNOWN_ROOT)).toBe(kind);
  });

  it("takes nothing for inside where the root of the file system is the project", () => {
    expect(kindOf("etc", siteOf({ inside: "", projectRoot: "/", trustedWorkspace: true }))).toBe(
      "system",
    );
  });

  it("takes relative paths for outside where the place is outside", () => {
    expect(
      kindOf("x", siteOf({ inside: undefined, projectRoot: "/work/app", trustedWorkspace: true })),
    ).toBe("outside");
  });

  it("does not know relative paths where the directory is not known", () => {
    const nowhere: Site = { ...UNKNOWN_ROOT, directory: undefined };
    expect(kindOf("x", nowhere)).toBe("unknown");
    expect(kindOf("/etc", nowhere)).toBe("system");
  });
});

describe("siteOf()", () => {
  it("finds the home that the project is in", () => {
    expect(siteOf({ inside: "", projectRoot: "/home/me/app", trustedWorkspace: true }).home).toBe(
      "/home/me",
    );
    expect(siteOf({ inside: "", projectRoot: "/root/app", trustedWorkspace: true }).home).toBe(
      "/root",
    );
  });

  it("gives a home of its own where none is known", () => {
    expect(resolvePath(`${UNKNOWN_ROOT.home}/x`, UNKNOWN_ROOT)).toBe(`${UNKNOWN_ROOT.home}/x`);
    expect(kindOf(UNKNOWN_ROOT.home, UNKNOWN_ROOT)).toBe("home");
  });
});

describe("belowHome()", () => {
  it.each([
    ["/home/alice/.bashrc", ".bashrc"],
    ["/root/.ssh/config", ".ssh/config"],
    ["/Users/alice/.zshrc", ".zshrc"],
    ["/home/alice", undefined],
    ["/etc/.bashrc", undefined],
  ])("%s", (path, below) => {
    expect(belowHome(path, UNKNOWN_ROOT)).toBe(below);
  });
});
