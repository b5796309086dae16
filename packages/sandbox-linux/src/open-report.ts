/**
 * Open report: what preload and env hold, which is nothing. A library or a variable asks a program
 * to go to the gate; the kernel refuses nothing. Pure.
 */
import type { SandboxAspect, SandboxItem, SandboxReport } from "@acp/core";
import type { NativeHelper } from "./native-helper.js";

const ASPECTS = [
  ...([
    "tcp",
    "udp",
    "icmp",
    "raw",
    "ipv6",
    "dns",
    "path_sockets",
    "abstract_sockets",
    "vsock",
    "io_uring",
  ] as const),
  ...(["child_processes", "static_binaries", "files", "signals", "resource_caps"] as const),
] as const satisfies readonly SandboxAspect[];

/** What a report of an open sandbox says of itself. */
export interface OpenFacts {
  readonly sandbox: "preload" | "env";
  readonly level: "advisory" | "none";
  readonly reason: string;
  /** Of the network's items. */
  readonly network: string;
  /** Without it nobody ends what the agent leaves behind. */
  readonly helper: NativeHelper;
}

const FIX = "Use the namespace sandbox";

/** The report of one that can start. */
export function makeOpenReport({
  sandbox,
  level,
  reason,
  network,
  helper,
}: OpenFacts): SandboxReport {
  const left = helper.isAvailable
    ? "children may drop the variables; what still runs ends with the agent"
    : `children may drop the variables and outlive the agent: ${helper.reason}`;
  const reasons: Partial<Record<SandboxAspect, string>> = {
    tcp: network,
    static_binaries:
      "a program that ignores the library and the variables connects wherever it likes",
    child_processes: left,
    files: "the agent reads and writes what its user may",
    signals: "the agent may send signals to its user's processes",
    resource_caps: "no limits are set",
  };
  const items = ASPECTS.map(
    (aspect): SandboxItem => ({
      aspect,
      enforcement: "none",
      reason: reasons[aspect] ?? "nothing holds it",
      fix: FIX,
    }),
  );
  return { sandbox, isAvailable: true, level, reason, fix: FIX, dns: "open", items };
}

/** The report of one that cannot. */
export function makeOpenObstacle(
  sandbox: OpenFacts["sandbox"],
  { reason, fix }: { readonly reason: string; readonly fix: string },
): SandboxReport {
  const items = ASPECTS.map(
    (aspect): SandboxItem => ({
      aspect,
      enforcement: "none",
      reason: "this sandbox cannot start here",
      fix,
    }),
  );
  return { sandbox, isAvailable: false, level: "none", reason, fix, dns: "open", items };
}
