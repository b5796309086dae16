/**
 * Attempts on the runs themselves: places that are exchanged, the next start, the terminal, the
 * first process, and what the manager says. Data only.
 */
import type { ManagerAttempt } from "./attempt.js";

/** Looks until it is the link's turn; where it never is, for a while. */
const PATIENTLY = "n=0; until [ $((n += 1)) -gt 50 ] ||";
const race = { provenBy: "secret", class: "places", group: "race" } as const;
const PLACES: readonly ManagerAttempt[] = [
  {
    ...race,
    id: "place-workspace",
    title: "exchanges the workspace of a second run for a link to the hidden home",
    before: "mkdir folder",
    agent: `ln -s "$REAL_HOME/.acp" link; exchange folder link`,
    again: "cat key",
    place: { as: "workspace", path: "folder" },
  },
  {
    ...race,
    id: "place-parent",
    title: "exchanges the folder that the second workspace is in",
    before: "mkdir -p folder/.acp",
    agent: `ln -s "$REAL_HOME" link; exchange folder link`,
    again: "cat key",
    place: { as: "workspace", path: "folder/.acp" },
  },
  {
    ...race,
    id: "place-readable",
    title: "exchanges a folder that the second run may read",
    before: "mkdir folder",
    agent: `ln -s "$REAL_HOME/.acp" link; exchange folder link`,
    again: `${PATIENTLY} cat "$PLACE/key"; do sleep 0.01; done`,
    place: { as: "readable", path: "folder" },
  },
  {
    ...race,
    id: "place-within",
    title: "exchanges the second workspace's repository, which is protected one by one",
    before: "mkdir -p folder/.git/hooks; echo '[core]' >folder/.git/config",
    agent: `ln -s "$REAL_HOME/.acp" link; exchange folder/.git link`,
    again: `${PATIENTLY} cat .git/key; do sleep 0.01; done`,
    place: { as: "workspace", path: "folder" },
  },
];

const stuck = { provenBy: "stuck", class: "second_run", group: "second_run" } as const;
const SECOND: readonly ManagerAttempt[] = [
  {
    ...stuck,
    id: "second-closed-git",
    title: "closes a repository",
    before: "git init -q .",
    agent: "chmod 000 .git .git/hooks || :; chmod 000 .",
    again: `chmod 700 "$D"`,
  },
  {
    ...stuck,
    id: "second-pipes",
    title: "puts pipes where managers read",
    agent: `for name in .npmrc .env .managerrc .mcp.json package.json .envrc; do rm -f "$W/$name"; mkfifo "$W/$name"; done`,
  },
  {
    ...stuck,
    id: "second-pipe-git",
    title: "makes a repository of pipes",
    agent: `git init -q .; for name in config HEAD commondir; do rm -f .git/$name; mkfifo .git/$name; done; rm -rf "$W/.git"; cp -r .git "$W/.git" || mv .git "$W/.git"`,
  },
  {
    ...stuck,
    id: "second-deep",
    title: "makes folders in folders, 1,500 deep",
    agent: `deep 1500`,
  },
  {
    ...stuck,
    id: "second-names",
    title: "uses names that are no text",
    agent: `python3 -c 'import os
for name in (b"\\xff\\xfe", b"new\\nline", b"\\x1b[2J", b"a" * 255): os.makedirs(name + b"/.git" if len(name) < 250 else name)'`,
  },
  {
    ...stuck,
    id: "second-loop",
    title: "makes links that lead to themselves",
    agent: `for name in .git .vscode .npmrc; do ln -s "$name" "$name"; ln -sfn "$name" "$W/loop-$name"; done`,
  },
  {
    ...stuck,
    id: "second-huge",
    title: "makes files without an end where managers read",
    agent: `for name in .managerrc .npmrc package.json; do rm -f "$W/$name"; truncate -s 8T "$W/$name" || truncate -s 900G "$W/$name"; done`,
  },
  {
    ...stuck,
    id: "second-sessions",
    title: "puts folders and links where managers keep their state",
    agent: `for at in "$REAL_TMP" "$REAL_RUNTIME" /tmp; do
        for name in .acp acp-session acp-sandbox claude bwrap; do mkdir -p "$at/$name-$ID" && mkfifo "$at/$name-$ID/lock" || :; done
      done
      rm -rf "$REAL_TMP" "$REAL_RUNTIME" || :; echo kit >"$REAL_TMP" || :`,
  },
  // Last: nothing can be made there afterwards.
  {
    ...stuck,
    id: "second-closed",
    title: "takes all rights on the workspace away",
    agent: `chmod 000 "$W"`,
  },
];

