/** System: programs that tell about the machine, its processes, its users and its time. */
import { reviewed, UNPROVEN } from "../table.js";
import type { Binary, BinaryTable } from "../table.js";

/** A program without arguments but its own help. */
function plain(name: string, flags: string, ...safe: readonly string[]): Binary {
  return {
    flags: `${flags} --help --version`,
    examples: { safe: [name, ...safe], review: [`${name} --what`] },
  };
}

export const system: BinaryTable = {
  uname: plain(
    "uname",
    "-a,--all -s,--kernel-name -n,--nodename -r,--kernel-release -v,--kernel-version -m,--machine -p,--processor -i,--hardware-platform -o,--operating-system",
    "uname -r",
    "uname -srm",
  ),
  arch: plain("arch", ""),
  sensors: {
    flags: "-A,--no-adapter -f,--fahrenheit -j -u",
    operands: "text*",
    examples: {
      safe: ["sensors", "sensors -u"],
      review: ["sensors -s", "sensors -c x", "sensors --bus-list"],
    },
  },
  nproc: plain("nproc", "--all --ignore:number", "nproc --all"),
  whoami: plain("whoami", ""),
  logname: plain("logname", ""),
  tty: plain("tty", "-s,--silent,--quiet"),
  hostid: plain("hostid", ""),
  users: plain("users", ""),
  getconf: {
    flags: "-a -v:text",
    operands: "text*",
    examples: { safe: ["getconf PAGE_SIZE", "getconf ARG_MAX"], review: ["getconf --what"] },
  },
  who: {
    flags:
      "-a,--all -b,--boot -d,--dead -H,--heading -l,--login --lookup -m -p,--process -q,--count -r,--runlevel -s,--short -t,--time -T,-w,--mesg -u,--users --help --version",
    operands: "path? text?",
    examples: { safe: ["who", "who -b"], review: ["who /var/log/wtmp"] },
  },
  w: {
    flags: "-h,--no-header -u,--no-current -s,--short -f,--from -i,--ip-addr -o,--old-style",
    operands: "text?",
    examples: { safe: ["w", "w -h"], review: ["w --what"] },
  },
  id: {
    flags:
      "-a -Z,--context -g,--group -G,--groups -n,--name -r,--real -u,--user -z,--zero -p -P --help --version",
    operands: "text*",
    examples: { safe: ["id", "id -un", "id root"], review: ["id --what"] },
  },
  groups: {
    flags: "--help --version",
    operands: "text*",
    examples: { safe: ["groups"], review: ["groups --what"] },
  },
  date: {
    flags:
      "-u,--utc,--universal -R,--rfc-email -I,--iso-8601?:text --rfc-3339:text -d,--date:text -j -v:text -n --debug --resolution --help --version",
    reviewFlags: {
      "-s,--set:text": "change: sets the clock",
      "-f,--file:path": "read: reads another file",
      "-r,--reference:path": "read: reads another file",
    },
    operands: "date-format?",
    examples: {
      safe: [
        "date",
        "date -u",
        "date +%F",
        "date -u '+%Y-%m-%d %H:%M'",
        "date -d '2 days ago' +%s",
        "date -Iseconds",
        "date --date=yesterday",
      ],
      review: [
        "date -s 2023-01-01",
        "date -us 2023",
        "date --set=x",
        "date --se=x",
        "date 010100002024",
        "date -f /etc/passwd",
        "date -r x",
      ],
    },
  },
  cal: {
    flags:
      "-1 -3 -n:number -s,--sunday -m,--monday -j,--julian -y,--year -Y,--twelve -w?:text -h -A:number -B:number",
    operands: "text*",
    examples: { safe: ["cal", "cal -3", "cal 2024"], review: ["cal --what"] },
  },
  hostname: {
    flags:
      "-s,--short -f,--fqdn,--long -d,--domain -i,--ip-address -I,--all-ip-addresses -A,--all-fqdns -y,--yp,--nis -a,--alias -V,--version -h,--help",
    reviewFlags: {
      "-F,--file:path": "change: sets the name of the machine",
      "-b,--boot": "change: sets the name of the machine",
    },
    excess: "change: sets the name of the machine",
    examples: {
      safe: ["hostname", "hostname -s", "hostname -I"],
      review: ["hostname x", "hostname -F x", "hostname -b x"],
    },
  },
  uptime: plain("uptime", "-p,--pretty -s,--since -h -V", "uptime -p"),
  free: {
    flags:
      "-b,--bytes -k,--kibi -m,--mebi -g,--gibi -h,--human --si -l,--lohi -t,--total -w,--wide -L,--line -v,--committed -c,--count:number --kilo --mega --giga --tera --tebi -V,--version --help",
    reviewFlags: { "-s,--seconds:number": "endless: does not end by itself" },
    examples: { safe: ["free", "free -h", "free -m -t"], review: ["free -s 1"] },
  },
  lscpu: plain(
    "lscpu",
    "-a,--all -b,--online -B,--bytes -C,--caches?:text -c,--offline -J,--json -e,--extended?:text -p,--parse?:text -x,--hex -y,--physical",
    "lscpu -J",
  ),
  lsblk: {
    flags:
      "-a,--all -b,--bytes -d,--nodeps -D,--discard -e,--exclude:text -f,--fs -i,--ascii -I,--include:text -J,--json -l,--list -m,--perms -M -n,--noheadings -o,--output:text -O,--output-all -p,--paths -P,--pairs -r,--raw -s,--inverse -S,--scsi -t,--topology -x,--sort:text -T,--tree?:text",
    operands: "text*",
    examples: { safe: ["lsblk", "lsblk -f", "lsblk -o NAME,SIZE"], review: ["lsblk --what"] },
  },
  lspci: {
    flags: "-v -k -n -m -t -D -b -x -s:text -d:text",
    examples: { safe: ["lspci -nnk"], review: ["lspci -i x"] },
  },
  lsusb: {
    flags: "-v -t -s:text -d:text -V",
    examples: { safe: ["lsusb -t"], review: ["lsusb -D x"] },
  },
  "nvidia-smi": reviewed(UNPROVEN, "nvidia-smi", "nvidia-smi -L"),
  lsmod: plain("lsmod", ""),
  lslocks: plain("lslocks", "-J,--json -n,--noheadings -o,--output:text -r,--raw -u,--notruncate"),
  lsmem: plain(
    "lsmem",
    "-a,--all -b,--bytes -J,--json -n,--noheadings -o,--output:text -r,--raw -s,--summary?:text",
  ),
  findmnt: {
    flags:
      "-A,--all -a,--ascii -b,--bytes -D,--df -f,--first-only -J,--json -k,--kernel -l,--list -n,--noheadings -o,--output:text -O,--options:text -P,--pairs -r,--raw -S,--source:text -t,--types:text -T,--target:text",
    operands: "text*",
    examples: { safe: ["findmnt -t ext4"], review: ["findmnt -p"] },
  },
  vmstat: {
    flags:
      "-a,--active -f,--forks -m,--slabs -n,--one-header -s,--stats -d,--disk -D,--disk-sum -S,--unit:text -t,--timestamp -w,--wide -V,--version",
    operands: "number? number?",
    examples: { safe: ["vmstat -s", "vmstat 1 2"], review: ["vmstat --what"] },
  },
  dmesg: {
    flags:
      "-T,--ctime -H,--human -k,--kernel -u,--userspace -x,--decode -l,--level:text -f,--facility:text -t,--notime -e,--reltime --since:text --until:text --time-format:text -r,--raw -J,--json -P,--nopager -L,--color?:text --noescape",
    reviewFlags: {
      "-c,--read-clear": "change: clears the messages",
      "-C,--clear": "change: clears the messages",
      "-D,--console-off,-E,--console-on": "change: changes the console",
      "-n,--console-level:text": "change: changes the console",
      "-F,--file:path": "read: reads another file",
      "-w,--follow,-W,--follow-new": "endless: does not end by itself",
    },
    examples: {
      safe: ["dmesg -T --nopager", "dmesg -l err"],
      review: ["dmesg -c", "dmesg -C", "dmesg -D", "dmesg -n 1", "dmesg -w", "dmesg --clear"],
    },
  },
  last: {
    flags: "-# -n:number -a -d -F -i -w -x -R",
    operands: "text*",
    examples: { safe: ["last -5"], review: ["last -f /var/log/btmp"] },
  },
  ps: {
    style: "bare",
    flags: `-A -a -d -e -N --deselect -T -r -x a x r T g f u j l v w c h L m n s S X H k:text -p,--pid:processes p:text q:text -q,--quick-pid:processes -C:text
      -G,--Group:processes -g,--group:processes -s,--sid:processes -t,--tty:processes -u,--user:processes -U,--User:processes --ppid:text -f -F -j -l -M -O:columns
      -o,--format:columns o:columns O:columns -y -Z --forest -H -w -c --cols,--columns,--width:number --cumulative --headers --no-headers,--no-heading
      --lines,--rows:number --sort:text -L -m --info -V,--version --help?:text`,
    reviewFlags: {
      e: "secret: shows the variables of other processes, where secrets are kept",
      "-E": "secret: shows the variables of other processes, where secrets are kept",
    },
    operands: "number*",
    examples: {
      safe: [
        "ps",
        "ps aux",
        "ps -ef",
        "ps -eo pid,comm --sort=-%mem",
        "ps axo pid,cmd",
        "ps -p 1 -o comm=",
        "ps auxww",
        "ps -ef --forest",
      ],
      review: [
        "ps e",
        "ps aux e",
        "ps auxe",
        "ps eww 1",
        "ps -E",
        "ps axo pid,environ",
        "ps -auxe",
      ],
    },
  },
  pgrep: {
    flags:
      "-a,--list-full -l,--list-name -f,--full -u,--euid:text -U,--uid:text -x,--exact -c,--count -n,--newest -o,--oldest -P,--parent:text -i,--ignore-case -v,--inverse -d,--delimiter:text -g:text -G:text -s:text -t:text -A",
    operands: "text*",
    examples: {
      safe: ["pgrep -fl node", "pgrep -u me"],
      review: ["pgrep -F /run/x.pid", "pgrep --signal x y"],
    },
  },
  pidof: {
    flags: "-s -c -n -q -x -z -d:text -S:text -o:text",
    operands: "text+",
    examples: { safe: ["pidof node"], review: ["pidof --what x"] },
  },
  pstree: {
    flags:
      "-a,--arguments -A,--ascii -c,--compact-not -C:text -g,--show-pgids -h,--highlight-all -l,--long -n,--numeric-sort -N:text -p,--show-pids -s,--show-parents -S -t -T -u,--uid-changes -U,--unicode -V,--version -Z",
    operands: "text?",
    examples: { safe: ["pstree -p"], review: ["pstree --what"] },
  },
  top: {
    flags:
      "-b -c -n:number -o:text -p:text -u:text -w?:number -H -i -s -1 -e:text -E:text -l:number",
    requires: "-n -l",
    otherwise: "endless: does not end by itself",
    examples: { safe: ["top -bn1", "top -b -n 1 -o %MEM"], review: ["top", "top -b"] },
  },
  lsof: {
    flags:
      "-a -b -c:text -d:text -i?:text -l -n -P -p:text -t -u:text -U -w -F?:text -s?:text -R -O -Q -h -v",
    operands: "path*",
    examples: {
      safe: ["lsof -i :3000", "lsof -nP -iTCP -sTCP:LISTEN", "lsof -ti:3000"],
      review: ["lsof -r 1", "lsof -D b"],
    },
  },
  ss: {
    flags:
      "-h -V -n,--numeric -r,--resolve -a,--all -l,--listening -o,--options -e,--extended -m,--memory -p,--processes -T,--threads -i,--info -s,--summary -4,--ipv4 -6,--ipv6 -0,--packet -t,--tcp -u,--udp -d,--dccp -w,--raw -x,--unix -S,--sctp -f,--family:text -H,--no-header -O,--oneline -Z -z -B -I",
    reviewFlags: {
      "-K,--kill": "change: closes connections",
      "-F,--filter:path": "read: reads another file",
      "-D,--diag:path": "write: writes a file",
      "-E,--events": "endless: does not end by itself",
      "-N,--net:text": "exec: enters another network",
    },
    operands: "text*",
    examples: { safe: ["ss -tlnp", "ss -s"], review: ["ss -K dst 1.2.3.4", "ss -D x", "ss --ki"] },
  },
  netstat: {
    flags:
      "-r,--route -i,--interfaces -g,--groups -s,--statistics -v,--verbose -W,--wide -n,--numeric --numeric-hosts --numeric-ports -e,--extend -p,--programs -o,--timers -l,--listening -a,--all -4 -6 -t,--tcp -u,--udp -w,--raw -x,--unix -A:text -f:text -N",
    reviewFlags: { "-c,--continuous": "endless: does not end by itself" },
    examples: { safe: ["netstat -tlnp", "netstat -rn"], review: ["netstat -c"] },
  },
  tput: {
    subcommands: Object.fromEntries(
      "cols lines colors longname setaf setab bold dim sgr0 smul rmul rev smso rmso el ed cup hpa clear civis cnorm"
        .split(" ")
        .map((name) => [name, database("tput", name)]),
    ),
    examples: { safe: ["tput cols", "tput setaf 1"], review: ["tput -S", "tput", "tput init"] },
  },
  locale: {
    flags: "-a,--all-locales -m,--charmaps -c,--category-name -k,--keyword-name -v,--verbose",
    operands: "text*",
    examples: { safe: ["locale", "locale -a"], review: ["locale --what"] },
  },
  printenv: {
    flags: "-0,--null --help --version",
    operands: "variable+",
    examples: {
      safe: ["printenv PATH", "printenv HOME LANG"],
      review: ["printenv", "printenv AWS_SECRET_ACCESS_KEY", "printenv TOKEN"],
    },
  },
  env: {
    review: "secret: shows every variable, where secrets are kept",
    examples: {
      safe: ["env --version"],
      review: ["env", "env ./x.sh", "env -S 'sh -c id'", "env -i", "env -0"],
    },
  },
  sleep: {
    flags: "--help --version",
    operands: "number+",
    examples: { safe: ["sleep 1", "sleep 0.5", "sleep 2m"], review: ["sleep x", "sleep"] },
  },
  seq: {
    style: "text",
    operands: "text*",
    examples: { safe: ["seq 1 5", "seq -w 3", "seq -s, 1 3"], review: [] },
  },
  yes: reviewed("endless: does not end by itself", "yes"),
  factor: {
    flags: "-h,--exponents",
    operands: "number*",
    examples: { safe: ["factor 12"], review: ["factor x"] },
  },
  mktemp: reviewed("change: makes a file", "mktemp", "mktemp -d"),
  sysctl: {
    flags: "-n,--values -e,--ignore -N,--names -b,--binary -a,--all -A -X -q,--quiet",
    reviewFlags: {
      "-w,--write": "change: changes settings of the kernel",
      "-p,--load?:path": "change: changes settings of the kernel",
      "-f": "change: changes settings of the kernel",
      "--system": "change: changes settings of the kernel",
    },
    operands: "name*",
    examples: {
      safe: ["sysctl -n hw.ncpu"],
      review: ["sysctl -w a=b", "sysctl a=b", "sysctl -p x"],
    },
  },
  sw_vers: reviewed(UNPROVEN, "sw_vers -productVersion"),
  lsb_release: plain(
    "lsb_release",
    "-a,--all -i,--id -d,--description -r,--release -c,--codename -s,--short -v",
    "lsb_release -a",
  ),
  timedatectl: {
    pagesUnless: "--no-pager",
    flags: "--no-pager",
    operands: "",
    subcommands: {
      status: { examples: { safe: ["timedatectl status"], review: ["timedatectl status x"] } },
      show: {
        flags: "-p:text --value",
        examples: { safe: ["timedatectl show"], review: ["timedatectl show x"] },
      },
    },
    excess: "change: changes the clock",
    examples: { safe: ["timedatectl"], review: ["timedatectl set-time x"] },
  },
  getent: {
    subcommands: {
      passwd: database("getent", "passwd"),
      group: database("getent", "group"),
      services: database("getent", "services"),
      protocols: database("getent", "protocols"),
    },
    examples: { safe: ["getent passwd me"], review: ["getent shadow", "getent hosts x.example"] },
  },
  history: {
    operands: "number?",
    flags: "",
    reviewFlags: {
      "-c,-d,-a,-w,-r,-n,-s,-p": "change: changes the history, or reads and writes files",
    },
    examples: {
      safe: ["history 5", "history"],
      review: [
        "history -c",
        "history -w x",
        "history -d 1",
        "history -a",
        "history -r",
        "history -s x",
      ],
    },
  },
};

function database(program: string, name: string): Binary {
  return {
    operands: "text*",
    examples: { safe: [`${program} ${name}`], review: [`${program} ${name} --what`] },
  };
}
