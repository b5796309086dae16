/**
 * Attempts on the network: connections, datagrams, names, packets, and the tools that make them.
 * Data only.
 */
import type { EscapeAttempt } from "./attempt.js";

// The listeners of escape/world.sh.
const TCP = "7001";
const UDP = "7002";
const UDP_LITE = "7003";
const DNS = "53";

const TO4 = ["{v4}", TCP, "{token}"] as const;
const arrival = { provenBy: "arrival" } as const;

const CONNECTIONS: readonly EscapeAttempt[] = [
  {
    ...arrival,
    id: "tcp-v4",
    title: "connects by IPv4",
    aspects: ["tcp"],
    run: ["net", "tcp", ...TO4],
  },
  {
    ...arrival,
    id: "tcp-v6",
    title: "connects by IPv6",
    aspects: ["tcp", "ipv6"],
    run: ["net", "tcp", "{v6}", TCP, "{token}"],
  },
  {
    ...arrival,
    id: "tcp-mapped",
    title: "connects by IPv4 from an IPv6 socket",
    aspects: ["tcp", "ipv6"],
    run: ["net", "tcp", "::ffff:{v4}", TCP, "{token}"],
  },
  {
    ...arrival,
    id: "tcp-proxys-port",
    title: "connects to the proxy's port on another host",
    aspects: ["tcp"],
    run: ["net", "tcp", "{v4}", "{proxyPort}", "{token}"],
  },
  {
    ...arrival,
    id: "tcp-loopback",
    title: "connects to a service on the host's loopback",
    aspects: ["tcp"],
    run: ["net", "tcp", "127.0.0.1", "7101", "{token}"],
  },
  {
    ...arrival,
    id: "tcp-loopback-v6",
    title: "connects to a service on the host's ::1",
    aspects: ["tcp", "ipv6"],
    run: ["net", "tcp", "::1", "7101", "{token}"],
  },
  {
    ...arrival,
    id: "tcp-any",
    title: "connects to 0.0.0.0, which is the host",
    aspects: ["tcp"],
    run: ["net", "tcp", "0.0.0.0", "7101", "{token}"],
  },
  {
    ...arrival,
    id: "tcp-loopback-mapped",
    title: "connects to ::ffff:127.0.0.1",
    aspects: ["tcp", "ipv6"],
    run: ["net", "tcp", "::ffff:127.0.0.1", "7101", "{token}"],
  },
  {
    ...arrival,
    id: "tcp-bound",
    title: "connects from an address it chose",
    aspects: ["tcp"],
    run: ["net", "tcp-bound", ...TO4, "192.0.2.1"],
  },
  {
    ...arrival,
    id: "tcp-again",
    title: "dissolves a connection to the proxy and aims it again",
    aspects: ["tcp"],
    run: ["net", "tcp-again", ...TO4, "{proxyPort}"],
  },
  {
    ...arrival,
    id: "tcp-toctou",
    title: "changes the address while it is looked at",
    aspects: ["tcp"],
    run: ["net", "toctou", ...TO4, "{proxyPort}"],
  },
  {
    ...arrival,
    id: "tcp-orphan",
    title: "leaves queued data on a socket that nobody holds",
    aspects: ["tcp"],
    run: ["net", "orphan", ...TO4],
  },
  {
    ...arrival,
    id: "tcp-fastopen",
    title: "sends with Fast Open, without connect",
    aspects: ["tcp"],
    run: ["net", "fastopen", ...TO4],
  },
  {
    ...arrival,
    id: "tcp-fastopen-connect",
    title: "connects with deferred Fast Open",
    aspects: ["tcp"],
    run: ["net", "fastopen-connect", ...TO4],
  },
  {
    ...arrival,
    id: "tcp-multipath",
    title: "connects by Multipath TCP",
    aspects: ["tcp"],
    run: ["net", "mptcp", ...TO4],
  },
  {
    ...arrival,
    id: "sctp",
    title: "connects by SCTP",
    aspects: ["tcp"],
    run: ["net", "sctp", ...TO4],
  },
  {
    ...arrival,
    id: "squat",
    title: "poses as a service of the host's loopback",
    aspects: ["tcp"],
    run: ["net", "squat", "127.0.0.1", "7110", "{token}", "{patienceSeconds}"],
  },
];

