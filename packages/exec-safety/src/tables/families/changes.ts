/**
 * Changes: programs whose whole purpose is to change something. What is destroyed for good is the
 * dangerous walk's matter.
 */
import { reviewed, UNPROVEN } from "../table.js";
import type { Binary, BinaryTable } from "../table.js";

const STOPS = "change: stops a program";
const PERMITS = "change: changes who may do what with files";
const DISK = "write: writes to a disk past its files";

const CHANGES: BinaryTable = {
  cp: {
    review: "change: copies files",
    reviewFlags: {
      "-T,--no-target-directory": "write: copies hidden files as well, which can be settings",
    },
    operands: "copied*",
    examples: { safe: [], review: ["cp a b", "cp -r a/. ."] },
  },
  mv: reviewed("change: moves files", "mv a b"),
  ln: reviewed("change: makes a link", "ln -s a b"),
  mkdir: reviewed("change: makes a folder", "mkdir x"),
  rmdir: reviewed("change: removes a folder", "rmdir x"),
  touch: reviewed("change: makes a file or changes its time", "touch a"),
  rm: reviewed("change: deletes files", "rm b.txt", "rm -rf dist"),
  unlink: reviewed("change: deletes a file", "unlink a"),
  trash: reviewed("change: deletes files", "trash a"),
  shred: reviewed("write: overwrites files for good", "shred a"),
  chmod: reviewed(PERMITS, "chmod +x a"),
  chown: reviewed(PERMITS, "chown me a"),
  chgrp: reviewed(PERMITS, "chgrp me a"),
  chattr: reviewed(PERMITS, "chattr +i a"),
  setfacl: reviewed(PERMITS, "setfacl -m u:me:r a"),
  xattr: reviewed(PERMITS, "xattr -c a"),
  install: {
    review: "change: copies files",
    reviewFlags: { "--strip-program:text": "exec: runs the program it names" },
    examples: { safe: [], review: ["install a b", "install --strip-program=./x a b"] },
  },
  truncate: reviewed("change: cuts a file", "truncate -s 0 a"),
  fallocate: reviewed("change: makes a file longer", "fallocate -l 1G a"),
  split: {
    review: "change: writes files",
    reviewFlags: { "--filter:text": "exec: runs a program" },
    examples: { safe: [], review: ["split a", "split --filter=id a", "split --filt=id a"] },
  },
  csplit: reviewed("change: writes files", "csplit a 1"),
  patch: reviewed("write: changes the files that the patch names", "patch -p1"),
  mkfifo: reviewed("change: makes a pipe", "mkfifo a"),
  mknod: reviewed(DISK, "mknod a b 1 1"),
  dd: reviewed(DISK, "dd if=a of=b"),
  mount: {
    flags: "-l -V --version",
    examples: { safe: ["mount", "mount -l"], review: ["mount a b", "mount -a"] },
    excess: DISK,
  },
  umount: reviewed(DISK, "umount a"),
  kill: {
    flags: "-l,--list -L,--table",
    requires: "-l -L",
    otherwise: STOPS,
    operands: "text*",
    examples: { safe: ["kill -l"], review: ["kill 1", "kill -9 1"] },
  },
  pkill: reviewed(STOPS, "pkill x"),
  killall: reviewed(STOPS, "killall x"),
  renice: reviewed("change: changes a program's priority", "renice 5 1"),
  crontab: reviewed(
    "exec: shows or changes which programs run later",
    "crontab -l",
    "crontab x",
    "crontab -r",
    "crontab -e",
  ),
  at: reviewed("exec: runs programs later", "at now"),
  batch: reviewed("exec: runs programs later", "batch"),
  su: reviewed("exec: becomes another user", "su"),
  passwd: reviewed("write: changes a password", "passwd"),
  useradd: reviewed("write: changes who may log in", "useradd x"),
  usermod: reviewed("write: changes who may log in", "usermod x"),
  userdel: reviewed("write: changes who may log in", "userdel x"),
  chsh: reviewed("exec: changes which program a login runs", "chsh -s x"),
  tee: {
    flags: "-a,--append -i,--ignore-interrupts -p --output-error?:text --help --version",
    operands: "sink*",
    examples: {
      safe: ["tee", "tee /dev/null", "tee -a /dev/stderr"],
      review: ["tee a", "tee /etc/x", "tee -a ~/.bashrc"],
    },
  },
  pbcopy: reviewed("change: changes the clipboard", "pbcopy"),
  pbpaste: reviewed("secret: shows the clipboard", "pbpaste"),
  xclip: reviewed("secret: shows or changes the clipboard", "xclip -o"),
  gpg: reviewed("secret: handles keys", "gpg -d a"),
  pass: reviewed("secret: shows credentials", "pass show x"),
  op: reviewed("secret: shows credentials", "op read x"),
  security: reviewed("secret: shows credentials", "security find-generic-password"),
  vault: reviewed("secret: shows credentials", "vault read x"),
};