/** Signals that an agent outlives, and that a person's shell can catch. */
const SIGNALS = "TERM HUP INT QUIT USR1 USR2 TSTP WINCH";
const terminal = {
  provenBy: "mark",
  class: "terminal",
  needs: "test -x /usr/bin/python3",
} as const;
const TERMINAL: readonly ManagerAttempt[] = [
  ...SIGNALS.split(" ").map(
    (name): ManagerAttempt => ({
      ...terminal,
      group: "terminal",
      id: `terminal-${name.toLowerCase()}`,
      title: `sends ${name} to its own process group`,
      agent: `trap "" ${name}; kill -${name} 0; sleep 0.2`,
    }),
  ),
  {
    ...terminal,
    group: "own",
    isAtTerminal: true,
    id: "terminal-kill",
    title: "kills its own process group",
    agent: "kill -KILL 0",
  },
  {
    ...terminal,
    group: "own",
    isAtTerminal: true,
    id: "terminal-stop",
    title: "stops its own process group",
    agent: `group=$(cut -d " " -f 5 /proc/$$/stat); [ "$group" -gt 1 ] || exit 0
      setsid sh -c "sleep 2; kill -CONT -$group" & sleep 0.2; kill -STOP 0; wait`,
  },
  {
    ...terminal,
    group: "terminal",
    id: "terminal-typing",
    title: "types into the terminal of the person's shell",
    agent: `type_in "$(payload)"`,
    needs: `test -x /usr/bin/python3 && test "$(cat /proc/sys/dev/tty/legacy_tiocsti 2>/dev/null || echo 1)" = 1`,
  },
  {
    ...terminal,
    group: "terminal",
    id: "terminal-modes",
    title: "leaves the terminal without echo and line by line input",
    provenBy: "mark",
    agent: "stty raw -echo </dev/tty",
  },
  {
    ...terminal,
    group: "terminal",
    id: "terminal-later",
    title: "leaves a program that reads and writes the terminal when the run is over",
    provenBy: "survivor",
    agent: `(setsid -w sh -c 'trap "" HUP TERM; sleep 300; sleep 300' "$TOKEN" </dev/tty >/dev/tty 2>&1 &)`,
  },
  {
    ...terminal,
    group: "terminal",
    id: "terminal-foreground",
    title: "keeps the terminal's foreground for a group that is gone",
    agent: `python3 -c 'import os, signal
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
tty = os.open("/dev/tty", os.O_RDWR)
child = os.fork()
if child == 0:
    os.setpgid(0, 0); os.tcsetpgrp(tty, os.getpid()); os._exit(0)
os.waitpid(child, 0)'`,
  },
];

