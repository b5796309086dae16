/**
 * Namespace report: what the namespace sandbox holds, aspect by aspect.
 */
import type { SandboxAspect, SandboxItem, SandboxReport } from "@acp/core";
import type { NamespaceVariant, Obstacle } from "./namespace-host.js";

/** What is in force. */
export interface NamespaceFacts {
  readonly variant: NamespaceVariant;
  readonly unixSockets: "none" | "private";
  /** Sockets of the host that the agent sees in its workspace and may use. */
  readonly sockets: readonly string[];
  readonly caps: SandboxItem;
}

const NO_ROUTE = "the network namespace has no interface but its own loopback";
const ENFORCED: readonly (readonly [SandboxAspect, string])[] = [
  ["tcp", `${NO_ROUTE}; the proxy's listener is the only socket that leads out`],
  ["udp", NO_ROUTE],
  ["icmp", `${NO_ROUTE}, and raw sockets are refused`],
  ["raw", "raw and packet sockets are refused by the system call filter, and there is no interface to use them on"],
  ["ipv6", NO_ROUTE],
  ["dns", `${NO_ROUTE}, and no resolver is named; the proxy resolves`],
  ["abstract_sockets", "abstract names belong to the network namespace"],
  ["vsock", "refused by the system call filter"],
  ["io_uring", "refused by the system call filter"],
  ["child_processes", "children stay in the namespaces and under the filter, and end with the agent"],
  ["static_binaries", "the kernel holds the boundary, whatever the program is linked with; foreign architectures are refused"],
  ["files", "a small root of its own: the host's files are not there, but for what the operator shows"],
  ["signals", "a pid namespace of its own: no process outside has a number inside"],
];

/** The report of a sandbox that can start. */
export function makeNamespaceReport({ variant, unixSockets, sockets, caps }: NamespaceFacts): SandboxReport {
  const isOpen = unixSockets === "private" && sockets.length > 0;
  const items = ENFORCED.map(([aspect, reason]): SandboxItem => ({ aspect, enforcement: "enforced", reason }));
  const who = variant === "rooted" ? "without a user namespace, as its own user" : "in a user namespace of its own";
  return {
    sandbox: "namespace",
    isAvailable: true,
    level: isOpen ? "partial" : "full",
    reason: isOpen ? `sockets in the workspace lead out: ${sockets.slice(0, 3).join(", ")}` : `no way out but the proxy's listener; ${who}`,
    ...(isOpen && { fix: "Leave Unix sockets refused, or move the sockets out of the workspace" }),
    dns: "closed",
    items: [...items, pathSockets(unixSockets, sockets), caps],
  };
}

/** The report where it cannot start. */
export function makeObstacleReport({ reason, fix }: Obstacle): SandboxReport {
  const aspects: readonly SandboxAspect[] = [...ENFORCED.map(([aspect]) => aspect), "path_sockets", "resource_caps"];
  return {
    sandbox: "namespace",
    isAvailable: false,
    level: "none",
    reason,
    fix,
    dns: "closed",
    items: aspects.map((aspect) => ({ aspect, enforcement: "none", reason: "this sandbox cannot start here", fix })),
  };
}

function pathSockets(unixSockets: NamespaceFacts["unixSockets"], sockets: readonly string[]): SandboxItem {
  const aspect = "path_sockets";
  if (unixSockets === "none") return { aspect, enforcement: "enforced", reason: "Unix sockets are refused, also in the workspace" };
  if (sockets.length === 0) return { aspect, enforcement: "enforced", reason: "private ones only: no socket of the host is in sight" };
  return {
    aspect,
    enforcement: "partial",
    reason: `programs of the host listen on ${sockets.length} in the workspace: ${sockets.slice(0, 3).join(", ")}`,
    fix: "Leave Unix sockets refused, or move the sockets out of the workspace",
  };
}
