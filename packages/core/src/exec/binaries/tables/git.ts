/** Git: what shows, and never changes, a repository. Commands that change or fetch are in git-changes.ts. */
import type { Binary, BinaryTable } from "../table.js";
import { gitChanges } from "./git-changes.js";
import { DIFF, DIFF_REVIEW, LOG, REFERENCES, REVISIONS } from "./git-flags.js";

const OTHER_SETTINGS = "exec: takes the settings of another repository, which can name programs to run";
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
    reviewFlags: { ...DIFF_REVIEW, "--show-signature": "exec: runs the program that checks signatures" },
    operands: "revision*",
    examples: {
      safe: [
        "git log",
        "git log --oneline -n 5 --graph --all -- src/a.ts",
        "git log --grep='rm -rf' -1",
        "git log -c -p -3",
        "git log -S'eval(' --author=me --since='2 weeks ago'",
        "git log --pretty=format:'%h %s' main..HEAD",
        "git log -L 1,20:src/a.ts",
      ],
      review: [
        "git log --output=x",
        "git log --outp=x",
        "git log -p --ext-diff",
        "git log -p --textconv",
        "git log -L 1,2:/etc/passwd",
        "git log --show-signature",
      ],
    },
  },
  show: {
    flags: LOG,
    reviewFlags: DIFF_REVIEW,
    operands: "revision*",
    examples: {
      safe: ["git show HEAD --stat", "git show HEAD:README.md", "git show v1.0^{commit}", "git show -s --format=%B"],
      review: ["git show HEAD:.env", "git show --output=x", "git show --textconv HEAD:a", "git show HEAD:../../x"],
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
        "git diff --no-index a b",
      ],
      review: ["git diff --output=x", "git diff --ext-diff", "git diff --no-index a /etc/passwd", "git diff .env"],
    },
  },
  "diff-tree": plumbing(
    "diff-tree",
    "-r -t -m -c --cc --root --stdin --no-commit-id --pretty?:text --format:text --merge-base -v --always",
  ),
  "diff-index": plumbing("diff-index", "--cached --merge-base -m"),
  "diff-files": plumbing("diff-files", "-0 -1 -2 -3 --base --ours --theirs -q --cc -c"),
  "range-diff": plumbing("range-diff", "--creation-factor:number --left-only --right-only --no-dual-color --notes?:text"),
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
    flags: `-n,--numbered -s,--summary -e,--email --group:text -c,--committer --format:text -w?:text --date:text --since,--after:text
      --until,--before:text --author:text --grep:text --all --branches?:text --tags?:text --no-merges --merges --first-parent -# -E -i`,
    operands: "revision*",
    examples: { safe: ["git shortlog -sne", "git shortlog -sn HEAD~9.."], review: ["git shortlog --what HEAD"] },
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
      exists: { operands: "text", examples: { safe: ["git reflog exists HEAD"], review: ["git reflog exists"] } },
      list: { examples: { safe: ["git reflog list"], review: ["git reflog list x"] } },
      expire: { review: "change: forgets where branches were", examples: { safe: [], review: ["git reflog expire --all"] } },
      delete: { review: "change: forgets where branches were", examples: { safe: [], review: ["git reflog delete HEAD@{1}"] } },
    },
    examples: { safe: ["git reflog", "git reflog -10"], review: ["git reflog --output=x", "git reflog expire --all"] },
  },
  blame: {
    flags: `-b --root --no-root --show-stats -L:text -l -t --date:text --porcelain -p --line-porcelain --incremental --encoding:text -M?:number -C?:number
      --score-debug -f,--show-name -n,--show-number -s -e,--show-email -w --ignore-rev:text --reverse:text --first-parent --since:text
      --abbrev:number --color-lines --color-by-age -c --progress --no-progress --minimal`,
    reviewFlags: { "--contents:path": OTHER_FILE, "-S:path": OTHER_FILE, "--ignore-revs-file:path": OTHER_FILE },
    operands: "revision+",
    examples: {
      safe: ["git blame src/x.ts", "git blame -L 10,20 -w HEAD~3 -- src/x.ts"],
      review: ["git blame --contents /etc/passwd a", "git blame --cont=x a", "git blame .env"],
    },
  },
  annotate: {
    flags: "-l -t -L:text -c -w",
    operands: "revision+",
    examples: { safe: ["git annotate src/x.ts"], review: ["git annotate --contents /etc/passwd a"] },
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
      safe: ["git grep foo", "git grep -n 'TODO' -- '*.ts'", "git grep -e a --and -e b", "git grep foo HEAD~3 -- src"],
      review: [
        "git grep -O foo",
        "git grep -Ovim foo",
        "git grep --open=vim foo",
        "git grep --open-files-in-pager=./x foo",
        "git grep -f x",
      ],
    },
  },
  "rev-parse": {
    flags: `--abbrev-ref?:text --short?:number --verify -q,--quiet --show-toplevel --show-prefix --show-cdup --show-superproject-working-tree --git-dir
      --absolute-git-dir --git-common-dir --git-path:text --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository
      --show-object-format?:text --show-ref-format --symbolic --symbolic-full-name --all --branches?:text --tags?:text --remotes?:text --glob:text
      --exclude:text --default:text --revs-only --no-revs --flags --no-flags --not --sq --since,--after:text --until,--before:text
      --disambiguate:text --path-format:text --local-env-vars --end-of-options`,
    operands: "text*",
    examples: {
      safe: ["git rev-parse --abbrev-ref HEAD", "git rev-parse --short HEAD", "git rev-parse --show-toplevel"],
      review: ["git rev-parse --parseopt"],
    },
  },
  "rev-list": {
    flags: `${REVISIONS} --count --objects --disk-usage?:text --quiet --timestamp --header --in-commit-order --filter:text --missing:text --max-age:number
      --min-age:number --unpacked --objects-edge --use-bitmap-index`,
    operands: "revision*",
    examples: { safe: ["git rev-list --count HEAD"], review: ["git rev-list --what HEAD"] },
  },
  "ls-files": {
    flags: `-c,--cached -d,--deleted -m,--modified -o,--others -i,--ignored -s,--stage --directory --no-empty-directory -u,--unmerged -k,--killed -z -v
      -t -f --error-unmatch --with-tree:text --full-name --recurse-submodules --abbrev?:number --debug --eol --format:text --sparse --deduplicate
      --resolve-undo --exclude-standard -x,--exclude:text --exclude-per-directory:text`,
    reviewFlags: { "-X,--exclude-from:path": OTHER_FILE },
    operands: "revision*",
    examples: {
      safe: ["git ls-files", "git ls-files -z -- '*.ts'", "git ls-files -o --exclude-standard"],
      review: ["git ls-files -X /etc/passwd", "git ls-files --exclude-f x"],
    },
  },
  "ls-tree": {
    flags: "-d -r -t -l,--long -z --name-only,--name-status --object-only --full-name --full-tree --abbrev?:number --format:text",
    operands: "revision+",
    examples: { safe: ["git ls-tree -r --name-only HEAD src"], review: ["git ls-tree --what HEAD"] },
  },
  "cat-file": {
    flags: `-e -p -t -s --batch?:text --batch-check?:text --batch-command?:text --batch-all-objects --buffer --follow-symlinks --unordered
      --use-mailmap --no-use-mailmap --mailmap -z -Z --allow-unknown-type`,
    reviewFlags: {
      "--textconv": "exec: runs the program that the settings name for conversions",
      "--filters": "exec: runs the programs that the settings name for conversions",
      "--path:text": "exec: belongs to a conversion",
    },
    operands: "revision*",
    examples: {
      safe: ["git cat-file -p HEAD", "git cat-file -t HEAD:src"],
      review: ["git cat-file --textconv HEAD:a", "git cat-file --filters HEAD:a", "git cat-file -p HEAD:.env"],
    },
  },
  describe: {
    flags: `--all --tags --contains --abbrev?:number --candidates:number --exact-match --debug --long --match:text --exclude:text --always
      --first-parent --dirty?:text --broken?:text`,
    operands: "revision*",
    examples: { safe: ["git describe --tags --always --dirty"], review: ["git describe --what"] },
  },
  "name-rev": {
    flags: "--tags --refs:text --exclude:text --all --annotate-stdin --name-only --no-undefined --always",
    operands: "revision*",
    examples: { safe: ["git name-rev HEAD"], review: ["git name-rev --what"] },
  },
  "merge-base": {
    flags: "-a,--all --octopus --independent --is-ancestor --fork-point",
    operands: "revision+",
    examples: { safe: ["git merge-base main HEAD"], review: ["git merge-base --what"] },
  },
  "for-each-ref": {
    flags: `${REFERENCES} --count:number -s,--shell -p,--perl --python --tcl --exclude:text --include-root-refs`,
    operands: "text*",
    examples: { safe: ["git for-each-ref --sort=-committerdate --count=5 refs/heads"], review: ["git for-each-ref --what"] },
  },
  "show-ref": {
    flags:
      "--head --heads --branches --tags -d,--dereference -s,--hash?:number --verify --exists --abbrev?:number -q,--quiet --exclude-existing?:text",
    operands: "text*",
    examples: { safe: ["git show-ref --tags"], review: ["git show-ref --what"] },
  },
  "show-branch": {
    flags:
      "-r,--remotes -a,--all --current --topo-order --date-order --sparse --list --independent --no-name --sha1-name --topics --color?:text --no-color",
    operands: "revision*",
    examples: { safe: ["git show-branch -a"], review: ["git show-branch --what"] },
  },
  "symbolic-ref": {
    flags: "-q,--quiet --short --recurse --no-recurse",
    reviewFlags: { "-d,--delete": "change: deletes a reference", "-m:text": "change: moves a reference" },
    operands: "text",
    excess: "change: moves a reference",
    examples: { safe: ["git symbolic-ref --short HEAD"], review: ["git symbolic-ref HEAD refs/heads/x", "git symbolic-ref -d x"] },
  },
  "count-objects": {
    flags: "-v,--verbose -H,--human-readable",
    examples: { safe: ["git count-objects -vH"], review: ["git count-objects x"] },
  },
  "check-ignore": {
    flags: "-v,--verbose -q,--quiet --no-index -n,--non-matching --stdin -z",
    operands: "text*",
    examples: { safe: ["git check-ignore -v dist .env"], review: ["git check-ignore --what"] },
  },
  "check-attr": {
    flags: "-a,--all --cached --source:text --stdin -z",
    operands: "text*",
    examples: { safe: ["git check-attr -a src/a.ts"], review: ["git check-attr --what"] },
  },
  "check-ref-format": {
    flags: "--branch --normalize --allow-onelevel --refspec-pattern",
    operands: "text",
    examples: { safe: ["git check-ref-format --branch x"], review: ["git check-ref-format"] },
  },
  "hash-object": {
    flags: "-t:text --stdin --literally --no-filters",
    reviewFlags: { "-w": "change: writes an object", "--path:text": "exec: runs the programs that the settings name for conversions" },
    operands: "path*",
    examples: { safe: ["git hash-object --no-filters a"], review: ["git hash-object -w a", "git hash-object /etc/passwd"] },
  },
  fsck: {
    flags: `--full --no-full --strict --dangling --no-dangling --unreachable --root --tags --cache --reflogs --no-reflogs --connectivity-only
      --name-objects --progress --no-progress -v,--verbose`,
    reviewFlags: { "--lost-found": "change: writes what it finds" },
    operands: "text*",
    examples: { safe: ["git fsck --no-progress"], review: ["git fsck --lost-found"] },
  },
  var: { flags: "-l", operands: "text?", examples: { safe: ["git var GIT_EDITOR"], review: ["git var --what"] } },
  version: { flags: "--build-options", examples: { safe: ["git version"], review: ["git version x"] } },
  branch: {
    flags: `-l,--list -a,--all -r,--remotes -v,--verbose --show-current --abbrev?:number --no-abbrev ${REFERENCES}`,
    reviewFlags: {
      "-d,-D,--delete": "change: deletes a branch",
      "-m,-M,--move": "change: renames a branch",
      "-c,-C,--copy": "change: copies a branch",
      "-f,--force": "change: moves a branch",
      "-u,--set-upstream-to:text": "change: sets where a branch comes from",
      "--unset-upstream": "change: forgets where a branch comes from",
      "-t,--track?:text": "change: makes a branch",
      "--edit-description": "exec: opens an editor",
    },
    excess: "change: makes or moves a branch",
    operandsWith: { "-l,--contains,--no-contains,--merged,--no-merged,--points-at": "text*" },
    examples: {
      safe: [
        "git branch",
        "git branch -a",
        "git branch --list 'feat/*'",
        "git branch -vv --sort=-committerdate",
        "git branch --show-current",
        "git branch --contains HEAD",
        "git branch --merged main",
      ],
      review: [
        "git branch x",
        "git branch -d x",
        "git branch -D x",
        "git branch -a x",
        "git branch -m a b",
        "git branch -f main HEAD~1",
        "git branch --edit-description",
        "git branch --del x",
      ],
    },
  },
  tag: {
    flags: `-l,--list -n?:number ${REFERENCES}`,
    reviewFlags: {
      "-d,--delete": "change: deletes a tag",
      "-a,--annotate,-s,--sign": "change: makes a tag",
      "-m,--message:text": "change: makes a tag",
      "-f,--force": "change: moves a tag",
      "-v,--verify": "exec: runs the program that checks signatures",
    },
    excess: "change: makes a tag",
    operandsWith: { "-l,-n,--contains,--no-contains,--merged,--no-merged,--points-at": "text*" },
    examples: {
      safe: ["git tag", "git tag -l 'v*'", "git tag -n5", "git tag --sort=-creatordate", "git tag --points-at HEAD"],
      review: ["git tag v1", "git tag -d v1", "git tag -a v1 -m x", "git tag -v v1"],
    },
  },
  remote: {
    flags: "-v,--verbose",
    operands: "",
    excess: "change: changes where other repositories are",
    subcommands: {
      "get-url": {
        flags: "--push --all",
        operands: "text",
        examples: { safe: ["git remote get-url origin"], review: ["git remote get-url"] },
      },
      show: {
        flags: "-n",
        operands: "text*",
        requires: "-n",
        otherwise: "network: asks the other repository",
        examples: { safe: ["git remote show -n origin"], review: ["git remote show origin"] },
      },
    },
    examples: {
      safe: ["git remote", "git remote -v"],
      review: ["git remote add a b", "git remote set-url origin x", "git remote rm origin"],
    },
  },
  stash: {
    review: "change: puts changes of the working tree aside or back",
    subcommands: {
      list: {
        flags: LOG,
        reviewFlags: DIFF_REVIEW,
        operands: "revision*",
        examples: { safe: ["git stash list"], review: ["git stash list --output=x"] },
      },
      show: {
        flags: `${DIFF} --include-untracked --only-untracked --no-include-untracked`,
        reviewFlags: DIFF_REVIEW,
        operands: "revision*",
        examples: { safe: ["git stash show -p stash@{0}"], review: ["git stash show --output=x"] },
      },
    },
    examples: { safe: ["git stash list"], review: ["git stash", "git stash pop", "git stash drop", "git stash push -m x"] },
  },
  worktree: {
    subcommands: {
      list: { flags: "-v,--verbose --porcelain -z", examples: { safe: ["git worktree list"], review: ["git worktree list x"] } },
    },
    examples: { safe: ["git worktree list"], review: ["git worktree add ../x", "git worktree remove x", "git worktree"] },
  },
  submodule: {
    flags: "-q,--quiet",
    operands: "",
    subcommands: {
      status: {
        flags: "--cached --recursive",
        operands: "revision*",
        examples: { safe: ["git submodule status --recursive"], review: ["git submodule status --what"] },
      },
      foreach: { review: "exec: runs a program in every submodule", examples: { safe: [], review: ["git submodule foreach id"] } },
    },
    excess: "network: fetches or changes submodules",
    examples: { safe: ["git submodule", "git submodule status"], review: ["git submodule update --init", "git submodule foreach 'id'"] },
  },
  notes: {
    flags: "--ref:text",
    operands: "",
    subcommands: {
      list: { operands: "revision?", examples: { safe: ["git notes list"], review: ["git notes list a b"] } },
      show: { operands: "revision?", examples: { safe: ["git notes show HEAD"], review: ["git notes show a b"] } },
    },
    excess: "change: changes notes",
    examples: { safe: ["git notes"], review: ["git notes add -m x"] },
  },
  "sparse-checkout": {
    subcommands: { list: { examples: { safe: ["git sparse-checkout list"], review: ["git sparse-checkout list x"] } } },
    examples: { safe: ["git sparse-checkout list"], review: ["git sparse-checkout set x"] },
  },
  bisect: {
    review: "change: moves the working tree to another commit",
    subcommands: {
      log: { examples: { safe: ["git bisect log"], review: ["git bisect log x"] } },
      run: { review: "exec: runs a program on every commit", examples: { safe: [], review: ["git bisect run ./x"] } },
      view: { review: "exec: opens a program", examples: { safe: [], review: ["git bisect view"] } },
      visualize: { review: "exec: opens a program", examples: { safe: [], review: ["git bisect visualize"] } },
    },
    examples: { safe: ["git bisect log"], review: ["git bisect start", "git bisect run ./x"] },
  },
  config: {
    flags: `--get --get-all --get-regexp --get-urlmatch -l,--list --global --system --local --worktree --show-origin --show-scope --name-only -z,--null
      --type:text --bool --int --bool-or-int --path --expiry-date --no-type --includes --no-includes --default:text`,
    reviewFlags: {
      "-f,--file:path": OTHER_FILE,
      "--blob:text": OTHER_FILE,
      "-e,--edit": "exec: opens an editor",
      "--add,--replace-all,--unset,--unset-all,--rename-section,--remove-section":
        "change: changes settings, some of which name programs to run",
    },
    operands: "setting?",
    operandsWith: { "--get,--get-all,--get-regexp": "setting text?", "--get-urlmatch": "setting text", "-l": "" },
    excess: "change: changes a setting, some of which name programs to run",
    subcommands: {
      get: {
        flags: "--all --global --system --local --worktree --show-origin --show-scope --type:text --default:text --regexp -z --null",
        operands: "setting",
        examples: { safe: ["git config get user.name"], review: ["git config get http.x.extraheader", "git config get -f x y"] },
      },
      list: {
        flags: "--global --system --local --worktree --show-origin --show-scope --name-only -z,--null",
        examples: { safe: ["git config list --local"], review: ["git config list -f x"] },
      },
      set: {
        review: "change: changes a setting, some of which name programs to run",
        examples: { safe: [], review: ["git config set core.pager x"] },
      },
    },
    examples: {
      safe: [
        "git config --get user.name",
        "git config user.email",
        "git config --list",
        "git config --get-regexp '^remote'",
        "git config -l --show-origin",
      ],
      review: [
        "git config user.name x",
        "git config --global core.pager x",
        "git config --unset a.b",
        "git config -e",
        "git config --get http.extraheader",
        "git config -f /etc/x -l",
        "git config --rep a b",
      ],
    },
  },
};

export const git: BinaryTable = {
  git: {
    style: "first",
    obeysWorkspace: true,
    flags: `-C:folder -P,--no-pager --no-optional-locks --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-replace-objects
      --no-lazy-fetch --no-advice -v,--version -h,--help --html-path --man-path --info-path`,
    reviewFlags: {
      "-c:text": "exec: sets a setting, many of which name programs to run",
      "--config-env:text": "exec: sets a setting, many of which name programs to run",
      "--exec-path?:text": "exec: takes git's own programs from another folder",
      "--git-dir:path": OTHER_SETTINGS,
      "--work-tree:path": OTHER_SETTINGS,
      "--bare": OTHER_SETTINGS,
      "--namespace:text": OTHER_SETTINGS,
      "-p,--paginate": "exec: runs the pager that the settings name",
    },
    subcommands: { ...showing, ...gitChanges },
    examples: {
      safe: ["git --version", "git --no-pager log -1", "git -C sub status", "git --no-optional-locks status"],
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
