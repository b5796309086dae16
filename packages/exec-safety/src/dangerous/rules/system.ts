/**
 * System: rights, power, services, processes, accounts, packages and what runs by the clock. The
 * machine below it is in machine.ts.
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
  const hasSignal = texts
    .slice(0, -1)
    .some((text) => /^-(?:[A-Z]|\d|s$|n$|-signal|-$)/i.test(text));
  return texts.some((text, at) => text === "1" || (text === "-1" && hasSignal && at > 0));
}

/** Rules on the system. */
export const SYSTEM_RULES: readonly ProgramRule[] = [
  {
    ruleId: "privilege.escalation",
    programs: names(
      "sudo doas su pkexec sudoedit runuser run0 dzdo pfexec gksu gksudo kdesu kdesudo sux calife please pleaseedit visudo vipw vigr",
    ),
    message:
      "It runs a command or an editor with the rights of another user, mostly the administrator",
    applies: (call) => {
      const only = call.args.length === 1 ? (call.args[0]?.text ?? "") : "";
      return only !== "--help" && only !== "--version";
    },
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
      "su --help",
    ],
  },
  {
    ruleId: "privilege.host",
    programs: ["nsenter", "machinectl"],
    message: "It opens a shell in the host or in another system",
    applies: (call) =>
      call.name === "machinectl"
        ? /^(?:shell|login)$/.test(verbsOf(call)[0] ?? "")
        : /^1$/.test(optionValue(call, "t", "target")?.text ?? ""),
    dangerous: [
      "nsenter -t 1 -m -u -i -n sh",
      "nsenter --target=1 --all bash",
      "machinectl shell root@",
    ],
    not: ["nsenter -t 4321 -n ip addr", "machinectl list"],
  },
  {
    ruleId: "system.power",
    programs: names("shutdown reboot halt poweroff telinit init loginctl pm-suspend pm-hibernate"),
    message: "It stops or restarts the machine, or ends its sessions",
    applies: (call) => {
      if (isAsking(call)) return false;
      const verbs = verbsOf(call);
      if (call.name === "init" || call.name === "telinit")
        return /^(?:[0-6s]|q)$/.test(verbs[0] ?? "");
      if (call.name === "loginctl")
        return verbs.some((verb) =>
          /^(?:terminate|kill|poweroff|reboot|halt|suspend|hibernate)/.test(verb),
        );
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
    not: [
      "shutdown -c",
      "npm init -y",
      "git init",
      "reboot --help",
      "loginctl list-sessions",
      "uptime",
    ],
  },
  {
    ruleId: "system.stop-service",
    programs: names("systemctl service rc-service initctl launchctl sv s6-svc stop"),
    message: "It stops or disables a service of the system, or the system itself",
    applies: (call) => {
      const verbs = verbsOf(call, "HMnotsp");
      if (call.name === "systemctl")
        return !hasFlag(call, "", ["user"]) && STOPPING.has(verbs[0] ?? "");
      if (call.name === "launchctl")
        return /^(?:unload|bootout|remove|disable|stop|kill|reboot|load|bootstrap|submit)$/.test(
          verbs[0] ?? "",
        );
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
      "/etc/init.d/ssh stop",
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
      if (call.name === "kill")
        return (
          !call.args.some(({ text }) => /^-[lL0]$|^--list$/.test(text)) && isEveryProcess(call)
        );
      const operands = operandsOf(call, "suUgGtPFocnS").map(({ text }) => text);
      const isPattern = call.name === "pkill" || hasFlag(call, "r", ["regexp"]);
      if (call.name === "fuser")
        return hasFlag(call, "k", ["kill"]) && operands.some((text) => /^\/(?:\w*)$/.test(text));
      if (isPattern && operands.some((text) => /^\^?[.*]*\$?$/.test(text))) return true;
      const isByUser = call.args.some(
        ({ text }) => /^-[uU]/.test(text) || /^--(?:e?uid|user)/.test(text),
      );
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
      "kill -0 1",
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
          call.args.find(({ text }) => /create|append|delete|passwd|change|merge/.test(text))
            ?.text ?? "",
        );
      if (call.name === "faillock") return hasFlag(call, "", ["reset"]);
      if (call.name === "dseditgroup" || call.name === "sysadminctl")
        return call.args.some(({ text }) =>
          /^(?:edit|create|delete)$|^-(?:add|delete|reset)/.test(text),
        );
      return (
        !hasFlag(
          call,
          call.name === "passwd"
            ? "S"
            : call.name === "chage" || call.name === "useradd"
              ? "l"
              : "",
          ["status", "list"],
        ) && !(call.name === "useradd" && hasFlag(call, "D") && call.args.length === 1)
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
    not: [
      "passwd -S",
      "cat /etc/passwd",
      "id alice",
      "getent passwd",
      "chage -l alice",
      "useradd --help",
      "grep useradd Dockerfile",
    ],
  },
  {
    ruleId: "system.crontab",
    programs: ["crontab"],
    message: "It replaces or deletes what the user has the system run by the clock",
    applies: (call) =>
      hasFlag(call, "ri", ["remove"]) ||
      operandsOf(call, "u").length > 0 ||
      (call.args.length === 0 && call.input.source !== "none"),
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
    ruleId: "system.hide-history",
    programs: ["history"],
    message: "It erases the shell's history: what happened can no longer be seen",
    applies: (call) => hasFlag(call, "c"),
    dangerous: ["history -c", "history -cw", "rm -f ~/.bash_history; history -c"],
    not: ["history", "history 20", "history | tail"],
  },
  {
    ruleId: "system.package-removal",
    programs: names("dpkg rpm apt apt-get yum dnf pacman"),
    message: "It removes packages that the system needs to work",
    applies: (call) => {
      const texts = call.args.map(({ text }) => text);
      const isRemoving = texts.some((text) =>
        /^(?:remove|purge|autoremove|erase|-r|-P|-e|--purge|--remove|--erase|-R[a-z]*)$/.test(text),
      );
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
    not: [
      "apt-get remove -y cowsay",
      "apt list",
      "dpkg -l",
      "rpm -qa",
      "apt-get install -y jq",
      "apt-get purge nodejs",
    ],
  },
];
