/**
 * System: rights, power, services, processes, accounts, the kernel, the network's rules and the clock's table.
 */
import { hasFlag, operandsOf, optionValue, verbsOf, type Call } from "../call.js";
import { UNKNOWN } from "../feed.js";
import type { ProgramRule } from "../rule.js";

const names = (text: string): readonly string[] => text.split(" ");
const isAsking = (call: Call): boolean => hasFlag(call, "", ["help", "version"]);
const STOPPING: ReadonlySet<string> = new Set(
  names(
    "stop disable mask kill isolate poweroff reboot halt kexec suspend hibernate hybrid-sleep rescue emergency exit soft-reboot switch-root default set-default",
  ),
);

/** Every process, or the first one. */
function isEveryProcess(call: Call): boolean {
  const texts = call.args.map(({ text }) => text);
  const hasSignal = texts.slice(0, -1).some((text) => /^-(?:[A-Z]|\d|s$|n$|-signal|-$)/i.test(text));
  return texts.some((text, at) => text === "1" || (text === "-1" && hasSignal && at > 0));
}

/** Rules on the system. */
export const SYSTEM_RULES: readonly ProgramRule[] = [
  {
    ruleId: "privilege.escalation",
    programs: names(
      "sudo doas su pkexec sudoedit runuser run0 dzdo pfexec gksu gksudo kdesu kdesudo sux calife please pleaseedit visudo vipw vigr",
    ),
    message: "It runs a command or an editor with the rights of another user, mostly the administrator",
    applies: () => true,
    dangerous: [
      "sudo id",
      "sudo cat /etc/shadow",
      "\\sudo id",
      "/usr/bin/sudo -n true",
      "doas sh",
      "su - root -c id",
      "su",
      "pkexec bash",
      "sudoedit /etc/hosts",
      "echo pw | sudo -S id",
      "s''udo id",
      "env sudo id",
      "x=sudo; $x id",
      "timeout 5 sudo id",
      "ls && sudo rm x",
      "$(which sudo) id",
      "visudo",
      "su''do id",
      "if true; then sudo id; fi",
      "command sudo id",
      "bash -c 'sudo id'",
      "for i in 1; do sudo id; done",
      "xargs sudo rm < list",
      "find . -exec sudo rm {} +",
      "echo $(sudo id)",
    ],
    not: [
      'grep -rn "sudo" .',
      "echo sudo",
      "which sudo",
      "command -v sudo",
      'git commit -m "remove sudo | sh"',
      "cat docs/sudo.md",
      "man sudo",
      "type su",
      "ls su",
      "rg 'sudo rm -rf /'",
    ],
  },
  {
    ruleId: "system.power",
    programs: names("shutdown reboot halt poweroff telinit init loginctl pm-suspend pm-hibernate"),
    message: "It stops or restarts the machine, or ends its sessions",
    applies: (call) => {
      if (isAsking(call)) return false;
      const verbs = verbsOf(call);
      if (call.name === "init" || call.name === "telinit") return /^(?:[0-6s]|q)$/.test(verbs[0] ?? "");
      if (call.name === "loginctl") return verbs.some((verb) => /^(?:terminate|kill|poweroff|reboot|halt|suspend|hibernate)/.test(verb));
      return !hasFlag(call, "c", ["show"]) || call.name !== "shutdown";
    },
    dangerous: [
      "shutdown -h now",
      "reboot",
      "halt -f",
      "poweroff",
      "init 0",
      "telinit 6",
      "/sbin/reboot",
      "shutdown -r +5",
      "loginctl terminate-user alice",
    ],
    not: ["shutdown -c", "npm init -y", "git init", "reboot --help", "loginctl list-sessions", "uptime"],
  },
  {
    ruleId: "system.stop-service",
    programs: names("systemctl service rc-service initctl launchctl sv s6-svc stop"),
    message: "It stops or disables a service of the system, or the system itself",
    applies: (call) => {
      const verbs = verbsOf(call, "HMnotsp");
      if (call.name === "systemctl") return !hasFlag(call, "", ["user"]) && STOPPING.has(verbs[0] ?? "");
      if (call.name === "launchctl")
        return /^(?:unload|bootout|remove|disable|stop|kill|reboot|load|bootstrap|submit)$/.test(verbs[0] ?? "");
      if (call.name === "initctl") return verbs[0] === "stop";
      if (call.name === "sv") return /^(?:stop|down|exit|force-.*)$/.test(verbs[0] ?? "");
      return call.name !== "stop" && (verbs[1] === "stop" || hasFlag(call, "", ["full-stop"]));
    },
    dangerous: [
      "systemctl stop sshd",
      "systemctl disable --now firewalld",
      "systemctl poweroff",
      "systemctl mask auditd",
      "service ssh stop",
      "launchctl unload /Library/LaunchDaemons/x.plist",
      "systemctl isolate rescue.target",
      "systemctl reboot",
    ],
    not: [
      "systemctl status nginx",
      "systemctl list-units",
      "service nginx status",
      "systemctl --user stop app",
      "docker stop web",
      "systemctl is-active x",
      "brew services stop postgresql",
      "npm stop",
    ],
  },
  {
    ruleId: "process.kill-all",
    programs: names("kill killall5 killall pkill skill fuser"),
    message: "It ends every process, or every process of a user",
    applies: (call) => {
      if (call.name === "killall5") return true;
      if (call.name === "kill") return !call.args.some(({ text }) => /^-[lL]$|^--list$/.test(text)) && isEveryProcess(call);
      const operands = operandsOf(call, "suUgGtPFocnS").map(({ text }) => text);
      const isPattern = call.name === "pkill" || hasFlag(call, "r", ["regexp"]);
      if (call.name === "fuser") return hasFlag(call, "k", ["kill"]) && operands.some((text) => /^\/(?:\w*)$/.test(text));
      if (isPattern && operands.some((text) => /^\^?[.*]*\$?$/.test(text))) return true;
      const isByUser = call.args.some(({ text }) => /^-[uU]/.test(text) || /^--(?:e?uid|user)/.test(text));
      return isByUser && operands.length === 0;
    },
    dangerous: [
      "kill -9 -1",
      "kill -KILL -- -1",
      "kill -s TERM -1",
      "killall5 -9",
      "pkill -u alice",
      "pkill -9 .",
      "killall -u root",
      "kill -9 1",
      "pkill -KILL -U 1000",
      "fuser -km /",
      "killall -9 -r '.*'",
      "pkill -f ''",
    ],
    not: [
      "kill 1234",
      "kill -9 4321",
      "kill -1 4321",
      "kill -l",
      "pkill node",
      "pkill -f vite",
      "kill %1",
      "kill $(lsof -t -i:3000)",
      "fuser -k 3000/tcp",
      "killall node",
      "pkill -u alice node",
      "kill -0 $pid",
      "kill -15 $(cat app.pid)",
    ],
  },
  {
    ruleId: "accounts.change",
    programs: names(
      "passwd chpasswd useradd adduser usermod userdel deluser groupadd addgroup groupdel delgroup groupmod gpasswd chsh chage newusers dscl sysadminctl dseditgroup faillock",
    ),
    message: "It changes accounts, groups or passwords of the machine",
    applies: (call) => {
      if (isAsking(call)) return false;
      if (call.name === "dscl")
        return /-(?:create|append|delete|passwd|change|merge)$|^(?:create|append|delete|passwd|change|merge)$/.test(
          call.args.find(({ text }) => /create|append|delete|passwd|change|merge/.test(text))?.text ?? "",
        );
      if (call.name === "faillock") return hasFlag(call, "", ["reset"]);
      if (call.name === "dseditgroup" || call.name === "sysadminctl")
        return call.args.some(({ text }) => /^(?:edit|create|delete)$|^-(?:add|delete|reset)/.test(text));
      return (
        !hasFlag(call, call.name === "passwd" ? "S" : call.name === "chage" || call.name === "useradd" ? "l" : "", ["status", "list"]) &&
        !(call.name === "useradd" && hasFlag(call, "D") && call.args.length === 1)
      );
    },
    dangerous: [
      "passwd root",
      "useradd -m -G sudo eve",
      "usermod -aG docker eve",
      "echo root:x | chpasswd",
      "userdel -r alice",
      "gpasswd -a eve sudo",
      "adduser eve",
      "chsh -s /tmp/sh root",
      "dscl . -create /Users/eve",
    ],
    not: ["passwd -S", "cat /etc/passwd", "id alice", "getent passwd", "chage -l alice", "useradd --help", "grep useradd Dockerfile"],
  },
  {
    ruleId: "system.crontab",
    programs: ["crontab"],
    message: "It replaces or deletes what the user has the system run by the clock",
    applies: (call) =>
      hasFlag(call, "ri", ["remove"]) || operandsOf(call, "u").length > 0 || (call.args.length === 0 && call.input.source !== "none"),
    dangerous: [
      "crontab -r",
      "crontab -",
      "(crontab -l; echo '* * * * * id') | crontab -",
      "crontab jobs.txt",
      "crontab -u root x",
      "crontab -ri",
      "crontab < jobs.txt",
    ],
    not: ["crontab -l", "crontab -l | grep backup", "crontab -e", "cat crontab"],
  },
  {
    ruleId: "kernel.change",
    programs: names(
      "insmod rmmod modprobe kexec swapoff sysctl depmod setenforce kldload kldunload kextload kextunload bpftool sysrq spctl csrutil nvram",
    ),
    message: "It changes the running kernel or turns a protection of the system off",
    applies: (call) => {
      if (isAsking(call)) return false;
      const texts = call.args.map(({ text }) => text);
      if (call.name === "sysctl")
        return hasFlag(call, "w", ["write", "load", "system"]) || hasFlag(call, "p") || texts.some((text) => /^[\w./-]+=/.test(text));
      if (call.name === "modprobe")
        return (
          !hasFlag(call, "nDcRl", ["show-depends", "dry-run", "showconfig", "show-config", "list", "resolve-alias"]) && texts.length > 0
        );
      if (call.name === "bpftool") return texts.some((text) => /^(?:load|attach|detach|pin|update|delete)$/.test(text));
      if (call.name === "csrutil" || call.name === "spctl") return texts.some((text) => /disable/.test(text));
      if (call.name === "nvram") return texts.some((text) => text.includes("=") || /^-[cd]/.test(text));
      return call.name !== "depmod" && (texts.length > 0 || call.name === "swapoff");
    },
    dangerous: [
      "insmod evil.ko",
      "rmmod ext4",
      "modprobe evil",
      "sysctl -w kernel.randomize_va_space=0",
      "sysctl kernel.panic=1",
      "swapoff -a",
      "setenforce 0",
      "modprobe -r nf_conntrack",
      "csrutil disable",
      "spctl --master-disable",
    ],
    not: [
      "sysctl -a",
      "sysctl kernel.hostname",
      "sysctl -n hw.ncpu",
      "lsmod",
      "modinfo ext4",
      "modprobe -n -v x",
      "csrutil status",
      "swapon --show",
    ],
  },
  {
    ruleId: "network.firewall",
    programs: names("iptables ip6tables iptables-legacy nft ufw firewall-cmd pfctl ebtables ipset tc"),
    message: "It removes or opens the rules of the machine's firewall",
    applies: (call) => {
      const texts = call.args.map(({ text }) => text);
      if (call.name === "nft")
        return /^(?:flush|delete|destroy|reset)$/.test(operandsOf(call)[0]?.text ?? "") || hasFlag(call, "f", ["file"]);
      if (call.name === "ufw") return texts.some((text) => /^(?:disable|reset|delete|allow|default)$/.test(text));
      if (call.name === "firewall-cmd")
        return texts.some((text) => /^--(?:panic-on|remove|add|complete-reload|delete|set-default)/.test(text));
      if (call.name === "pfctl") return texts.some((text) => /^-(?:[dF]|e?f)/.test(text));
      if (call.name === "ipset" || call.name === "tc") return texts.some((text) => /^(?:flush|destroy|del|delete)$/.test(text));
      return texts.some(
        (text, at) =>
          /^-[a-z]*[FXZ]$|^--(?:flush|delete-chain|zero)$/.test(text) ||
          (/^(?:-P|--policy)$/.test(text) && texts.length > at) ||
          /^-D$|^--delete$/.test(text),
      );
    },
    dangerous: [
      "iptables -F",
      "iptables --flush",
      "iptables -t nat -F",
      "iptables -P INPUT ACCEPT",
      "nft flush ruleset",
      "ufw disable",
      "ufw --force reset",
      "firewall-cmd --panic-on",
      "pfctl -d",
      "iptables -D INPUT 1",
    ],
    not: ["iptables -L -n", "nft list ruleset", "ufw status", "firewall-cmd --list-all", "pfctl -s rules", "iptables-save"],
  },
  {
    ruleId: "network.cut",
    programs: names("ip ifconfig route nmcli networksetup ifdown resolvectl"),
    message: "It cuts the machine from its network or changes where its traffic goes",
    applies: (call) => {
      const texts = call.args.map(({ text }) => text);
      if (call.name === "ifdown") return texts.length > 0;
      if (call.name === "ifconfig") return texts.at(-1) === "down";
      if (call.name === "route") return texts.some((text) => /^(?:del|delete|flush|add|change)$/.test(text));
      if (call.name === "nmcli") return texts.some((text) => /^(?:off|down|delete|disconnect)$/.test(text));
      if (call.name === "networksetup") return texts.some((text) => /^-set/.test(text));
      if (call.name === "resolvectl") return /^(?:dns|revert|domain)$/.test(texts[0] ?? "") && texts.length > 1;
      const object = operandsOf(call)[0]?.text ?? "";
      if (/^l/.test(object)) return texts.includes("down") || texts.some((text) => /^del/.test(text));
      return /^(?:r|ro|route|a|ad|addr|address|rule)$/.test(object) && texts.some((text) => /^(?:flush|del|delete|replace)$/.test(text));
    },
    dangerous: [
      "ip link set eth0 down",
      "ifconfig eth0 down",
      "ip route flush table main",
      "ip route del default",
      "route del default",
      "nmcli networking off",
      "ip addr flush dev eth0",
    ],
    not: ["ip addr", "ip route", "ip link show", "ifconfig", "ifconfig en0", "route -n", "nmcli device status", "ip -br a"],
  },
  {
    ruleId: "system.mount",
    programs: names("mount umount pivot_root switch_root losetup"),
    message: "It changes what is mounted where in the whole system",
    applies: (call) => {
      const operands = operandsOf(call, "oOtLU").map(({ text }) => text);
      if (call.name === "pivot_root" || call.name === "switch_root") return true;
      if (call.name === "losetup") return hasFlag(call, "D", ["detach-all"]);
      if (call.name === "umount")
        return hasFlag(call, "a", ["all"]) || operands.some((text) => /^\/(?:boot|home|usr|var|proc|sys|dev)?$/.test(text));
      const options = optionValue(call, "o", "options")?.text ?? "";
      return (
        /(?:^|,)remount/.test(options) ||
        operands.slice(1).some((text) => /^\/(?:|boot|home|usr|var|proc|sys|dev|etc|bin|sbin|lib)$/.test(text))
      );
    },
    dangerous: [
      "umount -a",
      "umount -l /",
      "mount -o remount,rw /",
      "mount --bind /tmp/x /etc",
      "mount -t tmpfs tmpfs /usr",
      "umount -lf /home",
    ],
    not: ["mount", "mount | grep ext4", "umount /mnt/usb", "mount /dev/sdb1 /mnt/usb", "mount -t proc", "losetup -a"],
  },
  {
    ruleId: "system.hide-history",
    programs: ["history"],
    message: "It erases the shell's history: what happened can no longer be seen",
    applies: (call) => hasFlag(call, "c"),
    dangerous: ["history -c", "history -cw", "rm -f ~/.bash_history; history -c"],
    not: ["history", "history 20", "history | tail"],
  },
  {
    ruleId: "system.boot",
    programs: names(
      "update-grub grub-install grub-mkconfig grub2-mkconfig efibootmgr bootctl update-initramfs dracut mkinitcpio flashrom fwupdmgr bless",
    ),
    message: "It changes how the machine starts",
    applies: (call) => {
      if (isAsking(call) || hasFlag(call, "", ["list"])) return false;
      if (call.name === "efibootmgr") return hasFlag(call, "BbocnOCDN", ["delete-bootnum", "create", "bootorder", "bootnext"]);
      if (call.name === "bootctl") return /^(?:install|remove|update|set-|random)/.test(verbsOf(call)[0] ?? "");
      if (call.name === "fwupdmgr") return /^(?:install|update|upgrade|downgrade|reinstall)/.test(verbsOf(call)[0] ?? "");
      if (call.name === "flashrom") return hasFlag(call, "wE", ["write", "erase"]);
      return !/^grub2?-mkconfig$/.test(call.name) || hasFlag(call, "o", ["output"]);
    },
    dangerous: ["grub-install /dev/sda", "efibootmgr -b 0 -B", "update-initramfs -u", "flashrom -p internal -w bios.bin"],
    not: ["efibootmgr", "bootctl status", "fwupdmgr get-devices", "grub-mkconfig"],
  },
  {
    ruleId: "system.package-removal",
    programs: names("dpkg rpm apt apt-get yum dnf pacman"),
    message: "It removes packages that the system needs to work",
    applies: (call) => {
      const texts = call.args.map(({ text }) => text);
      const isRemoving = texts.some((text) => /^(?:remove|purge|autoremove|erase|-r|-P|-e|--purge|--remove|--erase|-R[a-z]*)$/.test(text));
      return (
        isRemoving &&
        texts.some(
          (text) =>
            /^(?:libc6?|glibc|coreutils|bash|systemd|linux-image.*|kernel|sudo|openssh-server|init|dpkg|apt|\*|util-linux|pam|login)$/.test(
              text,
            ) ||
            text === "--force-remove-essential" ||
            text.startsWith(UNKNOWN),
        )
      );
    },
    dangerous: [
      "apt-get remove -y coreutils",
      "apt purge systemd",
      "dpkg -r --force-remove-essential libc6",
      "rpm -e glibc",
      "yum remove kernel",
      "pacman -Rdd glibc",
    ],
    not: ["apt-get remove -y cowsay", "apt list", "dpkg -l", "rpm -qa", "apt-get install -y jq", "apt-get purge nodejs"],
  },
];
