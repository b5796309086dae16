/**
 * Seccomp: the filter of system calls that an agent runs under, as the bytes of a BPF program
 * (`struct sock_filter[]`) for `bwrap --seccomp` or the helper. It refuses what would go round a
 * gate: other address families, other processes, namespaces, mounts, io_uring. Pure. A filter sees
 * numbers, never memory: what hides behind a pointer is not its business. Prose: spec/sandbox.md.
 */
import { ConsentError } from "@acp/core";
import type { BpfLine, BpfTest } from "./seccomp-assembler.js";
import { assembleBpf } from "./seccomp-assembler.js";
import type { SeccompArch, SyscallNumbers } from "./seccomp-syscalls.js";
import {
  AUDIT_ARCH,
  EXAMINED_SYSCALLS,
  FIRST_UNKNOWN_SYSCALL,
  MEETING_SYSCALLS,
  MISSING_SYSCALLS,
  MODE_ARGUMENTS,
  REFUSED_SYSCALLS,
  syscallNumbers,
} from "./seccomp-syscalls.js";

/** What a filter is for. */
export interface SeccompOptions {
  readonly arch: SeccompArch;
  /**
   * `namespace`: a network namespace holds the agent, so TCP and UDP may be used in it. `strict`:
   * nothing does, so only plain TCP clients of IPv4 may be made: a Landlock rule sees the `connect`
   * of those and of nothing else. `none`: the same, and no internet sockets at all.
   */
  readonly network: "namespace" | "strict" | "none";
  /** `private` allows Unix sockets; only where no socket of the host is in sight. */
  readonly unixSockets: "none" | "private";
}

// Offsets of `struct seccomp_data`. Arguments are 64 bits wide, little-endian; the kernel reads
// only the lower half of every one examined here (all are `int` or `unsigned int`; `clone` drops
// the upper half itself), so the lower half is what has to be looked at.
const NUMBER = 0;
const ARCHITECTURE = 4;
const argument = (index: number): number => 16 + 8 * index;

const KILL_PROCESS = 0x8000_0000;
const ERRNO = 0x0005_0000;
const ALLOW = 0x7fff_0000;
const OUTCOMES = {
  allow: ALLOW,
  kill: KILL_PROCESS,
  EPERM: ERRNO | 1,
  ENOSYS: ERRNO | 38,
  EPROTONOSUPPORT: ERRNO | 93,
  EAFNOSUPPORT: ERRNO | 97,
} as const;

const AF = { unix: 1, inet: 2, inet6: 10, netlink: 16 } as const;
const SOCK = { typeMask: 0xf, stream: 1, datagram: 2, sequenced: 5 } as const;
const PROTOCOL = { any: 0, icmp: 1, tcp: 6, udp: 17, icmpv6: 58 } as const;
const NETLINK_ROUTE = 0;
const MSG_FASTOPEN = 0x2000_0000;
const SOL_TCP = 6;
const TCP_OPTION = { upperLayer: 31, fastOpenConnect: 30 } as const;
const PRIO_PROCESS = 0;
const IOPRIO_WHO_PROCESS = 1;
/**
 * `CLONE_NEW*` as far as `clone` takes them (a new time namespace is for `unshare` and `clone3`
 * only).
 */
const CLONE_NEW = 0x7e02_0000;
/** `TIOCSTI` and `TIOCLINUX`: typing into the terminal that the agent shares with a person. */
const TERMINAL_INJECTION = [0x5412, 0x541c] as const;

/**
 * Looked at in namespaces too; the other calls of the table have nothing there that they could do.
 */
const EXAMINED_EVERYWHERE: readonly string[] = [
  "socket",
  "socketpair",
  "clone",
  "ioctl",
  ...Object.keys(MODE_ARGUMENTS),
];
/** A file with this bit runs as its owner, whoever starts it. */
const SET_UID = 0o4000;
/**
 * `O_CREAT`, and the bit that `O_TMPFILE` has for itself: without one of them an opening call has
 * no mode.
 */
const CREATES = 0o100 | 0o20_000_000;

