/** Programs that no `allow-always` stores: whoever may run them may run everything. Data. */

/** Why a program is never stored. */
export type NeverStored = "shell" | "interpreter" | "wrapper" | "multiplexer" | "builtin";

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

// Names in lower case and without a version: storable-pattern.ts folds both away.
const ROWS: readonly (readonly [NeverStored, readonly string[]])[] = [
  ["shell", words("ash bash cmd csh dash elvish fish ksh lksh mksh nu oil osh posh powershell pwsh rbash rc sh tcsh xonsh yash zsh")],
  [
    "interpreter",
    words(`
    awk bun cscript dc deno ed elixir emacs emacsclient erl ex expect gawk gdb ghci gnuplot groovy guile iex irb java jjs jruby jshell
    julia kotlin lldb lua luajit m4 mawk micropython mysql nawk nim node nodejs nvim ocaml octave osascript perl php pry psql pypy
    python pythonw r racket rscript ruby runghc sbcl scala scheme sqlite swift tclsh ts-node tsx vi view vim vimdiff wish wscript`),
  ],
  [
    "wrapper",
    words(`
    ansible arch at batch builtin caffeinate catchsegv chpst chroot chrt cgexec command cpulimit crontab dbus-run-session direnv doas
    entr env eval exec faketime fakeroot firejail flock gosu gtimeout hyperfine ionice linux32 linux64 ltrace memusage nice nohup
    nodemon nsenter numactl parallel perf pkexec proot proxychains prlimit rlwrap runcon runuser run-parts sem setarch setpriv setsid setuidgid sg
    softlimit source ssh-agent start-stop-daemon stdbuf strace su sudo sudoedit systemd-inhibit systemd-run taskset time timeout torsocks trap
    trickle unbuffer unshare valgrind watch watchexec xargs xvfb-run`),
  ],
  [
    "multiplexer",
    words(`
    bunx busybox coreutils docker docker-compose dtach git-shell kubectl lxc-attach mosh nix nix-shell npx nerdctl oc pipx pnpx podman rsh
    screen script sshpass ssh tmux toybox uvx vagrant wsl zellij`),
  ],
  [
    "builtin",
    words(`
    alias bg bind cd complete coproc declare disown enable export fc fg function hash history let local logout mapfile popd printf
    pushd read readarray readonly set shift shopt suspend test typeset ulimit umask unalias unset wait`),
  ],
];

/** Why each of them is never stored. `.` and `:` have no plain name, and are refused before. */
export const NEVER_STORED: ReadonlyMap<string, NeverStored> = new Map(
  ROWS.flatMap(([kind, names]) => names.map((name) => [name, kind] as const)),
);
