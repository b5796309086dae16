/**
 * Git: what changes a repository, reaches another one, or runs other programs. Always reviewed; a
 * few flags of each may never be lifted.
 */
import { reviewed } from "../table.js";
import type { Binary, BinaryTable } from "../table.js";

const PATCHES = "write: changes the files that the patch names";
const NAMES_FED = "write: takes names and contents of files from its input";
const ADDRESS = "exec: reaches another repository than those of the settings";
const ANY_REMOTE: Pick<Binary, "operands"> = { operands: "remote? refspec*" };
/** Helpers and extensions that hold credentials. */
const KEEPERS: readonly string[] =
  `credential credential-store credential-cache credential-manager credential-manager-core credential-gcm credential-osxkeychain credential-libsecret
  credential-gnome-keyring credential-wincred credential-netrc credential-oauth secret crypt`.split(
    /\s+/,
  );
const REMOTE_HELPERS: readonly string[] =
  "remote-http remote-https remote-ftp remote-ftps http-push http-fetch imap-send".split(" ");
const REMOTE_PROGRAM =
  "exec: names the program that runs on the other side, which may be this machine";

export const gitChanges: BinaryTable = {
  add: changing("changes what the next commit holds", ["git add .", "git add -A"]),
  rm: changing("deletes files", ["git rm a"]),
  mv: changing("renames files", ["git mv a b"]),
  restore: changing("discards changes of files", ["git restore a"]),
  checkout: changing("changes files of the working tree", [
    "git checkout -b x",
    "git checkout -- a",
  ]),
  switch: changing("changes files of the working tree", ["git switch main"]),
  commit: changing("makes a commit and runs the repository's hooks", [
    'git commit -m "x"',
    "git commit --amend",
  ]),
  merge: changing("merges commits", ["git merge x"], {
    "-s,--strategy:text": "exec: names a strategy, which is a program",
  }),
  rebase: changing(
    "rewrites commits",
    ["git rebase main", "git rebase -x id main", "git rebase --exec=id main"],
    {
      "-x,--exec:text": "exec: runs a program after every commit",
      "-i,--interactive": "exec: opens an editor",
      "-s,--strategy:text": "exec: names a strategy, which is a program",
    },
  ),
  "cherry-pick": changing("makes commits", ["git cherry-pick x"], {
    "-s,--strategy:text": "exec: names a strategy, which is a program",
  }),
  revert: changing("makes a commit", ["git revert HEAD"]),
  reset: changing("moves the branch and may discard changes", [
    "git reset --hard",
    "git reset HEAD~1",
  ]),
  clean: changing("deletes files that are not tracked", ["git clean -fdx"]),
  am: reviewed(PATCHES, "git am x.patch"),
  apply: reviewed(
    PATCHES,
    "git apply x.patch",
    "git apply --unsafe-paths x.patch",
    "git apply --build-fake-ancestor=x y",
  ),
  quiltimport: reviewed(PATCHES, "git quiltimport"),
  init: changing("makes a repository", ["git init", "git init --template=x"], {
    "--template:path": "exec: copies hooks, which are programs",
  }),
  gc: changing("removes objects", ["git gc --prune=now"]),
  prune: changing("removes objects", ["git prune"]),
  repack: changing("rewrites objects", ["git repack -ad"]),
  "pack-refs": changing("rewrites references", ["git pack-refs"]),
  "update-ref": changing("moves a reference", ["git update-ref HEAD x"]),
  "update-index": changing(
    "changes what the next commit holds",
    ["git update-index --refresh", "git update-index --index-info", "git update-index --index-i"],
    {
      "--index-info,--stdin": NAMES_FED,
    },
  ),
  mktree: reviewed(NAMES_FED, "git mktree"),
  "unpack-objects": reviewed(NAMES_FED, "git unpack-objects"),
  "read-tree": changing("changes what the next commit holds", ["git read-tree HEAD"]),
  "write-tree": changing("writes an object", ["git write-tree"]),
  "commit-tree": changing("makes a commit", ["git commit-tree x"]),
  replace: changing("replaces objects", ["git replace a b"]),
  rerere: changing("changes files", ["git rerere clear"]),
  maintenance: running("sets programs up that run later", "git maintenance start"),
  bundle: changing("writes a file", ["git bundle create x HEAD"]),
  "format-patch": changing("writes files", ["git format-patch -1"]),
  "fast-import": reviewed(NAMES_FED, "git fast-import"),
  hook: running("runs a hook of the repository", "git hook run pre-commit"),
  "for-each-repo": running(
    "runs git in other repositories",
    "git for-each-repo --config=a.b -- status",
  ),
  "merge-index": running("runs the program that it is given", "git merge-index ./x -a"),
  "submodule--helper": running(
    "runs a program in every submodule",
    "git submodule--helper foreach id",
  ),
  "remote-ext": running("runs the program that it is given", "git remote-ext a ./x"),
  "remote-fd": running("talks to another program", "git remote-fd a 3"),
  "upload-pack": running("serves a repository, with its settings", "git upload-pack ."),
  "receive-pack": running("serves a repository, with its settings", "git receive-pack ."),
  "web--browse": running("opens a program", "git web--browse a"),
  scalar: running("sets programs up that run later", "git scalar register"),
  citool: running("opens a program", "git citool"),
  "filter-branch": running(
    "runs programs on every commit",
    "git filter-branch --tree-filter 'rm x' HEAD",
  ),
  difftool: running("opens a program for every file", "git difftool -x ./x HEAD", "git difftool"),
  mergetool: running("opens a program for every file", "git mergetool"),
  "send-email": running(
    "sends mail with the programs that it is given",
    "git send-email --smtp-server ./x a",
  ),
  instaweb: running("starts a server", "git instaweb"),
  daemon: running("starts a server", "git daemon"),
  gui: running("opens a program", "git gui"),
  help: running("opens a pager or a browser", "git help -w log", "git help log"),
  shell: running("runs a shell", "git shell -c id"),
  p4: running("runs other programs", "git p4 sync"),
  svn: running("runs other programs", "git svn fetch"),
  ...Object.fromEntries(
    KEEPERS.map(
      (name) => [name, reviewed("secret: shows credentials", `git ${name} get`)] as const,
    ),
  ),
  ...Object.fromEntries(
    REMOTE_HELPERS.map(
      (name) =>
        [
          name,
          running("reaches another repository than those of the settings", `git ${name} origin`),
        ] as const,
    ),
  ),
  archive: changing(
    "packs files of the repository",
    ["git archive HEAD", "git archive --remote=x HEAD", "git archive -o x HEAD"],
    {
      "-o,--output:path": "write: writes the file it names",
      "--exec:text": REMOTE_PROGRAM,
      "--remote:text": "exec: reaches another repository with a program",
    },
  ),
  "ls-remote": reaching(
    [
      "git ls-remote origin",
      "git ls-remote --upload-pack=./x .",
      "git ls-remote --upload ./x .",
      "git ls-remote 'ext::sh -c id'",
    ],
    {
      "-u,--upload-pack,--exec:text": REMOTE_PROGRAM,
    },
  ),
  fetch: reaching(
    ["git fetch", "git fetch --upload-pack ./x .", "git fetch https://x.example/a"],
    { "--upload-pack:text": REMOTE_PROGRAM },
    ANY_REMOTE,
  ),
  "fetch-pack": reaching(["git fetch-pack --exec=./x ."], {
    "--upload-pack,--exec:text": REMOTE_PROGRAM,
  }),
  pull: reaching(
    ["git pull", "git pull --upload-pack=./x"],
    {
      "--upload-pack:text": REMOTE_PROGRAM,
      "-s,--strategy:text": "exec: names a strategy, which is a program",
    },
    ANY_REMOTE,
  ),
  push: reaching(
    [
      "git push",
      "git push --receive-pack=./x .",
      "git push --rec=./x .",
      "git push me@x.example:a main",
    ],
    {
      "--receive-pack,--exec:text": REMOTE_PROGRAM,
      "--repo:text": ADDRESS,
    },
    ANY_REMOTE,
  ),
  "send-pack": reaching(["git send-pack --receive-pack=./x ."], {
    "--receive-pack,--exec:text": REMOTE_PROGRAM,
  }),
  clone: reaching(
    [
      "git clone https://x.example/a",
      "git clone -u ./x .",
      "git clone --config core.pager=x .",
      "git clone ext::./x",
    ],
    {
      "-u,--upload-pack:text": REMOTE_PROGRAM,
      "-c,--config:text": "exec: sets a setting, many of which name programs to run",
      "--template:path": "exec: copies hooks, which are programs",
    },
  ),
};

function changing(
  what: string,
  review: readonly string[],
  reviewFlags: Readonly<Record<string, string>> = {},
): Binary {
  return { review: `change: ${what}`, reviewFlags, examples: { safe: [], review } };
}

function reaching(
  review: readonly string[],
  reviewFlags: Readonly<Record<string, string>>,
  more: Pick<Binary, "operands"> = {},
): Binary {
  return {
    review: "network: reaches another repository",
    reviewFlags,
    ...more,
    examples: { safe: [], review },
  };
}

function running(what: string, ...review: readonly string[]): Binary {
  return reviewed(`exec: ${what}`, ...review);
}
