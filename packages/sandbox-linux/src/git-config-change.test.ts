import { describe, expect, it } from "vitest";
import { addsNoProgram } from "./git-config-change.js";

const OLD =
  '[core]\n\tbare = false\n\tpager = less\n[alias]\n\tst = status\n\tlong = "!f() { \\\n x; }; f"\n';

describe("addsNoProgram()", () => {
  it.each([
    ["nothing new", OLD],
    [
      "what git remote add writes",
      `${OLD}[remote "origin"]\n\turl = https://example.com/x\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n`,
    ],
    [
      "what git push -u writes",
      `${OLD}[remote "origin"]\n\turl = git@example.com:x.git\n[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n`,
    ],
    [
      "what git branch -u writes for a branch of this repository",
      `${OLD}[branch "x"]\n\tremote = .\n\tmerge = refs/heads/main\n`,
    ],
    ["an address with a port", `${OLD}[remote "o"]\n\turl = ssh://me@example.com:22/x\n`],
    ["an old program that stays, and a comment", `${OLD}# a comment\n[pull]\n\trebase = true\n`],
    ["less", "[core]\n\tpager = less\n"],
  ])("takes %s", (_name, text) => {
    expect(addsNoProgram(OLD, text)).toBe(true);
  });

  it.each([
    ["a program", "[core]\n\tfsmonitor = ./x\n"],
    ["another value of one that was there", "[core]\n\tpager = ./x\n"],
    ["one behind its header", "[core] fsmonitor = ./x\n"],
    ["a key of another section", '[alias]\n\tname = "!x"\n'],
    ["an old line in another section", "[core]\n\tst = status\n"],
    ["an include", "[include]\n\tpath = x\n"],
    ["a transport that runs a shell", '[remote "x"]\n\turl = ext::sh -c x\n'],
    ["one that has quotes in it", '[remote "x"]\n\turl = ext:"":sh -c x\n'],
    ["one that has quotes around it", '[remote "x"]\n\turl = "ext:":"sh"\n'],
    ["a repository on this machine, with its hooks", '[remote "x"]\n\turl = ./evil.git\n'],
    ["one by its full path", '[remote "x"]\n\tpushurl = /home/me/project/evil.git\n'],
    ["one by its address", '[remote "x"]\n\turl = file:///home/me/project/evil.git\n'],
    ["one in place of a remote", '[branch "x"]\n\tremote = evil.git\n'],
    [
      "one in place of a remote that has no address",
      '[remote "evil"]\n\tfetch = +x:x\n[push]\n[remote]\n\tpushdefault = evil\n',
    ],
    ["an option behind quotes", '[remote "x"]\n\turl = ""--upload-pack=x\n'],
    ["an option for an address", '[branch "x"]\n\tremote = --upload-pack=x\n'],
    ["a line that goes on into a header", '[remote "x"]\n\turl = y\\\n[core]\n\tfsmonitor = ./x\n'],
    ["half of an old value", '[alias]\n\tlong = "!f() { \\\n y; }; f"\n'],
    ["a comment that hides a line", "[core]\n# x \\\n\tfsmonitor = ./x\n"],
    ["a line before any section", "name = x\n"],
  ])("refuses %s", (_name, text) => {
    expect(addsNoProgram(OLD, `${OLD}${text}`)).toBe(false);
  });
});
