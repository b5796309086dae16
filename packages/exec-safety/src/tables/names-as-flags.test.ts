import { describe, expect, it } from "vitest";
import { evaluateCommandSafety } from "../evaluate.js";

const rulesOf = (command: string): readonly string[] =>
  evaluateCommandSafety(command).reasons.map(({ ruleId }) => ruleId);

// Each was run in bash in a folder with a file whose name is the flag: it wrote, ran code or read
// another file.
describe("names of files as flags", () => {
  it.each([
    "sort *.txt",
    "sort *",
    "sort ?*.txt",
    "sort [!a]*.txt",
    "git diff --stat *.md",
    "git log *.md",
    "git show *",
    "git shortlog *",
    "git rev-list HEAD *",
    "git blame *.md",
    "tar -tf *.tar",
    "tar tf a.tar *",
    "sed -n 1p *.txt",
    "sed -n 1p -- a *.txt | sort *.txt",
    "jq . *.json",
    "file *",
    "tree *",
    "find *",
    "find . -name *",
    "rg foo *.md",
    "less *.txt",
    "iconv *.txt",
    "diff *.txt",
    "nm *.o",
    "strings *",
    "zstd -l *.zst",
    "pip show *",
    "ip link show *",
    "wc -l */*.txt",
    "for f in *; do grep foo $f; done",
    'for f in *.txt; do sort "$f"; done',
    "for f in *.txt; do sort $f; done",
    "sort $(git ls-files)",
    "sort `git ls-files`",
    "git ls-files | xargs sort",
    "git ls-files | xargs wc -l",
    "git ls-files | xargs -I{} wc -l {}",
    'git ls-files | while read -r f; do sort "$f"; done',
    "ls | xargs sort",
    "sort -k *",
    "wc -l *",
    "wc -l *.json",
    "du -sh *",
    'for f in *; do wc -l "$f"; done',
    "grep foo *",
    "grep -rn foo ?v",
    "grep -rn foo *",
    "grep -rn --include='*.ts' foo *",
  ])("%s asks", (command) => {
    expect(evaluateCommandSafety(command).riskLevel).toBe("needs-review");
  });

  it.each([
    "sort ./*.txt",
    "sort -- *.txt",
    "sort a*.txt",
    "sort [a-z]*.txt",
    "sort src/*.txt",
    "git diff --stat -- *.md",
    "git diff --stat ./*.md",
    "tar -tf ./a.tar",
    "sed -n 1p ./*.txt",
    "jq . ./package*.json",
    "file ./*",
    "rg foo ./*.md",
    "rg foo -- *.md",
    "wc -l *.txt",
    "cat *.txt",
    "head -5 *.md",
    "grep -rn foo ./*",
    "grep -l foo *",
    "egrep -c foo *",
    "grep -n foo *.ts",
    "du -sh */",
    "ls *.ts",
    "ls *",
    "echo *",
    "printf '%s\\n' *",
    "strings ./*.bin",
    'for f in *.txt; do wc -l "$f"; done',
    'for f in ./*.txt; do sort "$f"; done',
    "find . -name '*.txt' -print0 | xargs -0 sort",
    "git ls-files -z '*.ts' | xargs -0 sort --",
    "git ls-files '*.ts' | while IFS= read -r f; do sort -- \"$f\"; done",
  ])("%s is safe", (command) => expect(rulesOf(command)).toEqual([]));

  // A file `-e.` among them makes every line of every file a hit.
  it.each(["grep foo *", "grep -rn foo *", "grep foo *.json", "egrep foo *", "git grep foo *"])(
    "%s asks, and is safe for files of this folder",
    (command) => {
      expect(rulesOf(command)).toEqual(["program.dynamic"]);
      expect(evaluateCommandSafety(command).rewrite?.command).toBe(command.replace("*", "./*"));
      expect(rulesOf(command.replace("*", "-- *"))).toEqual([]);
    },
  );

  it.each([
    ["sort *.txt *.md | sort *.log", "sort ./*.txt ./*.md | sort ./*.log"],
    ["du -sh a/* && tar -tf *.tar", "du -sh a/* && tar -tf ./*.tar"],
    ["cat *; sort *.txt", undefined],
    ["for f in *; do sort $f; done", undefined],
    ["pip show *", undefined],
  ])("has a wording for %s where that is all that is wrong", (command, wording) => {
    expect(evaluateCommandSafety(command).rewrite?.command).toBe(wording);
  });

  it("offers the same glob in this folder", () => {
    expect(evaluateCommandSafety("sort *.txt").reasons.map(({ message }) => message)).toEqual([
      "a file that `*.txt` finds may have a flag of `sort` for its name: write `./*.txt`",
    ]);
  });

  it.each([
    "strings @a",
    "readelf -a @/etc/passwd",
    "objdump -d a.o @more",
    "nm -- @x",
    'nm "$x"',
    "jar tf @x",
    "7z l a.7z @x",
  ])("%s reads more arguments from a file", (command) =>
    expect(evaluateCommandSafety(command).riskLevel).toBe("needs-review"),
  );
});
