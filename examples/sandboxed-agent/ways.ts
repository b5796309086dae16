/**
 * The ways that the agent tries to carry the file out, in order. Each leads to a listener of its own.
 */

/** One way. */
export interface Way {
  /** What agent.mjs calls it. */
  readonly name: string;
  readonly tells: string;
  /** What listens at its end. */
  readonly listener: "tcp" | "udp" | "http";
  /** The last one is what the agent is for. */
  readonly isAllowed: boolean;
}

/** All of them. */
export const WAYS: readonly Way[] = [
  { name: "tcp", tells: "a TCP connection of its own", listener: "tcp", isAllowed: false },
  { name: "dns", tells: "a DNS question that is the file", listener: "udp", isAllowed: false },
  { name: "unset", tells: "fetch without the proxy variables", listener: "http", isAllowed: false },
  { name: "daemon", tells: "a shell that is left behind", listener: "tcp", isAllowed: false },
  { name: "proxy", tells: "the proxy, to another host", listener: "http", isAllowed: false },
  { name: "allowed", tells: "the proxy, to its own service", listener: "http", isAllowed: true },
];
