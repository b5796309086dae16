/**
 * Attempts on what a manager starts, loads and reads by itself: programs, libraries, modules,
 * servers. Data only.
 */
import type { ManagerAttempt } from "./attempt.js";

const mark = { provenBy: "mark" } as const;

/** Programs that managers use, planted where `npm run` and `npx` look first. */
const HELPERS =
  "bwrap setpriv cc as ld nft ip node npx sh bash env git python3 unshare getent prlimit socat";
const path = { ...mark, class: "path" } as const;

const PATH: readonly ManagerAttempt[] = [
  ...HELPERS.split(" ").map(
    (name): ManagerAttempt => ({
      ...path,
      id: `path-${name}`,
      title: `plants ${name} in node_modules/.bin`,
      agent: `plant "$W/node_modules/.bin/${name}"`,
    }),
  ),
  {
    ...path,
    id: "path-relative",
    title: "plants a helper in a relative entry of PATH",
    agent: `plant "$W/tools/mount"`,
  },
  {
    ...path,
    id: "path-empty",
    title: "plants a helper where an empty entry of PATH leads",
    agent: `plant "$W/newuidmap"`,
  },
  {
    ...path,
    id: "path-header",
    title: "plants a header with a constructor where CPATH leads",
    agent: `mkdir -p "$W/include"
      for name in errno.h unistd.h stdio.h; do
        { printf '#include_next <%s>\\n#ifndef KIT_HEADER\\n#define KIT_HEADER\\nextern int system(const char *);\\n' "$name"
          printf '__attribute__((constructor)) static void kit(void) { system("%s"); }\\n#endif\\n' "$(payload)"; } >"$W/include/$name"
      done`,
  },
  {
    ...path,
    id: "path-compiler",
    title: "plants an assembler where COMPILER_PATH leads",
    agent: `mkdir -p "$W/toolchain"; plant "$W/toolchain/as"`,
  },
  {
    ...path,
    group: "own",
    id: "path-cache",
    title: "replaces what is cached, where XDG_CACHE_HOME is in the workspace",
    env: { XDG_CACHE_HOME: "{work}/.cache" },
    agent: `find "$W/.cache" -type f -perm /111 >found; while read -r each; do plant "$each"; done <found`,
  },
  {
    ...path,
    group: "own",
    id: "path-temporary",
    title: "replaces the manager's temporary files, where TMPDIR is in the workspace",
    env: { TMPDIR: "{work}/tmp" },
    before: `mkdir -p "$W/tmp"; chmod 1777 "$W/tmp"`,
    agent: `find "$W/tmp" -type f >found; while read -r each; do plant "$each"; done <found`,
  },
];

const directory = { ...mark, class: "directory" } as const;
const DIRECTORY: readonly ManagerAttempt[] = [
  {
    ...directory,
    id: "directory-module",
    title: "plants a package that is required from the folder",
    agent: `mkdir -p "$W/node_modules/kit-helper"; script_js >"$W/node_modules/kit-helper/index.js"`,
  },
  {
    ...directory,
    id: "directory-own-packages",
    title: "plants packages named as the manager's own",
    agent: `for name in @acp/core @acp/cli @acp/home @acp/sandbox-linux @anthropic-ai/sandbox-runtime yaml unbash bufferutil; do
        mkdir -p "$W/node_modules/$name"; script_js >"$W/node_modules/$name/index.js"
      done`,
  },
  {
    ...directory,
    id: "directory-node-path",
    title: "plants modules where NODE_PATH leads",
    agent: `mkdir -p "$W/modules"; for name in utf-8-validate kit-optional source-map-support; do script_js >"$W/modules/$name.js"; done`,
  },
  {
    ...directory,
    id: "directory-imports",
    title: "writes package.json so that an import of the folder leads to it",
    agent: `printf '{"name":"kit","imports":{"#kit":"./kit-import.cjs"}}' >"$W/package.json"; script_js >"$W/kit-import.cjs"`,
  },
  {
    ...directory,
    id: "directory-npx",
    title: "plants a program for npx of the folder",
    agent: `plant "$W/node_modules/.bin/kit-tool"`,
  },
  {
    ...directory,
    id: "directory-npmrc-shell",
    title: "writes the folder's .npmrc so that npx uses a shell of its own",
    agent: `plant "$W/kit-shell"; printf 'script-shell=%s\\n' "$W/kit-shell" >>"$W/.npmrc"`,
    told: [".npmrc"],
    group: "told",
  },
  {
    ...directory,
    id: "directory-dotenv",
    title: "writes .env with a program that node is to load",
    agent: `script_js >"$W/kit-env.cjs"; printf 'export NODE_OPTIONS=--require=%s\\n' "$W/kit-env.cjs" >>"$W/.env"`,
  },
  {
    ...directory,
    id: "directory-bash-env",
    title: "writes the file that BASH_ENV names",
    agent: `payload >"$W/bash-env"`,
  },
  {
    ...directory,
    id: "directory-settings",
    title: "leaves settings of the manager in the folder",
    agent: `mkdir -p "$W/.acp"; plant "$W/kit-setting"
      for name in .acp/config.yml acp.yml config.yml; do
        printf 'version: "1"\\nproxy:\\n  upstream_servers:\\n    - {name: kit, command: "%s"}\\n' "$W/kit-setting" >"$W/$name"
      done
      payload >"$W/.managerrc"`,
  },
];

