/**
 * What filters are to say, as a table of plain comparisons with no jumps in it; and the calls to
 * ask about.
 */
import type { SeccompOptions } from "../src/seccomp.js";
import type { SeccompArch, SyscallNumbers } from "../src/seccomp-syscalls.js";
import {
  EXAMINED_SYSCALLS,
  FIRST_UNKNOWN_SYSCALL,
  MEETING_SYSCALLS,
  MISSING_SYSCALLS,
  REFUSED_SYSCALLS,
} from "../src/seccomp-syscalls.js";

/** Every filter there is. */
export const allOptions: readonly SeccompOptions[] = (["x64", "arm64"] as const).flatMap((arch) => [
  { arch, network: "namespace", unixSockets: "none" },
  { arch, network: "namespace", unixSockets: "private" },
  { arch, network: "strict", unixSockets: "none" },
  { arch, network: "none", unixSockets: "none" },
]);

/** Upper halves of arguments, which the kernel does not read. */
export const HIGH_HALVES: readonly bigint[] = [0n, 1n, 0xffff_ffffn];

const ERRNO_NAMES: Readonly<Record<number, string>> = {
  1: "EPERM",
  38: "ENOSYS",
  93: "EPROTONOSUPPORT",
  97: "EAFNOSUPPORT",
};

/** A returned value in words. */
export function outcomeOf(value: number): string {
  if (value === 0x7fff_0000) return "allow";
  if (value === 0x8000_0000) return "kill";
  return ERRNO_NAMES[value & 0xffff] ?? `errno ${value & 0xffff}`;
}

interface NumberedCall {
  readonly number: number;
  readonly args: readonly bigint[];
}

const nameTables: Readonly<Record<string, SyscallNumbers>> = {
  ...EXAMINED_SYSCALLS,
  ...MEETING_SYSCALLS,
  ...MISSING_SYSCALLS,
  ...REFUSED_SYSCALLS,
};

function nameOf(number: number, arch: SeccompArch): string {
  const index = arch === "x64" ? 0 : 1;
  return Object.entries(nameTables).find(([, numbers]) => numbers[index] === number)?.[0] ?? "";
}

/** What a filter is to say of a call of its own architecture. */
export function expectedOutcome(options: SeccompOptions, { number, args }: NumberedCall): string {
  if (number >= FIRST_UNKNOWN_SYSCALL) return "ENOSYS";
  const name = nameOf(number, options.arch);
  const [a = 0, b = 0, c = 0, d = 0] = args.map((value) => Number(BigInt.asUintN(32, value)));
  const isStrict = options.network !== "namespace";
  if (name in MISSING_SYSCALLS) return "ENOSYS";
  if (name in REFUSED_SYSCALLS) return "EPERM";
  if (name in MEETING_SYSCALLS) return isStrict ? "EPERM" : "allow";
  const has = (value: number, bits: number): boolean => (BigInt(value) & BigInt(bits)) !== 0n;
  const permUnless = (isFine: boolean): string => (isFine ? "allow" : "EPERM");
  switch (name) {
    case "socket":
      return socketOutcome(options, { family: a, type: b % 16, protocol: c });
    case "socketpair":
      return a === 1 ? permUnless([1, 5].includes(b % 16)) : "EAFNOSUPPORT";
    case "clone":
      return permUnless(![17, 25, 26, 27, 28, 29, 30].some((bit) => has(a, 2 ** bit)));
    case "ioctl":
      return permUnless(b !== 0x5412 && b !== 0x541c);
    case "sendto":
    case "sendmmsg":
      return permUnless(!(isStrict && has(d, 0x2000_0000)));
    case "sendmsg":
      return permUnless(!(isStrict && has(c, 0x2000_0000)));
    case "setsockopt":
      return permUnless(!(isStrict && b === 6 && (c === 30 || c === 31)));
    case "prlimit64":
      return permUnless(!(isStrict && a !== 0));
    case "setpriority":
      return permUnless(!(isStrict && (a !== 0 || b !== 0)));
    case "ioprio_set":
      return permUnless(!(isStrict && (a !== 1 || b !== 0)));
    case "chmod":
    case "fchmod":
    case "creat":
    case "mknod":
      return permUnless(!has(b, 0o4000));
    case "fchmodat":
    case "fchmodat2":
    case "mknodat":
      return permUnless(!has(c, 0o4000));
    case "open":
      return permUnless(!((has(b, 0o100) || has(b, 0o20_000_000)) && has(c, 0o4000)));
    case "openat":
      return permUnless(!((has(c, 0o100) || has(c, 0o20_000_000)) && has(d, 0o4000)));
    default:
      return "allow";
  }
}

