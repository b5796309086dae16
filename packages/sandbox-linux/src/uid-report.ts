/**
 * UID report: what rules on a uid hold, and what they leave, item by item. Pure. Format:
 * spec/sandbox.md. For people: docs/explanation/what-a-sandbox-holds.md.
 */
import type { SandboxItem, SandboxReport } from "@acp/core";

/** What is there on this host, and what was asked for. */
export interface UidFacts {
  /** Why there is no filter of system calls, where there is none. */
  readonly noFilter: { readonly reason: string; readonly fix: string } | undefined;
  /** Why the rules do not name the agent's cgroup, where they do not. */
  readonly noCgroup: string | undefined;
  readonly dns: "closed" | "system";
  readonly unixSockets: "none" | "private";
}

/** The report of an agent that can be, or is, held by rules on its uid. */
export function makeUidReport(facts: UidFacts): SandboxReport {
  const weak = weaknessOf(facts);
  const items = [...networkItems(facts), ...socketItems(facts), ...processItems(facts)];
  const isClosed = items.some(
    ({ aspect, enforcement }) => aspect === "dns" && enforcement === "enforced",
  );
  return {
    sandbox: "uid",
    isAvailable: true,
    level: weak === undefined ? "uid" : "partial",
    reason:
      weak?.reason ??
      "nftables holds the agent's user to the proxy; files and programs of the host are in its sight",
    fix: weak?.fix ?? "use the namespace sandbox",
    dns: isClosed ? "closed" : "open",
    items,
  };
}

/** The report where it cannot start. */
export function makeUnavailableReport(reason: string, fix?: string): SandboxReport {
  const { items } = makeUidReport({
    noFilter: undefined,
    noCgroup: undefined,
    dns: "closed",
    unixSockets: "none",
  });
  return {
    sandbox: "uid",
    isAvailable: false,
    level: "none",
    reason,
    ...(fix !== undefined && { fix }),
    dns: "open",
    items: items.map(({ aspect }) => ({
      aspect,
      enforcement: "none",
      reason: "it cannot start here",
    })),
  };
}

function networkItems(facts: UidFacts): readonly SandboxItem[] {
  const weak = weaknessOf(facts);
  const held = (aspect: SandboxItem["aspect"], reason: string): SandboxItem =>
    weak === undefined
      ? { aspect, enforcement: "enforced", reason }
      : { aspect, enforcement: "partial", ...weak };
  const always = (aspect: SandboxItem["aspect"], reason: string): SandboxItem => ({
    aspect,
    enforcement: "enforced",
    reason,
  });
  return [
    held("tcp", "nftables rejects all but the proxy's port on 127.0.0.1"),
    held("udp", "nftables rejects datagrams of the agent's user"),
    always("icmp", "nftables rejects what the agent's user sends"),
    always("raw", "the agent has no capabilities and no way to get any"),
    held("ipv6", "the rules are for both versions"),
    dnsItem(facts.dns, facts.noFilter === undefined && facts.unixSockets === "none"),
  ];
}

/** What gets past rules on a uid, where something does. */
function weaknessOf({
  dns,
  noFilter,
  noCgroup,
}: UidFacts): { readonly reason: string; readonly fix: string } | undefined {
  if (dns === "system")
    return {
      reason: "port 53 of the host's name servers is open",
      fix: "leave DNS closed: the proxy resolves names",
    };
  if (noFilter === undefined || noCgroup === undefined) return undefined;
  return {
    reason:
      "sockets that the kernel opens for the agent, as for RxRPC, have no uid that the rules would see",
    fix: noFilter.fix,
  };
}

function dnsItem(dns: UidFacts["dns"], hasNoUnixSockets: boolean): SandboxItem {
  if (dns === "system") {
    const fix = "leave DNS closed: the proxy resolves names";
    return {
      aspect: "dns",
      enforcement: "none",
      reason:
        "port 53 of the host's name servers is open, and they pass questions on to any server",
      fix,
    };
  }
  if (hasNoUnixSockets)
    return {
      aspect: "dns",
      enforcement: "enforced",
      reason: "no name server and no resolver's socket can be reached",
    };
  const reason =
    "port 53 is closed; a program of the host with a Unix socket, such as nscd or systemd-resolved, may ask for the agent";
  return {
    aspect: "dns",
    enforcement: "partial",
    reason,
    fix: "let a filter refuse Unix sockets: install a C compiler and do not ask for Unix sockets",
  };
}

function socketItems({ noFilter, unixSockets }: UidFacts): readonly SandboxItem[] {
  const filtered = (aspect: SandboxItem["aspect"], without: string): SandboxItem =>
    noFilter === undefined
      ? { aspect, enforcement: "enforced", reason: "a filter of system calls refuses it" }
      : {
          aspect,
          enforcement: "none",
          reason: `${without}: ${noFilter.reason}`,
          fix: noFilter.fix,
        };
  const unix = (aspect: "path_sockets" | "abstract_sockets", reason: string): SandboxItem =>
    unixSockets === "none"
      ? filtered(aspect, reason)
      : {
          aspect,
          enforcement: "none",
          reason: `${reason}; Unix sockets were asked for`,
          fix: "do not ask for Unix sockets",
        };
  return [
    unix("path_sockets", "sockets of the host are open to the agent as their files' modes say"),
    unix("abstract_sockets", "sockets of the host are open to the agent"),
    filtered("vsock", "nothing refuses AF_VSOCK"),
    noFilter === undefined
      ? filtered("io_uring", "")
      : {
          aspect: "io_uring",
          enforcement: "partial",
          reason: "its packets are held, its other calls are not filtered",
          fix: noFilter.fix,
        },
  ];
}

function processItems({ noCgroup }: UidFacts): readonly SandboxItem[] {
  const matched =
    noCgroup === undefined
      ? "the rules name the uid and the cgroup"
      : `the rules name the uid (not the cgroup: ${noCgroup})`;
  const held = (aspect: SandboxItem["aspect"], reason: string): SandboxItem => ({
    aspect,
    enforcement: "enforced",
    reason,
  });
  return [
    held("child_processes", `${matched}; whatever it starts ends with it`),
    held("static_binaries", "the kernel looks at packets, not at programs"),
    {
      aspect: "files",
      enforcement: "partial",
      reason: "the agent reads and writes what its user may",
      fix: "use the namespace sandbox",
    },
    held("signals", "a pid namespace of its own, and another user"),
    {
      aspect: "resource_caps",
      enforcement: "partial",
      reason:
        "processes and open files are limited, memory where the host has a controller for it; disk is not",
      fix: "use the namespace sandbox, or give the user a disk quota",
    },
  ];
}