/** All properties of a service are also the variables that it is started with. */
const SHOWS_PROPERTIES: Binary = {
  flags: "--no-pager -p,--property:columns --value",
  requires: "-p",
  otherwise:
    "secret: shows the variables that a service is started with, unless it is asked for certain properties",
  operands: "text*",
  examples: {
    safe: ["systemctl show -p ActiveState x", "systemctl show x --property=SubState --value"],
    review: [
      "systemctl show x",
      "systemctl show -p Environment x",
      "systemctl show -p ActiveState,Environment x",
      "systemctl show",
    ],
  },
};

const INSTALLS = "change: installs or removes packages";
const SETTINGS = "exec: changes settings, some of which name programs to run";

/**
 * What is installed (`-Q`), and what could be (`-S` with a question), from the lists that are
 * there.
 */
const PACMAN_ASKS =
  "-Q -Qs -Qi -Ql -Qe -Qet -Qm -Qn -Qd -Qdt -Qq -Qqe -Qqm -Qu -Ss -Ssq -Si -Sl -V --version";

const APT_REVIEW = { "-o,--option:text": SETTINGS, "-c,--config-file:path": SETTINGS };

/** Package managers of systems, and services: what lists is safe. */
const PACKAGES: BinaryTable = {
  apt: lister("apt", ["list", "show", "search", "policy"]),
  "apt-cache": lister("apt-cache", ["policy", "show", "search", "depends", "rdepends", "madison"]),
  "apt-get": {
    review: INSTALLS,
    reviewFlags: APT_REVIEW,
    examples: {
      safe: [],
      review: ["apt-get install x", "apt-get -o APT::Update::Pre-Invoke::=id update"],
    },
  },
  dpkg: {
    flags: "-l,--list -L,--listfiles:text -s,--status:text -S,--search:text --print-architecture",
    requires: "-l -L -s -S --print-architecture",
    otherwise: INSTALLS,
    operands: "text*",
    examples: {
      safe: ["dpkg -l", "dpkg -L bash", "dpkg -l 'x*'"],
      review: ["dpkg -i x.deb", "dpkg --pre-invoke=id -l"],
    },
  },
  // Where there is no database it makes one, whatever it is asked.
  rpm: reviewed(INSTALLS, "rpm -i x.rpm", "rpm -e x", "rpm --eval '%(id)'", "rpm -qa"),
  pacman: {
    style: "words",
    flags: PACMAN_ASKS,
    requires: PACMAN_ASKS,
    otherwise: INSTALLS,
    reviewFlags: { "--config,--hookdir,--dbpath,-b,--root,-r,--sysroot:path": SETTINGS },
    operands: "text*",
    examples: {
      safe: ["pacman -Q", "pacman -Qs x", "pacman -Qi bash", "pacman -Ss x", "pacman -Si x"],
      review: [
        "pacman -S x",
        "pacman -Syu",
        "pacman -Ss x -y",
        "pacman -R x",
        "pacman -Qs x --config y",
        "pacman -Qo /x",
        "pacman",
      ],
    },
  },
  brew: reviewed(
    UNPROVEN,
    "brew list",
    "brew --version",
    "brew install x",
    "brew services start x",
  ),
  systemctl: {
    pagesUnless: "--no-pager",
    flags: "--no-pager --user",
    subcommands: {
      ...Object.fromEntries(
        [
          "status",
          "is-active",
          "is-enabled",
          "is-failed",
          "list-units",
          "list-unit-files",
          "list-timers",
        ].map((name) => [name, unitReader(name)]),
      ),
      show: SHOWS_PROPERTIES,
    },
    reviewFlags: {
      "-H,--host:text": "exec: reaches another machine",
      "-M,--machine:text": "exec: enters another machine",
    },
    examples: {
      safe: ["systemctl status nginx", "systemctl --no-pager list-units"],
      review: ["systemctl stop x", "systemctl restart x", "systemctl -H x status"],
    },
  },
};

export const changes: BinaryTable = { ...CHANGES, ...PACKAGES };

function lister(name: string, reads: readonly string[]): Binary {
  const entry = (read: string): Binary => ({
    flags: "--installed --upgradable -a --all-versions",
    reviewFlags: APT_REVIEW,
    operands: "text*",
    examples: { safe: [`${name} ${read}`], review: [`${name} ${read} -o x=y`] },
  });
  return {
    review: INSTALLS,
    reviewFlags: APT_REVIEW,
    subcommands: Object.fromEntries(reads.map((read) => [read, entry(read)])),
    examples: {
      safe: [`${name} ${reads[0] ?? ""} x`],
      review: [`${name} install x`, `${name} -o a=b ${reads[0] ?? ""}`],
    },
  };
}

function unitReader(name: string): Binary {
  return {
    flags:
      "--no-pager -l,--full -n,--lines:number -a,--all -p,--property:text -t,--type:text --state:text --user --value --plain --no-legend --failed -q,--quiet -o,--output:text",
    reviewFlags: {
      "-H,--host:text": "exec: reaches another machine",
      "-M,--machine:text": "exec: enters another machine",
    },
    operands: "text*",
    examples: { safe: [`systemctl ${name} x`], review: [`systemctl ${name} -H h x`] },
  };
}
