import { describe, expect, it } from "vitest";
import { gitConfigNames } from "./git-config-names.js";

describe("gitConfigNames()", () => {
  it("names what a configuration includes, with a condition too", () => {
    const text =
      '[include]\n\tpath = ../shared.inc\n[includeIf "gitdir:~/work/"]\n\tpath = "my file" # why\n[core]\n\tpath = no\n';
    expect(gitConfigNames(text)).toEqual({
      includes: ["../shared.inc", "my file"],
      hooks: [],
      programs: [],
    });
  });

  it("names what it runs, and the words of a command", () => {
    const text =
      '[core] fsmonitor = tools/watch\n[filter "a"]\n\tclean = sh tools/clean.sh %f\n[alias]\n\tst = status\n\tgo = "!./go now"\n';
    expect(gitConfigNames(text).programs).toEqual([
      "tools/watch",
      "sh tools/clean.sh %f",
      "sh",
      "tools/clean.sh",
      "%f",
      "!./go now",
      "./go",
      "now",
    ]);
  });

  it("joins a line that goes on, and takes no more than anybody would write", () => {
    expect(gitConfigNames("[core]\n\teditor = \\\n tools/edit\n").programs).toEqual(["tools/edit"]);
    const many = Array.from({ length: 1000 }, (_, number) => `[include]\npath = ${number}`).join(
      "\n",
    );
    expect(gitConfigNames(many).includes).toHaveLength(200);
  });

  it("takes no name of a person, a branch or a remote for a file", () => {
    expect(
      gitConfigNames(
        '[user]\n\tname = one\n[branch "main"]\n\tmerge = refs/heads/main\n[remote "a"]\n\turl = ../a\n',
      ),
    ).toEqual({
      includes: [],
      hooks: [],
      programs: [],
    });
  });
});