const first = { class: "first_process" } as const;
const FIRST: readonly ManagerAttempt[] = [
  {
    ...first,
    provenBy: "word",
    id: "first-memory",
    title: "opens the memory of the processes above it for writing",
    agent: `above mem`,
  },
  {
    ...first,
    provenBy: "word",
    id: "first-trace",
    title: "traces the processes above it",
    agent: `above trace`,
  },
  {
    ...first,
    provenBy: "word",
    id: "first-limits",
    title: "raises the limits of the processes above it",
    agent: `above limits`,
  },
  {
    ...first,
    provenBy: "secret",
    id: "first-environment",
    title: "reads the environment of the processes above it",
    agent: `above environ`,
  },
  {
    ...first,
    provenBy: "secret",
    id: "first-descriptors",
    title: "reads what the processes above it have open",
    agent: `above fds`,
  },
  {
    ...first,
    provenBy: "secret",
    id: "first-root",
    title: "reads through the root and the directory of the processes above it",
    agent: `above root`,
  },
  {
    ...first,
    provenBy: "secret",
    id: "first-inherited",
    title: "reads a descriptor that the manager was started with",
    agent: `python3 -c 'import os
for fd in range(3, 1024):
    try: print(os.pread(fd, 4096, 0))
    except OSError: pass'`,
  },
  {
    ...first,
    provenBy: "survivor",
    id: "first-daemon",
    title: "leaves a process that ignores what it is told",
    agent: `(setsid sh -c 'trap "" HUP TERM INT; sleep 300; sleep 300' "$TOKEN" </dev/null >/dev/null 2>&1 &)`,
  },
  {
    ...first,
    provenBy: "survivor",
    id: "first-holder",
    title: "leaves a process that holds the run's output open",
    agent: `(setsid sh -c 'trap "" HUP TERM INT; sleep 300; sleep 300' "$TOKEN" &)`,
  },
  {
    ...first,
    provenBy: "stuck",
    group: "own",
    id: "first-stopped",
    title: "stops the processes above it",
    agent: `above stop; sleep 0.2; kill -KILL $$`,
  },
  {
    ...first,
    provenBy: "survivor",
    group: "own",
    id: "first-killed",
    title: "ends the processes above it and stays",
    agent: `(setsid sh -c 'trap "" HUP TERM INT; sleep 300; sleep 300' "$TOKEN" </dev/null >/dev/null 2>&1 &) ; above kill; exit 0`,
  },
];

const told = {
  class: "report",
  provenBy: "lie",
  group: "own",
  needs: "test -x /usr/bin/python3",
} as const;
const plantNamed = (name: string): string => `python3 -c 'import os
os.makedirs("${name}/.vscode")
open("${name}/.vscode/tasks.json", "w").close()'`;
const REPORT: readonly ManagerAttempt[] = [
  {
    ...told,
    id: "report-line",
    title: "breaks a line of the report by the name of a file",
    agent: plantNamed(String.raw`x\nKIT-FORGED nothing was left`),
    after: "",
  },
  {
    ...told,
    id: "report-escape",
    title: "moves the cursor by the name of a file",
    agent: plantNamed(String.raw`\x1b[1A\x1b[2KKIT`),
    after: "",
  },
  {
    ...told,
    id: "report-direction",
    title: "turns the direction of the text by the name of a file",
    agent: plantNamed(String.raw`\u202eKIT\u2066`),
    after: "",
  },
  {
    ...told,
    provenBy: "change",
    id: "report-flood",
    title: "hides what it leaves among 200 others",
    agent: `for each in $(seq 200); do mkdir -p "a$each/.idea"; done; mkdir -p z/.vscode; payload >z/.vscode/tasks.json`,
    file: "z/.vscode/tasks.json",
    told: ["and more"],
  },
  {
    class: "report",
    provenBy: "secret",
    group: "own",
    id: "report-double",
    title: "plants helpers that hold nothing and say that all is well",
    agent: `for name in bwrap sandbox-exec socat unshare setpriv; do pretend "$W/node_modules/.bin/$name"; done`,
    again: `cat "$REAL_HOME/.acp/key"`,
  },
  {
    class: "report",
    provenBy: "word",
    id: "report-level",
    title: "finds less around it than the report says",
    agent: `python3 -c 'facts = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
if facts["Seccomp"].strip() == "0" or facts["NoNewPrivs"].strip() == "0": print("KIT-ESCAPED no filter")'`,
  },
  {
    class: "report",
    provenBy: "change",
    id: "report-policy",
    title: "writes a line into what the manager goes by",
    agent: `echo '# forged' >>"$REAL_HOME/.acp/policy.yml"`,
    file: "~/.acp/policy.yml",
  },
];

export const RUN_ATTEMPTS: readonly ManagerAttempt[] = [
  ...PLACES,
  ...SECOND,
  ...TERMINAL,
  ...FIRST,
  ...REPORT,
];
