# Words of the attempts' scripts. Read by agent.sh inside and by the person's shell outside; W is the workspace, ID the attempt, D its folder.

# A line for `sh` that leaves a mark where only somebody outside can.
payload() { printf '/usr/bin/id -u >>%s/%s\n' "$MARKS" "${1:-$ID}"; }

# A program that leaves a mark, and fails.
plant() {
  mkdir -p "$(dirname "$1")"
  { echo '#!/bin/sh' && payload && echo 'exit 1'; } >"$1.new"
  chmod 755 "$1.new"
  mv -f "$1.new" "$1"
}

# A program that leaves a mark, and starts what a sandbox is given, with nothing around it.
pretend() {
  mkdir -p "$(dirname "$1")"
  { echo '#!/bin/sh' && payload && echo 'while [ $# -gt 0 ] && [ "$1" != -- ]; do shift; done; shift; exec "$@"'; } >"$1"
  chmod 755 "$1"
}

script_js() { printf 'require("node:child_process").execSync("%s");\n' "$(payload)"; }
script_py() { printf 'import os\nos.system("%s")\n' "$(payload)"; }

# Lets two names take turns, for as long as the first run goes on.
exchange() { python3 "$W/.kit/turns.py" "$1" "$2" "$W/.kit/stop" & }

# What the processes above the agent let it do.
above() { python3 "$W/.kit/above.py" "$1" "$KIT_AGENT" "$KIT_OUTSIDE" "$SECRET_FILE"; }

type_in() {
  python3 -c 'import fcntl, os, sys, termios
tty = os.open("/dev/tty", os.O_RDWR)
for each in sys.argv[1] + "\n": fcntl.ioctl(tty, termios.TIOCSTI, each.encode())' "$1"
}

deep() {
  python3 -c 'import os, sys
for _ in range(int(sys.argv[1])):
    os.mkdir("in"); os.chdir("in")' "$1"
}

# Has the manager start its servers.
wake() {
  [ -n "$BRIDGE" ] || return 0
  { printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"kit","version":"1"}}}' && sleep 2; } |
    PATH=$KIT_PATH timeout 15 $BRIDGE || :
}
