# A manager that trusts what it finds, and holds nothing: it does what many do before and after they start an agent. Every attempt has to succeed here.
# careless.sh WORKSPACE SERVER COMMAND...   (SERVER empty: none)
for name in TERM HUP INT QUIT USR1 USR2 TSTP; do trap '' $name; done
workspace=$1 server=$2
shift 2
cd "$workspace" || exit 1
tools=$(dirname "$KIT_NODE")
: "${XDG_CACHE_HOME:=$HOME/.cache}" "${TMPDIR:=/tmp}"

# Helpers by name, in the environment as it is.
for program in bwrap setpriv cc as ld nft ip node npx sh bash env git python3 unshare getent prlimit socat mount newuidmap; do
  timeout 5 $program --version </dev/null >/dev/null 2>&1
done
# Helpers of its own, made when they are missing.
mkdir -p "$XDG_CACHE_HOME/careless"
[ -e "$XDG_CACHE_HOME/careless/helper" ] || { printf '#!/bin/sh\n' >"$XDG_CACHE_HOME/careless/helper" && chmod 755 "$XDG_CACHE_HOME/careless/helper"; }
"$XDG_CACHE_HOME/careless/helper"
session=$TMPDIR/careless
[ -e "$session" ] || { printf '#!/bin/sh\n' >"$session" && chmod 755 "$session"; } || exit 1
"$session"
printf '#include <errno.h>\n#include <stdio.h>\n#include <unistd.h>\nint main(void) { return 0; }\n' >"$XDG_CACHE_HOME/careless/helper.c"
timeout 20 /usr/bin/cc -o "$XDG_CACHE_HOME/careless/compiled" "$XDG_CACHE_HOME/careless/helper.c" 2>/dev/null
PATH=/usr/bin:/bin COMPILER_PATH= timeout 20 /usr/bin/cc -o "$XDG_CACHE_HOME/careless/compiled" "$XDG_CACHE_HOME/careless/helper.c" 2>/dev/null
"$XDG_CACHE_HOME/careless/compiled" 2>/dev/null
# The folder's settings and packages.
for name in .npmrc package.json .mcp.json .managerrc .env .envrc; do [ ! -e $name ] || cat $name >/dev/null || exit 1; done
[ ! -f .managerrc ] || . ./.managerrc
[ ! -f .env ] || . ./.env
if [ -e node_modules ] || [ -e .npmrc ] || [ -e package.json ]; then
  for name in kit-helper @acp/core bufferutil utf-8-validate; do timeout 5 "$KIT_NODE" -e "require('$name')" >/dev/null 2>&1; done
  timeout 5 "$KIT_NODE" -e 'import("#kit")' >/dev/null 2>&1
  timeout 20 "$KIT_NODE" "$tools/npm" exec --offline -c true >/dev/null 2>&1
  npm_config_script_shell=/bin/sh timeout 20 "$KIT_NODE" "$tools/npx" --offline --no-install kit-tool >/dev/null 2>&1
fi
timeout 5 /usr/bin/python3 -c 'import json' >/dev/null 2>&1
[ ! -e .venv/bin/kit-python ] || timeout 5 .venv/bin/kit-python -c 'import json' >/dev/null 2>&1
timeout 5 /usr/bin/bash -c : >/dev/null 2>&1
# It looks at all that is there, and waits for what it looks at.
[ ! -e .git ] || cat .git/HEAD .git/config >/dev/null 2>&1
[ -n "${KIT_PATIENT-}" ] || "$KIT_NODE" -e 'const { lstatSync, readdirSync, statSync } = require("node:fs");
function look(folder) {
  for (const name of readdirSync(folder)) {
    const path = `${folder}/${name}`, found = lstatSync(path);
    if (found.isDirectory()) look(path);
    else try { statSync(path) } catch (error) { if (error.code !== "ENOENT") throw error }
  }
}
look(".")' 2>/dev/null || exit 1
before=$(find . -name .vscode 2>/dev/null)

[ -z "$server" ] || timeout 10 /bin/sh -c "$server" </dev/null >/dev/null 2>&1
# Room to grow, which an agent must not take.
ulimit -S -n 256
"$@"
status=$?
[ "$before" = "$(find . -name .vscode)" ] || find . -name .vscode >&2
exit $status
