/**
 * Git: what shows, and never changes, a repository. Commands that change or fetch are in
 * git-changes.ts.
 */
import { reviewed } from "../table.js";
import type { Binary, BinaryTable } from "../table.js";
import { gitChanges } from "./git-changes.js";
import { gitLists } from "./git-lists.js";
import { gitPlumbing } from "./git-plumbing.js";
import { DIFF, DIFF_REVIEW, LOG } from "./git-flags.js";

const OTHER_SETTINGS =
  "exec: takes the settings of another repository, which can name programs to run";
const OTHER_FILE = "read: reads another file";

const showing: BinaryTable = {
  status: {
    flags: `-s,--short -b,--branch --show-stash --porcelain?:text --long -v,--verbose -u,--untracked-files?:text --ignore-submodules?:text
      --ignored?:text -z --column?:text --no-column --ahead-behind --no-ahead-behind --renames --no-renames --find-renames?:text`,
    operands: "revision*",
    examples: {
      safe: ["git status", "git status -sb", "git status --porcelain=v2 src"],
      review: ["git status --what", "git status ../other"],
    },
  },
  log: {
    flags: LOG,
    reviewFlags: {
      ...DIFF_REVIEW,
      "--show-signature": "exec: runs the program that checks signatures",
    },
    operands: "revision*",
    examples: {
      safe: [
        "git log",
        "git log --oneline -n 5 --graph --all -- src/a.ts",
        "git log --grep='rm -rf' -1",
        "git log -c -p -3",
        "git log -S'eval(' --author=me --since='2 weeks ago'",
        "git log --pretty=format:'%h %s' main..HEAD",
        "git log --format=%h%%G",
        "git log -L 1,20:src/a.ts",
      ],
      review: [
        "git log --output=x",
        "git log --outp=x",
        "git log -p --ext-diff",
        "git log -p --textconv",
        "git log -L 1,2:/etc/passwd",
        "git log --show-signature",
        "git log --format=%G?",
        "git log --pretty='format:%h %+GK'",
      ],
    },
  },
  show: {
    flags: LOG,
    reviewFlags: DIFF_REVIEW,
    operands: "revision*",
    examples: {
      safe: [
        "git show HEAD --stat",
        "git show HEAD:README.md",
        "git show v1.0^{commit}",
        "git show -s --format=%B",
      ],
      review: [
        "git show HEAD:.env",
        "git show --output=x",
        "git show --textconv HEAD:a",
        "git show HEAD:../../x",
      ],
    },
  },
  diff: {
    flags: `${DIFF} --cached,--staged --merge-base --base --ours --theirs -0 -1 -2 -3 --cc -c --exit-code --quiet --no-index -q`,
    reviewFlags: DIFF_REVIEW,
    operands: "revision*",
    examples: {
      safe: [
        "git diff HEAD~1",
        "git diff --cached --stat",
        "git diff main...HEAD -- src",
        "git diff --output-indicator-new=+",
        "git diff -Oorder",
        "git diff --no-index a.txt b.txt",
      ],
      review: [
        "git diff --output=x",
        "git diff --ext-diff",
        "git diff --no-index a /etc/passwd",
        "git diff --no-index src lib",
        "git diff .env",
      ],
    },
  },
  "diff-tree": plumbing(
    "diff-tree",
    "-r -t -m -c --cc --root --stdin --no-commit-id --pretty?:git-format --format?:git-format --merge-base -v --always --exit-code --quiet",
  ),
  "diff-index": plumbing("diff-index", "--cached --merge-base -m --exit-code --quiet"),
  "diff-files": plumbing(
    "diff-files",
    "-0 -1 -2 -3 --base --ours --theirs -q --cc -c --exit-code --quiet",
  ),
  "range-diff": plumbing(
    "range-diff",
    "--creation-factor:number --left-only --right-only --no-dual-color --notes?:text",
  ),
  whatchanged: {
    flags: LOG,
    reviewFlags: DIFF_REVIEW,
    operands: "revision*",
    examples: { safe: ["git whatchanged -3"], review: ["git whatchanged --output=x"] },
  },
  cherry: {
    flags: "-v --abbrev?:number",
    operands: "revision*",
    examples: { safe: ["git cherry -v main"], review: ["git cherry --what"] },
  },
  shortlog: {
    flags: `-n,--numbered -s,--summary -e,--email --group:text -c,--committer --format?:git-format -w?:text --date:text --since,--after:text
      --until,--before:text --author:text --grep:text --all --branches?:text --tags?:text --no-merges --merges --first-parent -# -E -i`,
    reviewFlags: DIFF_REVIEW,
    operands: "revision*",
    examples: {
      safe: ["git shortlog -sne", "git shortlog -sn HEAD~9.."],
      review: ["git shortlog --what HEAD"],
    },
  },
  reflog: {
    flags: LOG,
    reviewFlags: DIFF_REVIEW,
    operands: "revision*",
    subcommands: {
      show: {
        flags: LOG,
        reviewFlags: DIFF_REVIEW,
        operands: "revision*",
        examples: { safe: ["git reflog show -5 main"], review: ["git reflog show --output=x"] },
      },
      exists: {
        operands: "text",
        examples: { safe: ["git reflog exists HEAD"], review: ["git reflog exists"] },
      },
      list: { examples: { safe: ["git reflog list"], review: ["git reflog list x"] } },
      expire: reviewed("change: forgets where branches were", "git reflog expire --all"),
      delete: reviewed("change: forgets where branches were", "git reflog delete HEAD@{1}"),
      drop: reviewed("change: forgets where branches were", "git reflog drop --all"),
      write: reviewed("change: writes where branches were", "git reflog write a b c d"),
    },
    examples: {
      safe: ["git reflog", "git reflog -10"],
      review: ["git reflog --output=x", "git reflog expire --all"],
    },
  },
  blame: {
    flags: `-b --root --no-root --show-stats -L:text -l -t --date:text --porcelain -p --line-porcelain --incremental --encoding?:text -M?:number -C?:number
      --score-debug -f,--show-name -n,--show-number -s -e,--show-email -w --ignore-rev:text --reverse --first-parent --since:text
      --abbrev?:number --color-lines --color-by-age -c --progress --no-progress --minimal`,
    reviewFlags: {
      ...DIFF_REVIEW,
      "--contents:path": OTHER_FILE,
      "-S:path": OTHER_FILE,
      "--ignore-revs-file:path": OTHER_FILE,
    },
    operands: "revision+",
    examples: {
      safe: ["git blame src/x.ts", "git blame -L 10,20 -w HEAD~3 -- src/x.ts"],
      review: [
        "git blame --contents /etc/passwd a",
        "git blame --cont=x a",
        "git blame --reverse --contents=/etc/passwd a",
        "git blame .env",
      ],
    },
  },
  annotate: {
    flags: "-l -t -L:text -c -w",
    reviewFlags: { ...DIFF_REVIEW, "--contents:path": OTHER_FILE, "-S:path": OTHER_FILE },
    operands: "revision+",
    examples: {
      safe: ["git annotate src/x.ts"],
      review: ["git annotate --contents /etc/passwd a"],
    },
  },
  grep: {
    flags: `--cached --untracked --no-index --exclude-standard --recurse-submodules -a,--text -i,--ignore-case -I
      --no-textconv -r,--recursive --no-recursive -w,--word-regexp -v,--invert-match -h -H --full-name -E,--extended-regexp -G,--basic-regexp
      -P,--perl-regexp -F,--fixed-strings -n,--line-number --column -l,--files-with-matches,--name-only -L,--files-without-match -z,--null
      -o,--only-matching -c,--count --color?:text --no-color --break --heading -p,--show-function -A,--after-context:number
      -B,--before-context:number -C,--context:number -# -W,--function-context -m,--max-count:number --threads:number -e:pattern --and --or --not --all-match
      -q,--quiet --max-depth:number`,
    reviewFlags: {
      "-O,--open-files-in-pager?:text": "exec: opens what it finds in a program",
      "--textconv": "exec: runs the program that the settings name for conversions",
      "--ext-grep": "exec: runs another grep",
      "-f:path": OTHER_FILE,
      "--no-exclude-standard": "secret: also searches ignored files, where credentials are kept",
    },
    operands: "pattern revision*",
    operandsWith: { "-e": "revision*" },
    examples: {
      safe: [
        "git grep foo",
        "git grep -n 'TODO' -- '*.ts'",
        "git grep -e a --and -e b",
        "git grep foo HEAD~3 -- src",
      ],
      review: [
        "git grep -O foo",
        "git grep -Ovim foo",
        "git grep --open=vim foo",
        "git grep --open-files-in-pager=./x foo",
        "git grep -f x",
      ],
    },
  },
};

