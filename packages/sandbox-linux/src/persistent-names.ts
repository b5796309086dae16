/**
 * Persistent names: files and folders of a workspace whose content other programs run by
 * themselves, as soon as somebody works there: version control, shells, editors, package managers,
 * coding agents, debuggers. Compared in lower case, since some file systems do. Data. Not here:
 * sources, scripts and build files, which a person runs knowingly.
 */
const set = (names: string): ReadonlySet<string> => new Set(names.trim().split(/\s+/u));

/** Folders, with everything below them. */
const FOLDERS = set(`
  .vscode .idea .zed .devcontainer .fleet
  .claude .codex .cursor .gemini .windsurf .continue .opencode .amazonq .roo .kiro
  .husky .githooks .cargo .mvn .bashrc.d .zshrc.d
`);

/** Files. */
const FILES = set(`
  .mcp.json .envrc .mise.toml mise.toml .tool-versions .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pnpmfile.mjs bunfig.toml pip.conf .pypirc .bazelrc
  .pre-commit-config.yaml .pre-commit-config.yml lefthook.yml .lefthook.yml lefthook.yaml .lefthook.yaml .lintstagedrc .lintstagedrc.json
  .pdbrc .gdbinit .lldbinit .irbrc .pryrc .inputrc .vimrc .exrc .nvimrc .nvim.lua .dir-locals.el .gitconfig
  .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zprofile .zshenv .zlogin .zlogout .kshrc .cshrc .tcshrc .login
`);

/**
 * Within a folder of Git's: what says which programs it runs. Everything else there is what `git
 * commit` writes.
 */
export const GIT_NAMES = ["config", "config.worktree", "hooks", "commondir", "gitdir"] as const;

/** All of them, as they are usually written. */
export const PERSISTENT_NAMES: readonly string[] = [...FOLDERS, ...FILES];

/** Whether a folder of this name is one. */
export function isPersistentFolder(name: string): boolean {
  return FOLDERS.has(name.toLowerCase());
}

/** Whether a file of this name is one. */
export function isPersistentFile(name: string): boolean {
  return FILES.has(name.toLowerCase()) || name.toLowerCase().endsWith(".code-workspace");
}

/** Full of code that is run anyway, and of nobody's own settings. */
export const PASSED_OVER: ReadonlySet<string> = new Set(["node_modules"]);