/** The architecture of this process, where filters exist for it. */
export function seccompArch(arch: string = process.arch): SeccompArch | undefined {
  return arch === "x64" || arch === "arm64" ? arch : undefined;
}

/**
 * Makes a filter: an array of `struct sock_filter`, 8 bytes each.
 *
 * @throws ConsentError `options_invalid` where Unix sockets are asked for without a network
 *   namespace: those of the host would be in reach.
 */
export function makeSeccompFilter(options: SeccompOptions): Uint8Array {
  if (options.unixSockets === "private" && options.network !== "namespace") {
    throw new ConsentError(
      "options_invalid",
      `Cannot allow Unix sockets with network "${options.network}": those of the host would be in reach`,
    );
  }
  return assembleBpf([
    load(ARCHITECTURE),
    jump("equal", AUDIT_ARCH[options.arch], "native", "kill"),
    label("native"),
    load(NUMBER),
    jump("atLeast", FIRST_UNKNOWN_SYSCALL, "ENOSYS"),
    ...choose(options),
    goto("allow"),
    ...examineSocket(options),
    ...examineSocketpair(),
    ...examineClone(),
    ...examineIoctl(),
    ...examineModes(options.arch),
    ...(options.network === "namespace" ? [] : [...examineSending(), ...examineTarget()]),
    ...Object.entries(OUTCOMES).flatMap(([name, value]): BpfLine[] => [
      label(name),
      { kind: "return", value },
    ]),
  ]);
}

/** By number: examined, missing, refused; the rest goes on. */
function choose({ arch, network }: SeccompOptions): readonly BpfLine[] {
  const hasNamespaces = network === "namespace";
  const examined = Object.entries(EXAMINED_SYSCALLS).filter(
    ([name]) => !hasNamespaces || EXAMINED_EVERYWHERE.includes(name),
  );
  const refused = hasNamespaces ? REFUSED_SYSCALLS : { ...REFUSED_SYSCALLS, ...MEETING_SYSCALLS };
  return [
    ...examined.flatMap(([name, numbers]) =>
      syscallNumbers({ [name]: numbers }, arch).map((number) => jump("equal", number, name)),
    ),
    ...syscallNumbers(MISSING_SYSCALLS, arch).map((number) => jump("equal", number, "ENOSYS")),
    ...syscallNumbers(refused, arch).map((number) => jump("equal", number, "EPERM")),
  ];
}

function examineSocket({ network, unixSockets }: SeccompOptions): readonly BpfLine[] {
  return [
    label("socket"),
    load(argument(0)),
    ...families(network).map((family) => jump("equal", family, "internet")),
    ...(unixSockets === "private" ? [jump("equal", AF.unix, "allow")] : []),
    jump("equal", AF.netlink, "netlink", "EAFNOSUPPORT"),
    label("netlink"),
    load(argument(2)),
    jump("equal", NETLINK_ROUTE, "allow", "EAFNOSUPPORT"),
    ...(network === "none" ? [] : examineInternet(network)),
  ];
}

/**
 * The proxy listens on IPv4: without a namespace around it, IPv6 would only be one more way to
 * other hosts.
 */
function families(network: SeccompOptions["network"]): readonly number[] {
  return { none: [], strict: [AF.inet], namespace: [AF.inet, AF.inet6] }[network];
}

/**
 * Types are a list of what is allowed: besides raw, 10 (SOCK_PACKET) would turn an AF_INET socket
 * into a packet socket, 5 is SCTP, 6 DCCP.
 */
function examineInternet(network: "namespace" | "strict"): readonly BpfLine[] {
  const protocols = network === "strict" ? [PROTOCOL.any, PROTOCOL.tcp] : Object.values(PROTOCOL);
  return [
    label("internet"),
    load(argument(1)),
    mask(SOCK.typeMask),
    ...(network === "strict" ? [] : [jump("equal", SOCK.datagram, "protocol")]),
    jump("equal", SOCK.stream, "protocol", "EPERM"),
    label("protocol"),
    load(argument(2)),
    ...protocols.map((protocol) => jump("equal", protocol, "allow")),
    // MPTCP (262) and SMC (256) are TCP to a program, but not to a Landlock rule.
    goto("EPROTONOSUPPORT"),
  ];
}