export const git: BinaryTable = {
  git: {
    style: "first",
    obeysWorkspace: true,
    pagesUnless: "--no-pager",
    flags: `-C:folder -c:git-guard -P,--no-pager --no-optional-locks --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-replace-objects
      --no-lazy-fetch --no-advice -v,--version -h,--help --html-path --man-path --info-path`,
    reviewFlags: {
      "--config-env:text": "exec: sets a setting, many of which name programs to run",
      "--exec-path?:text": "exec: takes git's own programs from another folder",
      "--git-dir:path": OTHER_SETTINGS,
      "--work-tree:path": OTHER_SETTINGS,
      "--bare": OTHER_SETTINGS,
      "--namespace:text": OTHER_SETTINGS,
      "-p,--paginate": "exec: runs the pager that the settings name",
    },
    subcommands: { ...showing, ...gitPlumbing, ...gitLists, ...gitChanges },
    examples: {
      safe: [
        "git --version",
        "git --no-pager log -1",
        "git -C . status",
        "git --no-optional-locks status",
      ],
      review: [
        "git -c core.pager=id log",
        "git -ccore.pager=id log",
        "git --config-env=a=b log",
        "git --exec-path=. log",
        "git --git-dir=x log",
        "git --work-tree x status",
        "git -p log",
        "git --pag log",
        "git -C /tmp status",
        "git -C sub status",
        "git -c safe.bareRepository=all status",
        "git -C .git status",
        "git -C sub/.git log",
        "git",
        "git frobnicate",
        "git -c a=b push",
      ],
    },
  },
};

function plumbing(name: string, flags: string): Binary {
  return {
    flags: `${DIFF} ${flags}`,
    reviewFlags: DIFF_REVIEW,
    operands: "revision*",
    examples: { safe: [`git ${name} HEAD`], review: [`git ${name} --output=x HEAD`] },
  };
}
