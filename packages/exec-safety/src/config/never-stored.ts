/** Programs that no `allow-always` stores: whoever may run them may run everything. Data. */

/** Why a program is never stored. */
export type NeverStored =
  | "shell"
  | "interpreter"
  | "wrapper"
  | "multiplexer"
  | "builtin"
  | "agent"
  | "consent";

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

// Names in lower case and without a version: storable-pattern.ts folds both away.
const ROWS: readonly (readonly [NeverStored, readonly string[]])[] = [
  [
    "shell",
    words(
      "ash bash cmd csh dash elvish fish ksh lksh mksh nu oil osh posh powershell pwsh rbash rc sh tcsh xonsh yash zsh",
    ),
  ],
  [
    "interpreter",
    words(`
    ansible-playbook awk bpftrace bun clickhouse-client cscript dc deno ed elixir emacs emacsclient erl ex expect gawk gdb ghc ghci
    gnuplot groovy guile iex irb java jjs jruby jshell julia kotlin lldb lua luajit m4 mawk maxima micropython mongo mongosh mysql nawk
    nim node nodejs nvim ocaml octave octave-cli osascript perl php pry psql pypy python pythonw r racket rscript ruby runghc
    runhaskell amm babel-node bb chez clj clisp clojure coffee csi duckdb dlv ecl elvish-script esno esr factor fennel gforth gjs gsi hhvm hy
    ipython ipdb janet jbang jdb jiti joe kak hx helix lazygit lein lftp litecli lumo mailx mc micro mit-scheme moon mutt mycli nano neomutt nnn
    pdb petite pgcli php-cgi phpdbg pico pike qjs radare2 r2 raku ranger runhugs sage scala-cli scilab sqlplus sucrase-node swipl swc-node
    tig ts-node-dev ts-node-esm tsnd usql vifm vite-node wolframscript zx ftp mail telnet tshark tcpdump
    runhaskell rview salt sbcl scala scheme sqlite stap swift tcc tclsh ts-node tsx vi view vim vimdiff wish wscript`),
  ],
  [
    "wrapper",
    words(`
    abduco ansible arch at autoexpect aws-vault batch builtin bwrap caffeinate capsh catchsegv ccache cgexec chamber chpst chronic
    chroot chrt command concurrently cpulimit crontab cross-env dbus-run-session direnv distcc doas doppler dotenv eatmydata entr env
    env-cmd eval exec fakechroot fakeroot faketime firejail flock forfiles gosu gtimeout heaptrack hyperfine ifne ionice ld.so libtool
    linux32 linux64 ltrace memusage mispipe nice nodemon nohup nsenter nsjail numactl op parallel pee perf pkexec prlimit proot
    proxychains reflex reptyr rlwrap rr run-parts run0 runas runcon runuser s6-setuidgid sccache sem setarch setpriv
    setsid setuidgid sg softlimit sops source ssh-agent start-stop-daemon stdbuf strace su su-exec sudo sudoedit sudoreplay
    systemd-inhibit systemd-nspawn systemd-run taskset teller time timeout torsocks trap trickle tsocks tsp unbuffer unshare
    autossh choom daemon daemonize dumb-init envchain envdir envuidgid execlineb forever foreman gio gnome-terminal goreman gsettings hivemind
    honcho infisical konsole kitty alacritty wezterm xterm urxvt rxvt ld-linux ld-linux-x86-64.so ld-linux-aarch64.so ld-linux-armhf.so ld-linux.so
    ld-musl-x86_64.so ld-musl-aarch64.so ld64.so logsave mono npm-run-all open overmind pm2 rlogin run-p run-s setlock start start-at-login
    sshfs sshuttle supervisorctl systemd-cat systemd-socket-activate tini uclampset watchman watchmedo wine wine64 x-terminal-emulator
    xcrun xdg-open box64 qemu-x86_64 qemu-aarch64 launchctl defaults
    valgrind vipe watch watchexec xargs xvfb-run`),
  ],
  [
    "multiplexer",
    words(`
    apptainer asdf buildah bundle bunx busybox byobu cabal clush conda corepack coreutils crictl ctr distrobox docker docker-compose
    dsh dtach et flatpak fnm git-shell guix hatch heroku incus kubectl limactl lxc lxc-attach machinectl mamba micromamba
    minikube mise mosh multipass nerdctl nix nix-shell npx nvm oc opam parallel-ssh pdm pdsh pipenv pipx pkgx pnpx podman poetry pssh
    act dagger devbox devenv earthly fab rye
    pyenv rbenv rsh rundll32 rustup screen script singularity snap spack ssh sshpass stack tmux toolbox toybox uv uvx vagrant volta
    wsl zellij`),
  ],
  [
    "agent",
    words(`
    agent aider amp auggie claude cline codex copilot crush cursor-agent droid gemini goose gptme interpreter kiro-cli opencode openhands plandex q
    qwen sgpt`),
  ],
  ["consent", words("acpd acp")],
  [
    "builtin",
    words(`
    alias bg bind cd compgen complete coproc declare disown enable export fc fg function hash history let local logout mapfile popd printf
    pushd read readarray readonly set shift shopt suspend test typeset ulimit umask unalias unset wait`),
  ],
];

/** Why each of them is never stored. `.` and `:` have no plain name, and are refused before. */
export const NEVER_STORED: ReadonlyMap<string, NeverStored> = new Map(
  ROWS.flatMap(([kind, names]) => names.map((name) => [name, kind] as const)),
);
