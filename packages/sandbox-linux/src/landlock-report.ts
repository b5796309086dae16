/**
 * Landlock report: what Landlock's rules and the strict filter hold together, and what they leave.
 * Pure. For people: docs/explanation/what-a-sandbox-holds.md.
 */
import type { SandboxAspect, SandboxItem, SandboxReport } from "@acp/core";

/** What is in force. */
export interface LandlockFacts {
  /** `proxy`: TCP to the proxy's port; `none`: no internet sockets at all. */
  readonly network: "proxy" | "none";
  /** Version of Landlock: signals have rules since 6. */
  readonly landlockAbi: number;
  readonly caps: SandboxItem;
}

const NAMESPACE = "Use the namespace sandbox";
/** What is held whatever the options are. */
const HELD = [
  ["udp", "the system call filter refuses every socket that is not plain TCP"],
  ["icmp", "the system call filter refuses datagram and raw sockets"],
  ["raw", "the system call filter refuses raw and packet sockets"],
  ["ipv6", "the system call filter refuses IPv6 sockets"],
  ["dns", "no datagrams and no Unix sockets, so no resolver; the proxy resolves"],
  ["path_sockets", "the system call filter refuses Unix sockets"],
  ["abstract_sockets", "the system call filter refuses Unix sockets"],
  ["vsock", "refused by the system call filter"],
  ["io_uring", "refused by the system call filter"],
  ["child_processes", "children stay under the rules and the filter, and end with the agent"],
  [
    "static_binaries",
    "the kernel holds the rules, whatever the program is linked with; foreign architectures are refused",
  ],
] as const satisfies readonly (readonly [SandboxAspect, string])[];

/** The report of a sandbox that can start. */
export function makeLandlockReport({ network, landlockAbi, caps }: LandlockFacts): SandboxReport {
  const held = HELD.map(
    ([aspect, reason]): SandboxItem => ({ aspect, enforcement: "enforced", reason }),
  );
  return {
    sandbox: "landlock",
    isAvailable: true,
    level: "partial",
    reason:
      network === "none"
        ? "no network at all; owners, modes and times of the user's files outside can be changed, and the processes of the host are seen"
        : "the proxy's port can be reached on other hosts too; nothing else of the network can",
    fix: NAMESPACE,
    dns: "closed",
    items: [tcpItem(network), ...held, FILES, signalsItem(landlockAbi), caps],
  };
}

/** The report where it cannot start. */
export function makeLandlockObstacle({
  reason,
  fix,
}: {
  readonly reason: string;
  readonly fix: string;
}): SandboxReport {
  const aspects: readonly SandboxAspect[] = [
    "tcp",
    ...HELD.map(([aspect]) => aspect),
    "files",
    "signals",
    "resource_caps",
  ];
  const items = aspects.map(
    (aspect): SandboxItem => ({
      aspect,
      enforcement: "none",
      reason: "this sandbox cannot start here",
      fix,
    }),
  );
  return {
    sandbox: "landlock",
    isAvailable: false,
    level: "none",
    reason,
    fix,
    dns: "closed",
    items,
  };
}

function tcpItem(network: LandlockFacts["network"]): SandboxItem {
  if (network === "none")
    return {
      aspect: "tcp",
      enforcement: "enforced",
      reason: "the system call filter refuses internet sockets",
    };
  const reason =
    "a Landlock rule names a port, not an address: the proxy's port on every other host stays open; no other port, and nothing comes in";
  return {
    aspect: "tcp",
    enforcement: "partial",
    reason,
    fix: `${NAMESPACE}, or give the agent no network`,
  };
}

const FILES: SandboxItem = {
  aspect: "files",
  enforcement: "partial",
  reason:
    "the system, and what the operator shows; of other files of the user, owners, modes, times and names can still be asked for and set, and /proc lists the host's processes",
  fix: NAMESPACE,
};

function signalsItem(landlockAbi: number): SandboxItem {
  return landlockAbi >= 6
    ? {
        aspect: "signals",
        enforcement: "enforced",
        reason: "Landlock keeps signals and tracing inside",
      }
    : {
        aspect: "signals",
        enforcement: "none",
        reason: "processes of the same user can be sent signals",
        fix: "Linux 6.12 or later",
      };
}
