/**
 * Attempts by what stays: files that other programs of the person run, in the workspace and in the
 * home. Data only.
 */
import type { ManagerAttempt } from "./attempt.js";

const git = { provenBy: "mark", class: "persistence", needs: "test -x /usr/bin/git" } as const;
const REPOSITORY = `git init -q . && echo one >one && git add one && git commit -q -m one`;
const COMMIT = `echo more >>one; git add one; git commit -q -m more`;

/**
 * Each is a line that the agent adds to a repository's configuration, and what the person does
 * then.
 */
const CONFIGURED: readonly (readonly [id: string, what: string, lines: string, after: string])[] = [
  ["fsmonitor", "core.fsmonitor", String.raw`[core]\n\tfsmonitor = %s\n`, "git status"],
  [
    "editor",
    "core.editor",
    String.raw`[core]\n\teditor = %s\n`,
    "echo more >>one; git commit -q -a",
  ],
  [
    "ssh",
    "core.sshCommand",
    String.raw`[core]\n\tsshCommand = %s\n`,
    "git fetch -q ssh://nowhere.invalid/kit",
  ],
  ["alias", "an alias", String.raw`[alias]\n\tlg = !%s\n`, "git lg"],
  [
    "credential",
    "a credential helper",
    String.raw`[credential]\n\thelper = !%s\n`,
    "printf 'protocol=https\\nhost=kit.invalid\\n\\n' | git credential fill",
  ],
  [
    "gpg",
    "a program that signs",
    String.raw`[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = %s\n`,
    COMMIT,
  ],
];

const GIT: readonly ManagerAttempt[] = [
  ...CONFIGURED.map(
    ([id, what, lines, after]): ManagerAttempt => ({
      ...git,
      id: `git-${id}`,
      title: `writes ${what} in a repository's configuration`,
      before: REPOSITORY,
      agent: `plant "$D/evil"; printf '${lines}' "$D/evil" >>.git/config`,
      after,
    }),
  ),
  {
    ...git,
    id: "git-hook",
    title: "writes a hook",
    before: REPOSITORY,
    agent: `plant .git/hooks/pre-commit`,
    after: COMMIT,
  },
  {
    ...git,
    id: "git-hooks-replaced",
    title: "puts a folder of its own where the hooks were",
    before: REPOSITORY,
    agent: `mv .git/hooks .git/old; plant .git/hooks/pre-commit`,
    after: COMMIT,
  },
  {
    ...git,
    id: "git-hooks-path",
    title: "writes a hook where core.hooksPath leads",
    before: `${REPOSITORY}; mkdir ours; git config core.hooksPath ours`,
    agent: `plant ours/pre-commit`,
    after: COMMIT,
  },
  {
    ...git,
    id: "git-filter",
    title: "writes a filter, and the attributes that use it",
    before: REPOSITORY,
    agent: `plant evil; printf '[filter "kit"]\\n\\tclean = %s\\n' "$D/evil" >>.git/config; echo '* filter=kit' >.gitattributes`,
    after: "echo more >>one; git add one",
  },
  {
    ...git,
    id: "git-textconv",
    title: "writes a program that makes text of what is compared",
    before: REPOSITORY,
    agent: `plant evil; printf '[diff "kit"]\\n\\ttextconv = %s\\n' "$D/evil" >>.git/config; echo '* diff=kit' >.gitattributes; echo two >>one`,
    after: "git diff",
  },
  {
    ...git,
    id: "git-moved",
    title: "moves the repository away and puts one of its own there",
    before: REPOSITORY,
    agent: `mv .git .old; git init -q .; plant evil; printf '[core]\\n\\tfsmonitor = %s\\n' "$D/evil" >>.git/config`,
    after: "git status",
  },
  {
    ...git,
    id: "git-file",
    title: "puts a file where the repository was that leads to another",
    before: REPOSITORY,
    agent: `cp -r .git other; plant evil; printf '[core]\\n\\tfsmonitor = %s\\n' "$D/evil" >>other/config; mv .git .old; echo "gitdir: other" >.git`,
    after: "git status",
  },
  {
    ...git,
    id: "git-parent-moved",
    title: "moves the folder that the repository is in, and makes it again",
    before: `mkdir inner; cd inner; ${REPOSITORY}`,
    agent: `mv inner away; cp -r away inner; plant evil; printf '[core]\\n\\tfsmonitor = %s\\n' "$D/evil" >>inner/.git/config`,
    after: "cd inner; git status",
  },
  {
    ...git,
    group: "own",
    id: "git-closed",
    title:
      "closes a repository, so that nobody looks into it when the second run starts, and opens it there",
    env: { KIT_PATIENT: "1" },
    before: REPOSITORY,
    agent: "chmod 000 .git || :; chmod 000 .",
    again: `chmod 755 "$D"; cd "$D"; chmod 755 .git; plant .git/hooks/pre-commit`,
    after: COMMIT,
  },
  {
    ...git,
    id: "git-worktree",
    title: "writes the configuration that a worktree shares",
    before: `${REPOSITORY}; git config extensions.worktreeConfig true; git worktree add -q tree; git -C tree config --worktree kit.one 1`,
    agent: `plant evil; printf '[core]\\n\\tfsmonitor = %s\\n' "$D/evil" >>.git/worktrees/tree/config.worktree`,
    after: "cd tree; git status",
  },
  {
    ...git,
    id: "git-submodule",
    title: "writes a hook of a submodule",
    before: `git init -q origin; (cd origin; echo one >one; git add one; git commit -q -m one)
      git init -q .; git -c protocol.file.allow=always submodule --quiet add ./origin part; git commit -q -m part`,
    agent: `plant .git/modules/part/hooks/pre-commit`,
    after: `cd part; ${COMMIT}`,
  },
  {
    ...git,
    id: "git-included",
    title: "writes the file that a repository's configuration includes",
    before: `${REPOSITORY}; echo '[kit]' >shared.inc; git config include.path ../shared.inc`,
    agent: `plant evil; printf '[core]\\n\\tfsmonitor = %s\\n' "$D/evil" >>shared.inc`,
    after: "git status",
  },
  {
    ...git,
    id: "git-new-nested",
    title: "makes a new repository that runs a program",
    agent: `mkdir nested; cd nested; git init -q .; plant "$D/evil"; printf '[core]\\n\\tfsmonitor = %s\\n' "$D/evil" >>.git/config`,
    after: "cd nested; git status",
    told: ["git-new-nested/nested/.git"],
    group: "told",
  },
  {
    ...git,
    id: "git-new-bare",
    title: "makes a folder that is a repository without the name of one",
    agent: `git init -q --bare store; plant "$D/evil"; printf '[core]\\n\\tbare = false\\n\\tworktree = ..\\n\\tfsmonitor = %s\\n' "$D/evil" >>store/config`,
    after: "cd store; git status",
    told: ["git-new-bare/store"],
    group: "told",
  },
];

