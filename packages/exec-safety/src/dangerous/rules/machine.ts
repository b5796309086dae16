/**
 * Machine: the running kernel, how the machine starts, what is mounted, its network and its
 * firewall.
 */
import { hasFlag, operandsOf, optionValue, verbsOf, type Call } from "../call.js";
import type { ProgramRule } from "../rule.js";

const names = (text: string): readonly string[] => text.split(" ");
const isAsking = (call: Call): boolean => hasFlag(call, "", ["help", "version"]);

/** Rules on the machine. */
export const MACHINE_RULES: readonly ProgramRule[] = [
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
        return (
          hasFlag(call, "w", ["write", "load", "system"]) ||
          hasFlag(call, "p") ||
          texts.some((text) => /^[\w./-]+=/.test(text))
        );
      if (call.name === "modprobe")
        return (
          !hasFlag(call, "nDcRl", [
            "show-depends",
            "dry-run",
            "showconfig",
            "show-config",
            "list",
            "resolve-alias",
          ]) && texts.length > 0
        );
      if (call.name === "bpftool")
        return texts.some((text) => /^(?:load|attach|detach|pin|update|delete)$/.test(text));
      if (call.name === "csrutil" || call.name === "spctl")
        return texts.some((text) => /disable/.test(text));
      if (call.name === "nvram")
        return texts.some((text) => text.includes("=") || /^-[cd]/.test(text));
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
    programs: names(
      "iptables ip6tables iptables-legacy nft ufw firewall-cmd pfctl ebtables ipset tc",
    ),
    message: "It removes or opens the rules of the machine's firewall",
    applies: (call) => {
      const texts = call.args.map(({ text }) => text);
      if (call.name === "nft")
        return (
          /^(?:flush|delete|destroy|reset)$/.test(operandsOf(call)[0]?.text ?? "") ||
          hasFlag(call, "f", ["file"])
        );
      if (call.name === "ufw")
        return texts.some((text) => /^(?:disable|reset|delete|allow|default)$/.test(text));
      if (call.name === "firewall-cmd")
        return texts.some((text) =>
          /^--(?:panic-on|remove|add|complete-reload|delete|set-default)/.test(text),
        );
      if (call.name === "pfctl") return texts.some((text) => /^-(?:[dF]|e?f)/.test(text));
      if (call.name === "ipset" || call.name === "tc")
        return texts.some((text) => /^(?:flush|destroy|del|delete)$/.test(text));
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
    not: [
      "iptables -L -n",
      "nft list ruleset",
      "ufw status",
      "firewall-cmd --list-all",
      "pfctl -s rules",
      "iptables-save",
    ],
  },
  {
    ruleId: "network.cut",
    programs: names("ip ifconfig route nmcli networksetup ifdown resolvectl"),
    message: "It cuts the machine from its network or changes where its traffic goes",
    applies: (call) => {
      const texts = call.args.map(({ text }) => text);
      if (call.name === "ifdown") return texts.length > 0;
      if (call.name === "ifconfig") return texts.at(-1) === "down";
      if (call.name === "route")
        return texts.some((text) => /^(?:del|delete|flush|add|change)$/.test(text));
      if (call.name === "nmcli")
        return texts.some((text) => /^(?:off|down|delete|disconnect)$/.test(text));
      if (call.name === "networksetup") return texts.some((text) => text.startsWith("-set"));
      if (call.name === "resolvectl")
        return /^(?:dns|revert|domain)$/.test(texts[0] ?? "") && texts.length > 1;
      const object = operandsOf(call)[0]?.text ?? "";
      if (object.startsWith("l"))
        return texts.includes("down") || texts.some((text) => text.startsWith("del"));
      return (
        /^(?:r|ro|route|a|ad|addr|address|rule)$/.test(object) &&
        texts.some((text) => /^(?:flush|del|delete|replace)$/.test(text))
      );
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
    not: [
      "ip addr",
      "ip route",
      "ip link show",
      "ifconfig",
      "ifconfig en0",
      "route -n",
      "nmcli device status",
      "ip -br a",
    ],
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
        return (
          hasFlag(call, "a", ["all"]) ||
          operands.some((text) => /^\/(?:boot|home|usr|var|proc|sys|dev)?$/.test(text))
        );
      const options = optionValue(call, "o", "options")?.text ?? "";
      return (
        /(?:^|,)remount/.test(options) ||
        operands
          .slice(1)
          .some((text) => /^\/(?:|boot|home|usr|var|proc|sys|dev|etc|bin|sbin|lib)$/.test(text))
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
    not: [
      "mount",
      "mount | grep ext4",
      "umount /mnt/usb",
      "mount /dev/sdb1 /mnt/usb",
      "mount -t proc",
      "losetup -a",
    ],
  },
  {
    ruleId: "system.boot",
    programs: names(
      "update-grub grub-install grub-mkconfig grub2-mkconfig efibootmgr bootctl update-initramfs dracut mkinitcpio flashrom fwupdmgr bless",
    ),
    message: "It changes how the machine starts",
    applies: (call) => {
      if (isAsking(call) || hasFlag(call, "", ["list"])) return false;
      if (call.name === "efibootmgr")
        return hasFlag(call, "BbocnOCDN", ["delete-bootnum", "create", "bootorder", "bootnext"]);
      if (call.name === "bootctl")
        return /^(?:install|remove|update|set-|random)/.test(verbsOf(call)[0] ?? "");
      if (call.name === "fwupdmgr")
        return /^(?:install|update|upgrade|downgrade|reinstall)/.test(verbsOf(call)[0] ?? "");
      if (call.name === "flashrom") return hasFlag(call, "wE", ["write", "erase"]);
      return !/^grub2?-mkconfig$/.test(call.name) || hasFlag(call, "o", ["output"]);
    },
    dangerous: [
      "grub-install /dev/sda",
      "efibootmgr -b 0 -B",
      "update-initramfs -u",
      "flashrom -p internal -w bios.bin",
    ],
    not: ["efibootmgr", "bootctl status", "fwupdmgr get-devices", "grub-mkconfig"],
  },
];
