/**
 * Namespace report: what the namespace sandbox holds, aspect by aspect.
 */
import { escapeText } from "@acp/core";
import type { SandboxAspect, SandboxItem, SandboxReport } from "@acp/core";
import type { NamespaceVariant, Obstacle } from "./namespace-host.js";
import type { InitHelper, MissingHelper } from "./native-helper.js";
import type { WorkspaceGuard } from "./workspace-guard.js";

/** What is in force. */
export interface NamespaceFacts {
  readonly variant: NamespaceVariant;
  readonly unixSockets: "none" | "private";
  /** Sockets of the host that the agent sees in its workspace and may use. */
  readonly sockets: readonly string[];
  readonly caps: SandboxItem;
  /** The first process inside; bubblewrap's own where there is none of ours. */
  readonly init: InitHelper;
  readonly guard: WorkspaceGuard;
  /** Whether the workspace is an overlay. */
  readonly isOverlay: boolean;
  /** Whether nothing listens on the proxy's port. */
  readonly isOffline: boolean;
}

const NO_ROUTE = "the network namespace has no interface but its own loopback";
const ENFORCED: readonly (readonly [SandboxAspect, string])[] = [
  ["tcp", `${NO_ROUTE}; the proxy's listener is the only socket that leads out`],
  ["udp", NO_ROUTE],
  ["icmp", `${NO_ROUTE}, and raw sockets are refused`],
  [
    "raw",
    "raw and packet sockets are refused by the system call filter, and there is no interface to use them on",
  ],
  ["ipv6", NO_ROUTE],
  ["dns", `${NO_ROUTE}, and no resolver is named; the proxy resolves`],
  ["abstract_sockets", "abstract names belong to the network namespace"],
  ["vsock", "refused by the system call filter"],
  ["io_uring", "refused by the system call filter"],
  [
    "child_processes",
    "children stay in the namespaces and under the filter, and end with the agent",
  ],
  [
    "static_binaries",
    "the kernel holds the boundary, whatever the program is linked with; foreign architectures are refused",
  ],
  [
    "files",
    "a small root of its own: the host's files are not there, but for what the operator shows",
  ],
  ["signals", "a pid namespace of its own: no process outside has a number inside"],
];
const OFFLINE: Partial<Readonly<Record<SandboxAspect, string>>> = {
  tcp: NO_ROUTE,
  dns: `${NO_ROUTE}, and no resolver is named`,
};

/** The report of a sandbox that can start. */
export function makeNamespaceReport(facts: NamespaceFacts): SandboxReport {
  const { variant, unixSockets, sockets, caps, init, guard, isOverlay, isOffline } = facts;
  const items = ENFORCED.map(
    ([aspect, reason]): SandboxItem => ({
      aspect,
      enforcement: "enforced",
      reason: isOffline ? (OFFLINE[aspect] ?? reason) : reason,
    }),
  );
  const children = init.isAvailable ? undefined : withoutInit(init);
  const who =
    variant === "rooted"
      ? "without a user namespace, as its own user"
      : "in a user namespace of its own";
  const full = {
    level: "full",
    reason: `${isOffline ? "no way out" : "no way out but the proxy's listener"}; ${who}`,
  } as const;
  return {
    sandbox: "namespace",
    isAvailable: true,
    ...(whyPartial(unixSockets, sockets, children) ?? whyUnheld(guard) ?? full),
    dns: "closed",
    items: [
      ...items.map((item) =>
        item.aspect === children?.aspect
          ? children
          : withGuard(isOverlay ? withOverlay(item) : item, guard),
      ),
      pathSockets(unixSockets, sockets),
      caps,
    ],
  };
}

/** Says that nothing of the workspace is written. */
function withOverlay(item: SandboxItem): SandboxItem {
  if (item.aspect !== "files") return item;
  return {
    ...item,
    reason: `${item.reason}; what is written to the workspace is kept apart until you take it`,
  };
}

/** Says what of the workspace is held besides, and what is not. */
function withGuard(item: SandboxItem, guard: WorkspaceGuard): SandboxItem {
  const { readOnly, isComplete } = guard;
  if (item.aspect !== "files" || (readOnly.length === 0 && isComplete)) return item;
  const held = `${item.reason}; ${readOnly.length} places of the workspace that other programs run by themselves are read-only`;
  const why = whyUnheld(guard);
  return why === undefined
    ? { ...item, reason: held }
    : { ...item, enforcement: "partial", reason: `${held}; ${why.reason}`, fix: why.fix };
}

/** What the agent can write although other programs run it. */
function whyUnheld({ unheld, isComplete }: WorkspaceGuard): Partially | undefined {
  if (isComplete) return undefined;
  const [first] = unheld;
  const reason =
    first === undefined
      ? "the workspace is too large, or has folders whose names are not UTF-8, to find all places that other programs run by themselves"
      : `places of the workspace that other programs run by themselves are not held: ${unheld.length}, such as ${escapeText(first)}`;
  return {
    level: "partial",
    reason,
    fix: "Name a smaller workspace, or use --review or --read-only",
  };
}

type Partially = Required<Pick<SandboxReport, "level" | "reason" | "fix">>;

function whyPartial(
  unixSockets: NamespaceFacts["unixSockets"],
  sockets: readonly string[],
  children: Required<SandboxItem> | undefined,
): Partially | undefined {
  if (unixSockets === "private" && sockets.length > 0) {
    const reason = `sockets in the workspace lead out: ${sockets.slice(0, 3).join(", ")}`;
    return {
      level: "partial",
      reason,
      fix: "Leave Unix sockets refused, or move the sockets out of the workspace",
    };
  }
  return children === undefined
    ? undefined
    : { level: "partial", reason: children.reason, fix: children.fix };
}

/**
 * Bubblewrap's first process can be written by the agent, whose user it has, and it is not below
 * the limits.
 */
function withoutInit({ reason, fix }: MissingHelper): Required<SandboxItem> {
  const what =
    "the agent can take over the first process of its namespace, go past the limit of processes and outlive its own end";
  return { aspect: "child_processes", enforcement: "partial", reason: `${what}: ${reason}`, fix };
}

/** The report where it cannot start. */
export function makeObstacleReport({ reason, fix }: Obstacle): SandboxReport {
  const aspects: readonly SandboxAspect[] = [
    ...ENFORCED.map(([aspect]) => aspect),
    "path_sockets",
    "resource_caps",
  ];
  return {
    sandbox: "namespace",
    isAvailable: false,
    level: "none",
    reason,
    fix,
    dns: "closed",
    items: aspects.map((aspect) => ({
      aspect,
      enforcement: "none",
      reason: "this sandbox cannot start here",
      fix,
    })),
  };
}

function pathSockets(
  unixSockets: NamespaceFacts["unixSockets"],
  sockets: readonly string[],
): SandboxItem {
  const aspect = "path_sockets";
  if (unixSockets === "none")
    return {
      aspect,
      enforcement: "enforced",
      reason: "Unix sockets are refused, also in the workspace",
    };
  if (sockets.length === 0)
    return {
      aspect,
      enforcement: "enforced",
      reason: "private ones only: no socket of the host is in sight",
    };
  return {
    aspect,
    enforcement: "partial",
    reason: `programs of the host listen on ${sockets.length} in the workspace: ${sockets.slice(0, 3).join(", ")}`,
    fix: "Leave Unix sockets refused, or move the sockets out of the workspace",
  };
}
