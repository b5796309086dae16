/**
 * Builtins: what the shell does by itself. What changes the shell changes what the rest of the line
 * means, and is never lifted.
 */
import { reviewed } from "../table.js";
import type { BinaryTable } from "../table.js";

const CHANGES_SHELL = "exec: changes how the shell understands what follows";
const SETS_VARIABLES = "exec: sets variables, some of which name programs to run";

export const builtins: BinaryTable = {
  echo: {
    style: "text",
    operands: "text*",
    examples: { safe: ["echo ok", "echo -n 'a; b'", "echo"], review: [] },
  },
  true: { style: "text", operands: "text*", examples: { safe: ["true"], review: [] } },
  false: { style: "text", operands: "text*", examples: { safe: ["false"], review: [] } },
  ":": { style: "text", operands: "text*", examples: { safe: [":"], review: [] } },
  expr: {
    style: "text",
    operands: "text*",
    examples: { safe: ["expr 1 + 2", "expr length abc"], review: [] },
  },
  printf: {
    style: "first",
    reviewFlags: { "-v:text": "exec: sets a variable, and runs what stands in its subscript" },
    operands: "printf-format text*",
    examples: {
      safe: ["printf '%s\\n' a b", "printf 100%%", "printf -- '-%s' a"],
      review: ["printf -v x %s a", "printf -vx %s a", "printf %n PATH"],
    },
  },
  pwd: {
    flags: "-L,--logical -P,--physical -W --help --version",
    operands: "",
    examples: { safe: ["pwd", "pwd -P"], review: ["pwd --what"] },
  },
  type: {
    flags: "-a -f -p -P -t",
    operands: "text*",
    examples: { safe: ["type git", "type -a node"], review: ["type --what"] },
  },
  which: {
    flags:
      "-a,--all -s --skip-dot --skip-tilde --show-dot --show-tilde --tty-only -v -V,--version --help",
    operands: "text*",
    examples: { safe: ["which git", "which -a python3 python"], review: ["which --what"] },
  },
  whereis: {
    flags: "-b -m -s -u -l",
    operands: "text*",
    examples: { safe: ["whereis bash"], review: ["whereis -B /x -f a"] },
  },
  command: {
    flags: "-v -V -p",
    operands: "text*",
    requires: "-v -V",
    otherwise: "exec: runs another command",
    examples: { safe: ["command -v git", "command -V ls"], review: ["command touch x"] },
  },
  help: {
    flags: "-d -m -s",
    operands: "pattern*",
    examples: { safe: ["help cd"], review: ["help --what"] },
  },
  jobs: {
    flags: "-l -n -p -r -s",
    reviewFlags: { "-x": "exec: runs another command" },
    operands: "text*",
    examples: { safe: ["jobs -l"], review: ["jobs -x id"] },
  },
  wait: {
    flags: "-n -f",
    reviewFlags: { "-p:text": "exec: sets a variable, and runs what stands in its subscript" },
    operands: "number*",
    examples: { safe: ["wait"], review: ["wait -p x", "wait -np x"] },
  },
  times: { examples: { safe: ["times"], review: ["times x"] } },
  dirs: {
    flags: "-l -p -v",
    reviewFlags: { "-c": CHANGES_SHELL },
    examples: { safe: ["dirs -v"], review: ["dirs -c"] },
  },
  umask: {
    flags: "-S -p",
    excess: CHANGES_SHELL,
    examples: { safe: ["umask", "umask -S"], review: ["umask 000"] },
  },
  ulimit: {
    flags: "-S -H -a -b -c -d -e -f -i -k -l -m -n -p -q -r -s -t -u -v -x -P -R -T",
    excess: CHANGES_SHELL,
    examples: { safe: ["ulimit -a", "ulimit -n"], review: ["ulimit -n 9999"] },
  },
  exit: { operands: "number?", examples: { safe: ["exit", "exit 1"], review: ["exit x"] } },
  return: { operands: "number?", examples: { safe: ["return 1"], review: ["return x"] } },
  break: { operands: "number?", examples: { safe: ["break"], review: ["break x"] } },
  continue: { operands: "number?", examples: { safe: ["continue"], review: ["continue x"] } },
  shift: { operands: "number?", examples: { safe: ["shift"], review: ["shift x"] } },
  read: {
    flags: "-r -s -e -n:number -N:number -t:number -d:text -p:text -u:number",
    reviewFlags: { "-a:text": SETS_VARIABLES, "-i:text": SETS_VARIABLES },
    operands: "text*",
    examples: { safe: ["read -r line"], review: ["read -a x", "read -ra x"] },
  },
  set: {
    flags: "-e -u -o:shell-option",
    requires: "-e -u -o",
    otherwise: "secret: shows every variable, or changes the shell",
    excess: CHANGES_SHELL,
    examples: {
      safe: ["set -e", "set -euo pipefail"],
      review: ["set", "set -x", "set -- a", "set -o posix", "set -a", "set +e"],
    },
  },
  alias: reviewed(CHANGES_SHELL, "alias git='./x'", "alias"),
  unalias: reviewed(CHANGES_SHELL, "unalias -a"),
  shopt: reviewed(CHANGES_SHELL, "shopt -s globstar"),
  trap: reviewed("exec: runs its text later", "trap 'id' EXIT"),
  eval: reviewed("exec: runs its text", 'eval "ls"'),
  source: reviewed("exec: runs a file", "source x"),
  ".": reviewed("exec: runs a file", ". x"),
  exec: reviewed("exec: runs another program, or changes where output goes", "exec ls", "exec"),
  builtin: reviewed("exec: runs another command", "builtin echo x"),
  export: reviewed(SETS_VARIABLES, "export PATH=.", "export -p"),
  declare: reviewed(SETS_VARIABLES, "declare -x EDITOR=./x", "declare -p"),
  typeset: reviewed(SETS_VARIABLES, "typeset -x A=b"),
  local: reviewed(SETS_VARIABLES, "local a=b"),
  readonly: reviewed(SETS_VARIABLES, "readonly a=b"),
  unset: reviewed(
    "exec: forgets a variable, and runs what stands in its subscript",
    "unset x",
    "unset 'a[$(id)]'",
  ),
  let: reviewed("exec: computes, and runs what stands in a subscript", "let x=1"),
  mapfile: reviewed(SETS_VARIABLES, "mapfile -C id x"),
  readarray: reviewed(SETS_VARIABLES, "readarray x"),
  getopts: reviewed(SETS_VARIABLES, "getopts a x"),
  hash: reviewed("exec: changes which program a name means", "hash -p ./x ls", "hash -r"),
  enable: reviewed(
    "exec: loads or replaces commands of the shell",
    "enable -f ./x y",
    "enable -n echo",
  ),
  complete: reviewed("exec: names programs to run", "complete -C ./x y"),
  compgen: reviewed("exec: runs what its options name", "compgen -C id", "compgen -W '$(id)'"),
  compopt: reviewed(CHANGES_SHELL, "compopt -o x"),
  bind: reviewed("exec: names commands for keys", "bind -x '\"a\":id'"),
  fc: reviewed("exec: runs earlier commands again", "fc -s"),
  caller: reviewed(CHANGES_SHELL, "caller"),
  coproc: reviewed("exec: runs another command", "coproc x"),
  bg: reviewed("change: continues a stopped program", "bg"),
  fg: reviewed("change: continues a stopped program", "fg"),
  disown: reviewed("change: lets a program outlive the shell", "disown"),
  suspend: reviewed("change: stops the shell", "suspend"),
  logout: reviewed("change: ends the session", "logout"),
};
