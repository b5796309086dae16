/**
 * Seccomp system calls: numbers of the calls that a filter looks at, and what it says of those that
 * it refuses outright. Data only. Numbers are those of the kernel's headers: asm/unistd_64.h for
 * x64, asm-generic/unistd.h for arm64.
 */

/** Architectures that filters are written for, in Node's words. */
export type SeccompArch = "x64" | "arm64";

/** Number on x64, number on arm64; `undefined` where the architecture has no such call. */
export type SyscallNumbers = readonly [x64: number | undefined, arm64: number | undefined];

/** Names of the calls whose arguments decide. */
export type ExaminedSyscall =
  | "socket"
  | "socketpair"
  | "clone"
  | "ioctl"
  | "sendto"
  | "sendmsg"
  | "sendmmsg"
  | "setsockopt"
  | "prlimit64"
  | "setpriority"
  | "ioprio_set"
  | ModeSyscall;

/** Names of the calls that give a file its mode. */
export type ModeSyscall =
  | "chmod"
  | "fchmod"
  | "fchmodat"
  | "fchmodat2"
  | "creat"
  | "open"
  | "openat"
  | "mknod"
  | "mknodat";

/** Calls whose arguments decide. */
export const EXAMINED_SYSCALLS: Readonly<Record<ExaminedSyscall, SyscallNumbers>> = {
  socket: [41, 198],
  socketpair: [53, 199],
  clone: [56, 220],
  ioctl: [16, 29],
  sendto: [44, 206],
  sendmsg: [46, 211],
  sendmmsg: [307, 269],
  setsockopt: [54, 208],
  prlimit64: [302, 261],
  setpriority: [141, 140],
  ioprio_set: [251, 30],
  chmod: [90, undefined],
  fchmod: [91, 52],
  fchmodat: [268, 53],
  fchmodat2: [452, 452],
  creat: [85, undefined],
  open: [2, undefined],
  openat: [257, 56],
  mknod: [133, undefined],
  mknodat: [259, 33],
};

/**
 * Which argument of a call is a file's mode, and which are the flags that say whether there is one.
 */
export const MODE_ARGUMENTS: Readonly<
  Record<ModeSyscall, { readonly mode: number; readonly flags?: number }>
> = {
  chmod: { mode: 1 },
  fchmod: { mode: 1 },
  fchmodat: { mode: 2 },
  fchmodat2: { mode: 2 },
  creat: { mode: 1 },
  open: { mode: 2, flags: 1 },
  openat: { mode: 3, flags: 2 },
  mknod: { mode: 1 },
  mknodat: { mode: 2 },
};

/**
 * Calls that wait for strangers (a listener needs no `bind` to get a port) or meet them by a
 * number: refused where no namespaces keep strangers away.
 */
export const MEETING_SYSCALLS: Readonly<Record<string, SyscallNumbers>> = {
  listen: [50, 201],
  accept: [43, 202],
  accept4: [288, 242],
  shmget: [29, 194],
  shmat: [30, 196],
  shmctl: [31, 195],
  msgget: [68, 186],
  msgsnd: [69, 189],
  msgrcv: [70, 188],
  msgctl: [71, 187],
  semget: [64, 190],
  semop: [65, 193],
  semtimedop: [220, 192],
  semctl: [66, 191],
  mq_open: [240, 180],
};

/**
 * Calls that the agent is told do not exist, so that libraries take their other way: no filter can
 * see what these would do.
 */
export const MISSING_SYSCALLS: Readonly<Record<string, SyscallNumbers>> = {
  clone3: [435, 435],
  openat2: [437, 437],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
};

/**
 * Calls that are refused whatever their arguments: other processes, namespaces, mounts, keys, the
 * kernel itself.
 */
export const REFUSED_SYSCALLS: Readonly<Record<string, SyscallNumbers>> = {
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  pidfd_getfd: [438, 438],
  kcmp: [312, 272],
  unshare: [272, 97],
  setns: [308, 268],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  open_tree_attr: [467, 467],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_by_handle_at: [304, 265],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  swapon: [167, 224],
  swapoff: [168, 225],
  reboot: [169, 142],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  iopl: [172, undefined],
  ioperm: [173, undefined],
  syslog: [103, 116],
  vhangup: [153, 58],
};

/**
 * The first number that this table has no knowledge of (Linux 6.18 ends at 469): a later kernel's
 * calls are missing inside until somebody has read what they do. The x32 calls of x64 start at 2^30
 * and are missing for the same reason.
 */
export const FIRST_UNKNOWN_SYSCALL = 470;

/** `AUDIT_ARCH_*` of the kernel. */
export const AUDIT_ARCH: Readonly<Record<SeccompArch, number>> = {
  x64: 0xc000_003e,
  arm64: 0xc000_00b7,
};

/** The numbers on one architecture. */
export function syscallNumbers(
  table: Readonly<Record<string, SyscallNumbers>>,
  arch: SeccompArch,
): readonly number[] {
  return Object.values(table).flatMap(([x64, arm64]) => (arch === "x64" ? x64 : arm64) ?? []);
}