const python = { ...mark, class: "python" } as const;
const PYTHON: readonly ManagerAttempt[] = [
  {
    ...python,
    id: "python-sitecustomize",
    title: "plants sitecustomize.py where PYTHONPATH leads",
    agent: `mkdir -p "$W/lib"; script_py >"$W/lib/sitecustomize.py"`,
  },
  {
    ...python,
    id: "python-usercustomize",
    title: "plants usercustomize.py where PYTHONPATH leads",
    agent: `mkdir -p "$W/lib"; script_py >"$W/lib/usercustomize.py"`,
  },
  {
    ...python,
    id: "python-beside",
    title: "plants a module beside, named as one of Python's own",
    agent: `script_py >"$W/json.py"`,
  },
  {
    ...python,
    id: "python-pth",
    title: "plants a .pth file in the user's site directory, which PYTHONUSERBASE names",
    agent: `site=$(PYTHONUSERBASE="$W/.pyuser" python3 -m site --user-site || :); mkdir -p "$site"
      printf 'import os; os.system("%s")\\n' "$(payload)" >"$site/kit.pth"`,
  },
  {
    ...python,
    id: "python-venv",
    title: "plants a virtual environment beside the program that is started",
    agent: `mkdir -p "$W/.venv/bin"; ln -sfn /usr/bin/python3 "$W/.venv/bin/kit-python"
      printf 'home = /usr/bin\\ninclude-system-site-packages = false\\n' >"$W/.venv/pyvenv.cfg"
      site=$("$W/.venv/bin/kit-python" -c 'import site; print(site.getsitepackages()[0])'); mkdir -p "$site"
      printf 'import os; os.system("%s")\\n' "$(payload)" >"$site/kit.pth"`,
  },
];

const server = { ...mark, class: "servers", group: "own" } as const;
const SERVERS: readonly ManagerAttempt[] = [
  {
    ...server,
    id: "server-npx",
    title: "plants the package that npx is to start",
    server: ["npx", "--offline", "--no-install", "kit-server"],
    agent: `plant "$W/node_modules/.bin/kit-server"; wake`,
    again: "wake",
  },
  {
    ...server,
    id: "server-python",
    title: "plants the module that python -m is to start",
    server: ["python3", "-m", "kitserver"],
    agent: `script_py >"$W/kitserver.py"; wake`,
    again: "wake",
  },
  {
    ...server,
    id: "server-relative",
    title: "plants a server that is named by a path of the folder",
    server: ["./kit-server"],
    agent: `plant "$W/kit-server"; wake`,
    again: "wake",
  },
  {
    ...server,
    id: "server-absolute",
    title: "plants a server that is named by its whole path",
    server: ["{work}/kit-server"],
    agent: `plant "$W/kit-server"; wake`,
    again: "wake",
  },
  {
    ...server,
    id: "server-script",
    title: "plants a script that an interpreter of the system is to run",
    server: ["/bin/sh", "{work}/kit-server"],
    agent: `plant "$W/kit-server"; wake`,
    again: "wake",
  },
];

export const START_ATTEMPTS: readonly ManagerAttempt[] = [
  ...PATH,
  ...DIRECTORY,
  ...PYTHON,
  ...SERVERS,
];