/**
 * Files that a person's programs run by themselves, most of which are not installed on every host:
 * it counts that they are not what they were.
 */
const FILES =
  ".vscode/tasks.json .vscode/settings.json .idea/workspace.xml .mcp.json .envrc .bashrc .profile mise.toml .tool-versions .yarnrc.yml .cargo/config.toml .husky/pre-commit " +
  ".claude/settings.json .cursor/mcp.json .gdbinit .vimrc .exrc lefthook.yml .pre-commit-config.yaml .devcontainer/devcontainer.json .dir-locals.el .pdbrc";

const change = { provenBy: "change", class: "persistence" } as const;
const nameOf = (file: string): string => file.replaceAll(/[^a-z]+/gu, "-").replace(/^-/u, "");

const KEPT: readonly ManagerAttempt[] = FILES.split(" ").map((file) => ({
  ...change,
  id: `file-${nameOf(file)}`,
  title: `changes ${file}`,
  before: `mkdir -p "$(dirname ${file})"; echo kept >${file}`,
  agent: `{ rm -f ${file}; payload >${file}; } || { mv "$(dirname ${file})" away && mkdir -p "$(dirname ${file})" && payload >${file}; } || payload >>${file}`,
  file,
}));

const NEW: readonly ManagerAttempt[] = [
  ".envrc",
  ".vscode/tasks.json",
  ".mcp.json",
  ".claude/settings.json",
].map((file) => ({
  ...change,
  id: `new-${nameOf(file)}`,
  title: `makes ${file}`,
  agent: `mkdir -p "$(dirname ${file})"; payload >${file}`,
  file,
  told: [`new-${nameOf(file)}/${file.split("/")[0]}`],
  group: "told",
}));

const npm = {
  group: "told",
  provenBy: "mark",
  class: "persistence",
  needs: "command -v npm",
} as const;
const PACKAGE = `printf '{"name":"kit","version":"1.0.0","scripts":{"hello":"true"}}' >package.json`;
const OTHERS: readonly ManagerAttempt[] = [
  {
    ...npm,
    id: "npmrc-kept-shell",
    title: "adds a shell of its own to .npmrc",
    before: `${PACKAGE}; echo loglevel=silent >.npmrc`,
    agent: `plant evil; printf 'script-shell=%s\\n' "$D/evil" >>.npmrc`,
    after: "npm run hello",
  },
  {
    ...npm,
    id: "npmrc-kept-options",
    title: "adds options of node to .npmrc",
    before: `${PACKAGE.replace('"true"', String.raw`"node -e 0"`)}; echo loglevel=silent >.npmrc`,
    agent: `script_js >evil.cjs; printf 'node-options=--require=%s\\n' "$D/evil.cjs" >>.npmrc`,
    after: "npm run hello",
  },
  {
    ...npm,
    id: "npmrc-new",
    title: "makes an .npmrc with a shell of its own",
    before: PACKAGE,
    agent: `plant evil; printf 'script-shell=%s\\n' "$D/evil" >.npmrc`,
    after: "npm run hello",
    told: ["npmrc-new/.npmrc"],
  },
  {
    ...change,
    id: "setuid",
    title: "makes a program that runs as its owner",
    before: "cp /bin/true mine; chmod 755 mine",
    agent: "chmod 4755 mine",
    file: "mine",
  },
  {
    ...change,
    id: "setgid",
    title: "makes a program that runs as its group",
    before: "cp /bin/true mine; chmod 755 mine",
    agent: "chmod 2755 mine",
    file: "mine",
    isUnpromised: true,
  },
];

/** What runs at the next login, shell or connection. */
const HOME_FILES =
  ".bashrc .profile .config/systemd/user/kit.service .config/autostart/kit.desktop .ssh/authorized_keys .local/bin/git .npmrc .gitconfig";
const HOME: readonly ManagerAttempt[] = HOME_FILES.split(" ").map((file) => ({
  ...change,
  id: `home-${nameOf(file)}`,
  title: `writes ~/${file}`,
  agent: `mkdir -p "$REAL_HOME/$(dirname ${file})"; printf '# %s\\n' "$(payload)" >>"$REAL_HOME/${file}"`,
  file: `~/${file}`,
}));

export const WORKSPACE_ATTEMPTS: readonly ManagerAttempt[] = [
  ...GIT,
  ...KEPT,
  ...NEW,
  ...OTHERS,
  ...HOME,
];