function socketOutcome(
  { network, unixSockets }: SeccompOptions,
  socket: { family: number; type: number; protocol: number },
): string {
  const { family, type, protocol } = socket;
  if (family === 1 && unixSockets === "private") return "allow";
  if (family === 16 && protocol === 0) return "allow";
  const families = { namespace: [2, 10], strict: [2], none: [] as readonly number[] }[network];
  if (!families.includes(family)) return "EAFNOSUPPORT";
  const types = network === "strict" ? [1] : [1, 2];
  const protocols = network === "strict" ? [0, 6] : [0, 1, 6, 17, 58];
  if (!types.includes(type)) return "EPERM";
  return protocols.includes(protocol) ? "allow" : "EPROTONOSUPPORT";
}

const FAMILIES = [...Array.from({ length: 48 }, (_, index) => index), 0x100, 0x1_0002, 0xffff_ffff];
const TYPES = [
  ...Array.from({ length: 16 }, (_, index) => index),
  1 | 0x800,
  2 | 0x8_0000,
  3 | 0x8_0800,
  1 | 0x10,
  1 | 0x100,
  0x8000_0001,
];
const PROTOCOLS = [0, 1, 2, 6, 15, 17, 58, 132, 136, 255, 256, 262, 0x106, 0xffff_ffff];
const BITS = Array.from({ length: 32 }, (_, bit) => 2 ** bit);
const MODE_CALLS = [
  "chmod",
  "fchmod",
  "fchmodat",
  "fchmodat2",
  "creat",
  "open",
  "openat",
  "mknod",
  "mknodat",
] as const;
const MODES = [
  0, 0o644, 0o755, 0o1777, 0o2755, 0o4000, 0o4755, 0o6755, 0o7777, 0o104_755, 0x1_0800, 0xffff_ffff,
];
const FLAGS = [
  0, 0o1, 0o2, 0o100, 0o101, 0o301, 0o1101, 0o4000, 0o4100, 0o200_000, 0o20_200_000, 0o2_000_000,
  0o2_000_100,
];
const REQUESTS = [
  0, 0x5401, 0x5411, 0x5412, 0x5413, 0x541b, 0x541c, 0x541d, 0x5421, 0x8000_5412, 0x1_5412,
  0xffff_ffff,
];

/**
 * Every number with no arguments, and the examined ones with every argument that means something,
 * and its neighbours.
 */
export function callsToTry(arch: SeccompArch): readonly NumberedCall[] {
  const index = arch === "x64" ? 0 : 1;
  const numbers = Array.from(
    { length: FIRST_UNKNOWN_SYSCALL + 100 },
    (_, number): NumberedCall => ({ number, args: [] }),
  );
  const calls = (
    name: keyof typeof EXAMINED_SYSCALLS,
    args: readonly (readonly number[])[],
  ): readonly NumberedCall[] =>
    args.flatMap((values) => {
      const number = EXAMINED_SYSCALLS[name][index];
      return number === undefined ? [] : [{ number, args: values.map((value) => BigInt(value)) }];
    });
  const sockets = FAMILIES.flatMap((family) =>
    TYPES.flatMap((type) => PROTOCOLS.map((protocol) => [family, type, protocol])),
  );
  return [
    ...numbers,
    ...calls("socket", sockets),
    ...calls(
      "socketpair",
      FAMILIES.flatMap((family) => TYPES.map((type) => [family, type, 0])),
    ),
    ...calls("clone", [
      [17],
      ...BITS.map((bit) => [bit]),
      ...BITS.map((bit) => [(bit | 17) >>> 0]),
      [0x7d0f00],
      [0x1200011],
    ]),
    ...calls(
      "ioctl",
      REQUESTS.map((request) => [0, request, 0]),
    ),
    ...(["sendto", "sendmsg", "sendmmsg"] as const).flatMap((name) =>
      calls(
        name,
        [0, 1, 2, 3, 4].flatMap((place) =>
          BITS.map((bit) => Array.from({ length: 6 }, (_, at) => (at === place ? bit : 0))),
        ),
      ),
    ),
    ...(["prlimit64", "setpriority", "ioprio_set"] as const).flatMap((name) =>
      calls(
        name,
        [0, 1, 2, 3, 0x1_0000, 0xffff_ffff].flatMap((first) =>
          [0, 1, 2, 4321, 0x8000_0000].map((second) => [first, second, 0]),
        ),
      ),
    ),
    ...MODE_CALLS.flatMap((name) =>
      calls(
        name,
        FLAGS.flatMap((flags) =>
          MODES.flatMap((mode) =>
            [1, 2, 3].map((place) => [3, flags, flags, flags].with(place, mode)),
          ),
        ),
      ),
    ),
    ...calls(
      "setsockopt",
      [0, 1, 6, 17, 41, 262, 0x106].flatMap((level) =>
        [1, 23, 29, 30, 31, 32, 0x11e].map((option) => [3, level, option, 0, 0]),
      ),
    ),
  ];
}
