/**
 * Run later: places whose files tell agents, shells, editors and tools what to run. Nobody works in
 * them by the way, and no entry of an allowlist reaches them. Compared in lower case, since some
 * file systems do. Data.
 */
import { globsMeet } from "../secrets/name-glob.js";

const set = (names: string): ReadonlySet<string> => new Set(names.trim().split(/\s+/));

/** Folders with everything below them, wherever they are. */
const FOLDERS = set(`
  .git .claude .codex .cursor .gemini .acp .windsurf .continue .opencode .zed .vscode .idea .devcontainer .husky .githooks .cargo .yarn .mvn
  .bashrc.d .zshrc.d
  .agents .aider .amazonq .augment .clinerules .cline .copilot .crush .factory .goose .junie .kilocode .kiro .qwen .roo .trae
  .config .direnv .mise .lefthook .hg .bazel .bundle .gradle .fleet .run .nova .vim .emacs.d .ctags.d site-packages dist-packages
`);

/** Files, wherever they are. */
const FILES = set(`
  .aider.conf.yml .crush.json crush.json opencode.json opencode.jsonc
  mise.toml .mise.local.toml .bazelrc .hgrc lefthook.yaml .lefthook.yaml .lintstagedrc.json .lintstagedrc.js .lintstagedrc.cjs .lintstagedrc.mjs
  .lintstagedrc.yml .lintstagedrc.yaml .huskyrc .huskyrc.js .huskyrc.json .pnpmfile.mjs .gemrc .rspec .irbrc.rb .rprofile .renviron .octaverc
  .sqliterc .psqlrc .my.cnf .ackrc .ripgreprc .ctags .curlrc .wgetrc .tmux.conf .screenrc .emacs .dir-locals.el .nvim.lua .xinitrc .xprofile
  sitecustomize.py usercustomize.py gradle.properties
  .mcp.json .gitconfig .gitmodules .envrc .mise.toml .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pnp.cjs .pnp.loader.mjs bunfig.toml pip.conf .pypirc
  .pre-commit-config.yaml lefthook.yml .lefthook.yml .lintstagedrc .pdbrc .gdbinit .lldbinit .irbrc .pryrc .inputrc .vimrc .exrc .nvimrc
  .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zprofile .zshenv .zlogin .zlogout .kshrc .cshrc .tcshrc .login
`);

/** Whether a part of a path is a folder whose settings run programs. */
export function isRunLaterFolder(name: string): boolean {
  return FOLDERS.has(name.toLowerCase());
}

/** Whether a path, or one that its globs can name, is one of these places. */
export function isRunLater(path: string): boolean {
  return path
    .toLowerCase()
    .split("/")
    .some((part) => {
      if (FOLDERS.has(part) || FILES.has(part)) return true;
      // A glob finds a hidden name only where its own first letter is the dot.
      return (
        part.startsWith(".") &&
        /[*?[]/.test(part) &&
        [...FOLDERS, ...FILES].some((name) => globsMeet(part, name))
      );
    });
}
