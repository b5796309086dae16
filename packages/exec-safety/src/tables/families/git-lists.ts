/**
 * Git's commands that list in one form and change in another: branches, tags, stashes, settings.
 */
import { reviewed } from "../table.js";
import type { BinaryTable } from "../table.js";
import { DIFF, DIFF_REVIEW, LOG, REFERENCES } from "./git-flags.js";

const MANY_SETTINGS =
  "secret: shows many settings at once, and addresses and headers among them may hold a token";
const SETS = "exec: changes settings, some of which name programs to run";
const OTHER_FILE = "read: reads another file";

export const gitLists: BinaryTable = {
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
      safe: [
        "git tag",
        "git tag -l 'v*'",
        "git tag -n5",
        "git tag --sort=-creatordate",
        "git tag --points-at HEAD",
      ],
      review: ["git tag v1", "git tag -d v1", "git tag -a v1 -m x", "git tag -v v1"],
    },
  },
  remote: {
    flags: "-v,--verbose",
    operands: "",
    excess: "exec: changes which other repositories git talks to",
    subcommands: {
      "get-url": {
        flags: "--push --all",
        operands: "text",
        examples: {
          safe: [
            "git remote get-url origin | sed 's#://[^/]*@#://#g'",
            "git remote get-url origin >/dev/null",
          ],
          review: [
            "git remote get-url",
            "git remote get-url origin",
            "git remote get-url origin | cat",
          ],
        },
      },
      show: {
        flags: "-n",
        operandsWith: { "-n": "text*" },
        excess: "network: asks the other repository",
        examples: {
          safe: ["git remote show", "git remote show -n origin | sed 's#://[^/]*@#://#g'"],
          review: ["git remote show origin", "git remote show -n origin"],
        },
      },
    },
    examples: {
      safe: ["git remote", "git remote -v | sed 's#://[^/]*@#://#g'", "git remote -v | wc -l"],
      review: [
        "git remote -v",
        "git remote add a b",
        "git remote set-url origin x",
        "git remote rm origin",
      ],
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
    examples: {
      safe: ["git stash list"],
      review: ["git stash", "git stash pop", "git stash drop", "git stash push -m x"],
    },
  },
  worktree: {
    subcommands: {
      list: {
        flags: "-v,--verbose --porcelain -z",
        examples: { safe: ["git worktree list"], review: ["git worktree list x"] },
      },
    },
    examples: {
      safe: ["git worktree list"],
      review: ["git worktree add ../x", "git worktree remove x", "git worktree"],
    },
  },
  submodule: {
    flags: "-q,--quiet",
    operands: "",
    subcommands: {
      status: {
        flags: "--cached --recursive",
        operands: "revision*",
        examples: {
          safe: ["git submodule status --recursive"],
          review: ["git submodule status --what"],
        },
      },
      "set-url": reviewed(
        "exec: changes which other repositories git talks to",
        "git submodule set-url a b",
      ),
      foreach: {
        review: "exec: runs a program in every submodule",
        examples: { safe: [], review: ["git submodule foreach id"] },
      },
    },
    excess: "network: fetches or changes submodules",
    examples: {
      safe: ["git submodule", "git submodule status"],
      review: ["git submodule update --init", "git submodule foreach 'id'"],
    },
  },
  notes: {
    flags: "--ref:text",
    operands: "",
    subcommands: {
      list: {
        operands: "revision?",
        examples: { safe: ["git notes list"], review: ["git notes list a b"] },
      },
      show: {
        operands: "revision?",
        examples: { safe: ["git notes show HEAD"], review: ["git notes show a b"] },
      },
    },
    excess: "change: changes notes",
    examples: { safe: ["git notes"], review: ["git notes add -m x"] },
  },
  "sparse-checkout": {
    subcommands: {
      list: {
        examples: { safe: ["git sparse-checkout list"], review: ["git sparse-checkout list x"] },
      },
    },
    examples: { safe: ["git sparse-checkout list"], review: ["git sparse-checkout set x"] },
  },
  bisect: {
    review: "change: moves the working tree to another commit",
    subcommands: {
      log: { examples: { safe: ["git bisect log"], review: ["git bisect log x"] } },
      run: {
        review: "exec: runs a program on every commit",
        examples: { safe: [], review: ["git bisect run ./x"] },
      },
      view: {
        review: "exec: opens a program",
        examples: { safe: [], review: ["git bisect view"] },
      },
      visualize: {
        review: "exec: opens a program",
        examples: { safe: [], review: ["git bisect visualize"] },
      },
    },
    examples: { safe: ["git bisect log"], review: ["git bisect start", "git bisect run ./x"] },
  },
  config: {
    flags: `--get --get-all --global --system --local --worktree -f,--file:path --show-origin --show-scope
      --name-only -z,--null --type:text --bool --int --bool-or-int --path --expiry-date --no-type --includes --no-includes --default:text`,
    reviewFlags: {
      "--blob:text": OTHER_FILE,
      "-l,--list,--get-regexp,--get-urlmatch": MANY_SETTINGS,
      "-e,--edit": "exec: opens an editor",
      "--add,--replace-all,--unset,--unset-all,--rename-section,--remove-section": SETS,
    },
    operands: "git-setting?",
    operandsWith: {
      "--get,--get-all,--get-regexp": "setting text?",
      "--get-urlmatch": "setting text",
      "-l": "",
    },
    excess: SETS,
    subcommands: {
      get: {
        flags:
          "--all --global --system --local --worktree -f,--file:path --show-origin --show-scope --type:text --default:text -z,--null",
        reviewFlags: { "--regexp,--url?:text": MANY_SETTINGS },
        operands: "setting",
        examples: {
          safe: ["git config get user.name"],
          review: ["git config get http.x.extraheader", "git config get a b"],
        },
      },
      list: reviewed(MANY_SETTINGS, "git config list --local"),
      ...Object.fromEntries(
        ["set", "unset", "rename-section", "remove-section", "edit"].map((name) => [
          name,
          reviewed(SETS, `git config ${name} a.b`),
        ]),
      ),
    },
    examples: {
      safe: [
        "git config --get user.name",
        "git config user.email",
        "git config --get-all remote.origin.fetch",
      ],
      review: [
        "git config --list",
        "git config --get-regexp '^remote'",
        "git config -l --show-origin",
        "git config user.name x",
        "git config --global core.pager x",
        "git config --unset a.b",
        "git config -e",
        "git config edit",
        "git config --get http.extraheader",
        "git config -f /etc/x -l",
        "git config --rep a b",
      ],
    },
  },
};