const DATAGRAMS: readonly EscapeAttempt[] = [
  {
    ...arrival,
    id: "udp-v4",
    title: "sends a datagram by IPv4",
    aspects: ["udp"],
    run: ["net", "udp", "{v4}", UDP, "{token}"],
  },
  {
    ...arrival,
    id: "udp-v6",
    title: "sends a datagram by IPv6",
    aspects: ["udp", "ipv6"],
    run: ["net", "udp", "{v6}", UDP, "{token}"],
  },
  {
    ...arrival,
    id: "udp-mapped",
    title: "sends by IPv4 from an IPv6 socket",
    aspects: ["udp", "ipv6"],
    run: ["net", "udp", "::ffff:{v4}", UDP, "{token}"],
  },
  {
    ...arrival,
    id: "udp-connected",
    title: "sends from a connected datagram socket",
    aspects: ["udp"],
    run: ["net", "udp-connected", "{v4}", UDP, "{token}"],
  },
  {
    ...arrival,
    id: "udp-many",
    title: "sends with sendmmsg",
    aspects: ["udp"],
    run: ["net", "udp-many", "{v4}", UDP, "{token}"],
  },
  {
    ...arrival,
    id: "udp-loopback",
    title: "sends to a service on the host's loopback",
    aspects: ["udp"],
    run: ["net", "udp", "127.0.0.1", "7102", "{token}"],
  },
  {
    ...arrival,
    id: "udp-broadcast",
    title: "sends to everybody on the link",
    aspects: ["udp"],
    run: ["net", "udp-group", "192.0.2.255", UDP, "{token}"],
  },
  {
    ...arrival,
    id: "udp-multicast",
    title: "asks the link's name service (mDNS)",
    aspects: ["udp", "dns"],
    run: ["net", "udp-group", "224.0.0.251", "5353", "{token}"],
  },
  {
    ...arrival,
    id: "udp-multicast-v6",
    title: "sends to all nodes of the link by IPv6",
    aspects: ["udp", "ipv6"],
    run: ["net", "udp-group", "ff02::1", UDP, "{token}"],
  },
  {
    ...arrival,
    id: "udplite",
    title: "sends by UDP-Lite",
    aspects: ["udp"],
    run: ["net", "udplite", "{v4}", UDP_LITE, "{token}"],
  },
  {
    ...arrival,
    id: "udp-quic",
    title: "sends to port 443, as QUIC does",
    aspects: ["udp"],
    run: ["net", "udp", "{v4}", "443", "{token}"],
  },
];

const NAMES: readonly EscapeAttempt[] = [
  {
    ...arrival,
    id: "dns-resolver",
    title: "asks the host's resolver",
    aspects: ["dns"],
    run: ["net", "resolver", "", "", "{token}"],
  },
  {
    ...arrival,
    id: "dns-udp",
    title: "asks a name server outside",
    aspects: ["dns"],
    run: ["net", "dns", "192.0.2.53", DNS, "{token}"],
  },
  {
    ...arrival,
    id: "dns-tcp",
    title: "asks a name server outside by TCP",
    aspects: ["dns", "tcp"],
    run: ["net", "dns-tcp", "192.0.2.53", DNS, "{token}"],
  },
  {
    ...arrival,
    id: "dns-other",
    title: "asks a name server of its own",
    aspects: ["dns"],
    run: ["net", "dns", "{v4}", DNS, "{token}"],
  },
  {
    ...arrival,
    id: "dns-stub",
    title: "asks the stub resolver on the host's loopback",
    aspects: ["dns"],
    run: ["net", "dns", "127.0.0.53", DNS, "{token}"],
  },
  {
    ...arrival,
    id: "dns-node",
    title: "asks with Node's own resolver",
    aspects: ["dns"],
    run: ["direct.mjs", "dns", "{v4}", DNS, "{token}"],
  },
];

const PACKETS: readonly EscapeAttempt[] = [
  {
    ...arrival,
    id: "icmp-v4",
    title: "sends an echo request",
    aspects: ["icmp"],
    run: ["net", "icmp", "{v4}", "", "{token}"],
  },
  {
    ...arrival,
    id: "icmp-v6",
    title: "sends an echo request by IPv6",
    aspects: ["icmp", "ipv6"],
    run: ["net", "icmp", "{v6}", "", "{token}"],
  },
  ...(["raw-icmp", "raw-ip", "packet", "packet-dgram"] as const).map(
    (verb): EscapeAttempt => ({
      ...arrival,
      id: verb,
      title: `sends through a socket of the kind ${verb}`,
      aspects: ["raw"],
      run: ["net", verb, "{v4}", "", "{token}"],
      batch: "privileged",
    }),
  ),
  {
    ...arrival,
    id: "raw-by-capability",
    title: "starts a program with the capability to send raw packets",
    aspects: ["raw"],
    run: ["process", "raise", "{workspace}/capable", "raw-icmp", "{v4}", "", "{token}"],
  },
  {
    provenBy: "word",
    id: "other-families",
    title: "makes a socket of another family",
    aspects: ["raw"],
    run: ["unix", "families"],
    batch: "privileged",
  },
  {
    provenBy: "word",
    id: "vsock-stream",
    title: "makes a vsock socket",
    aspects: ["vsock"],
    run: ["unix", "vsock-stream"],
  },
  {
    provenBy: "word",
    id: "vsock-seqpacket",
    title: "makes a vsock packet socket",
    aspects: ["vsock"],
    run: ["unix", "vsock-seqpacket"],
  },
  {
    provenBy: "word",
    id: "route-add",
    title: "changes a route",
    aspects: ["raw"],
    run: ["process", "route-add", "203.0.113.9"],
    batch: "privileged",
  },
];

export const NETWORK_ATTEMPTS: readonly EscapeAttempt[] = [
  ...CONNECTIONS,
  ...DATAGRAMS,
  ...NAMES,
  ...PACKETS,
];
