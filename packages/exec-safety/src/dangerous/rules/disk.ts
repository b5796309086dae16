/**
 * Disk: what formats, partitions or erases a disk. Writing to one is in targets.ts.
 */
import { hasFlag, operandsOf, verbsOf, type Call } from "../call.js";
import { hasUnknown } from "../feed.js";
import type { ProgramRule } from "../rule.js";
import { kindOf } from "../site.js";

const isAsking = (call: Call): boolean => hasFlag(call, "", ["help", "version"]);

/** Whether only files of the project are named: an image that somebody builds. */
function isImage(call: Call, valued: string): boolean {
  const operands = operandsOf(call, valued).filter(({ text }) => !/^\d+[KMGT]?$/i.test(text));
  return (
    operands.length > 0 &&
    operands.every(({ text }) => !hasUnknown(text) && kindOf(text, call.site) === "inside")
  );
}

/** Programs that erase, with the words that make them do it. */
const ERASING: ReadonlyMap<string, readonly string[]> = new Map([
  [
    "cryptsetup",
    ["luksformat", "luksremovekey", "luksclose", "erase", "lukserase", "reencrypt", "format"],
  ],
  ["zpool", ["destroy", "labelclear", "create"]],
  ["zfs", ["destroy", "rollback"]],
  ["btrfs", ["delete", "del"]],
  ["dmsetup", ["remove", "remove_all", "wipe_table", "clear"]],
  ["nvme", ["format", "sanitize", "write", "write-zeroes"]],
  [
    "diskutil",
    "erasedisk erasevolume partitiondisk zerodisk randomdisk secureerase reformat eraseoptical deletevolume deletecontainer".split(
      " ",
    ),
  ],
  ["mdadm", []],
  ["lvm", ["lvremove", "vgremove", "pvremove"]],
]);

/** Rules on disks. */
export const DISK_RULES: readonly ProgramRule[] = [
  {
    ruleId: "disk.format",
    programs:
      "mkfs mke2fs mkswap mkdosfs mkntfs newfs newfs_apfs newfs_hfs newfs_msdos pvcreate vgcreate".split(
        " ",
      ),
    message: "It formats a disk: what is on it is lost",
    applies: (call) =>
      !isAsking(call) &&
      operandsOf(call, "tLUbNiEOmTn").length > 0 &&
      !isImage(call, "tLUbNiEOmTn"),
    dangerous: [
      "mkfs -t ext4 /dev/sda1",
      "mkfs.ext4 /dev/sdb",
      "mkfs.xfs -f /dev/nvme0n1p1",
      "mkswap /dev/sda2",
      "mke2fs -j /dev/sdc1",
      "/sbin/mkfs.vfat -F32 /dev/sdb1",
      "mkfs.ext4 $DISK",
    ],
    not: ["mkfs.ext4 disk.img", "mkfs.ext4 -F build/rootfs.img", "mkfs --help", "mkfs.ext4 -V"],
  },
  {
    ruleId: "disk.partition",
    programs: "fdisk sfdisk cfdisk gdisk sgdisk cgdisk parted partprobe gparted gpart".split(" "),
    message: "It changes the partitions of a disk: what is on it can be lost",
    applies: (call) => {
      const operands = operandsOf(call);
      if (
        isAsking(call) ||
        operands.length === 0 ||
        hasFlag(call, "lpVvd", ["list", "print", "dump", "verify", "show-size"])
      )
        return false;
      const verbs = verbsOf(call).slice(1);
      return !(
        call.name === "parted" &&
        verbs.length > 0 &&
        verbs.every((verb) =>
          /^(?:p|print|free|all|list|devices|unit|u|[kmgt]?i?b|s|%|quit)$/.test(verb),
        )
      );
    },
    dangerous: [
      "fdisk /dev/sda",
      "parted /dev/sda mklabel gpt",
      "parted -s /dev/sda rm 1",
      "sgdisk --zap-all /dev/sdb",
      "sfdisk /dev/sda < layout",
      "gdisk /dev/sdb",
    ],
    not: [
      "fdisk -l",
      "fdisk -l /dev/sda",
      "parted /dev/sda print",
      "sfdisk -d /dev/sda",
      "sgdisk -p /dev/sda",
      "parted -l",
    ],
  },
  {
    ruleId: "disk.erase",
    programs:
      "wipefs blkdiscard badblocks hdparm sg_format pvremove vgremove lvremove vgreduce lvreduce".split(
        " ",
      ),
    message: "It erases a disk or what describes it",
    applies: (call) => {
      if (isAsking(call)) return false;
      const operands = operandsOf(call, "no");
      if (call.name === "wipefs")
        return hasFlag(call, "ao", ["all", "offset"]) && operands.length > 0;
      if (call.name === "badblocks") return hasFlag(call, "w");
      if (call.name === "hdparm")
        return call.args.some(({ text }) =>
          /^--(?:security-erase|trim-sector|write-sector|yes-i-know|make-bad)/.test(text),
        );
      return operands.length > 0;
    },
    dangerous: [
      "wipefs -a /dev/sda",
      "wipefs --all --force /dev/sdb",
      "blkdiscard /dev/nvme0n1",
      "hdparm --user-master u --security-erase p /dev/sda",
      "badblocks -wsv /dev/sda",
      "lvremove -f vg0/data",
      "vgremove vg0",
    ],
    not: ["wipefs /dev/sda", "hdparm -I /dev/sda", "badblocks -sv /dev/sda", "blkdiscard --help"],
  },
  {
    ruleId: "disk.destroy-volume",
    programs: [...ERASING.keys()],
    message: "It destroys a volume, an array or what encrypts it",
    applies: (call) => {
      if (call.name === "mdadm")
        return hasFlag(call, "SCf", ["stop", "zero-superblock", "create", "fail", "remove"]);
      const verbs = verbsOf(call);
      return (ERASING.get(call.name) ?? []).some((verb) => verbs.slice(0, 3).includes(verb));
    },
    dangerous: [
      "cryptsetup luksFormat /dev/sda2",
      "zpool destroy tank",
      "zfs destroy -r tank/data",
      "mdadm --zero-superblock /dev/sdb1",
      "nvme format /dev/nvme0n1",
      "diskutil eraseDisk APFS X disk2",
      "btrfs subvolume delete /data",
    ],
    not: [
      "zpool status",
      "zfs list",
      "mdadm --detail /dev/md0",
      "nvme list",
      "diskutil list",
      "cryptsetup status x",
      "btrfs subvolume list /",
    ],
  },
];