/**
 * Connected for good: an end of a stream or sequenced pair is; one of a datagram pair can be aimed
 * at a path socket of the host.
 */
function examineSocketpair(): readonly BpfLine[] {
  return [
    label("socketpair"),
    load(argument(0)),
    jump("equal", AF.unix, "pair", "EAFNOSUPPORT"),
    label("pair"),
    load(argument(1)),
    mask(SOCK.typeMask),
    jump("equal", SOCK.stream, "allow"),
    jump("equal", SOCK.sequenced, "allow", "EPERM"),
  ];
}

function examineClone(): readonly BpfLine[] {
  return [label("clone"), load(argument(0)), jump("anyBit", CLONE_NEW, "EPERM", "allow")];
}

function examineIoctl(): readonly BpfLine[] {
  return [
    label("ioctl"),
    load(argument(1)),
    ...TERMINAL_INJECTION.map((request) => jump("equal", request, "EPERM")),
    goto("allow"),
  ];
}

/**
 * No file that runs as the agent's user, or as root's in a workspace of root: the workspace
 * outlives the sandbox.
 */
function examineModes(arch: SeccompArch): readonly BpfLine[] {
  const isThere = (name: string, numbers: SyscallNumbers): boolean =>
    syscallNumbers({ [name]: numbers }, arch).length > 0;
  return Object.entries(MODE_ARGUMENTS).flatMap(([name, { mode, flags }]): readonly BpfLine[] => {
    const numbers = Object.entries(EXAMINED_SYSCALLS).find(([each]) => each === name)?.[1];
    if (numbers === undefined || !isThere(name, numbers)) return [];
    const creating: readonly BpfLine[] =
      flags === undefined
        ? []
        : [
            load(argument(flags)),
            jump("anyBit", CREATES, `${name} mode`, "allow"),
            label(`${name} mode`),
          ];
    return [
      label(name),
      ...creating,
      load(argument(mode)),
      jump("anyBit", SET_UID, "EPERM", "allow"),
    ];
  });
}

/**
 * No Fast Open: it sends data to an address without `connect`. No upper-layer protocol: SMC would
 * take the socket out of Landlock's sight.
 */
function examineSending(): readonly BpfLine[] {
  const flags = (name: string, index: number): readonly BpfLine[] => [
    label(name),
    load(argument(index)),
    jump("anyBit", MSG_FASTOPEN, "EPERM", "allow"),
  ];
  return [
    ...flags("sendto", 3),
    ...flags("sendmsg", 2),
    ...flags("sendmmsg", 3),
    label("setsockopt"),
    load(argument(1)),
    jump("equal", SOL_TCP, "tcpOption", "allow"),
    label("tcpOption"),
    load(argument(2)),
    ...Object.values(TCP_OPTION).map((option) => jump("equal", option, "EPERM")),
    goto("allow"),
  ];
}

/**
 * Limits and priorities of oneself only: a process of the same user is no stranger to the kernel.
 */
function examineTarget(): readonly BpfLine[] {
  const ownOnly = (name: string, which: number): readonly BpfLine[] => [
    label(name),
    load(argument(0)),
    jump("equal", which, `${name} of`, "EPERM"),
    label(`${name} of`),
    load(argument(1)),
    jump("equal", 0, "allow", "EPERM"),
  ];
  return [
    label("prlimit64"),
    load(argument(0)),
    jump("equal", 0, "allow", "EPERM"),
    ...ownOnly("setpriority", PRIO_PROCESS),
    ...ownOnly("ioprio_set", IOPRIO_WHO_PROCESS),
  ];
}

function load(offset: number): BpfLine {
  return { kind: "load", offset };
}

function mask(bits: number): BpfLine {
  return { kind: "mask", bits };
}

function label(name: string): BpfLine {
  return { kind: "label", name };
}

function jump(
  test: BpfTest,
  value: number,
  ...[yes, no]: readonly [yes: string, no?: string]
): BpfLine {
  return { kind: "jump", test, value, yes, ...(no === undefined ? {} : { no }) };
}

function goto(to: string): BpfLine {
  return { kind: "goto", to };
}
