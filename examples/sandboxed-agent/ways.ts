/**
 * The ways that the agent tries to carry the file out, in order. Each leads to a listener of its
 * own.
 */

/** One way. */
export interface Way {
  /** What agent.mjs calls it. */
  readonly name: string;
  readonly tells: string;
  /** What listens at its end. */
  readonly listener: "tcp" | "udp" | "http";
  /**
   * Which of this machine's own addresses it leads to; 127.0.0.1 is the agent's own where it has a
   * loopback of its own.
   */
  readonly address: string;
  /** The last one is what the agent is for. */
  readonly isAllowed: boolean;
}

/** All of them. */
export const WAYS: readonly Way[] = [
  {
    name: "tcp",
    tells: "a TCP connection of its own",
    listener: "tcp",
    address: "127.0.0.1",
    isAllowed: false,
  },
  {
    name: "dns",
    tells: "a DNS question that is the file",
    listener: "udp",
    address: "127.0.0.1",
    isAllowed: false,
  },
  {
    name: "unset",
    tells: "fetch without the proxy variables",
    listener: "http",
    address: "127.0.0.1",
    isAllowed: false,
  },
  {
    name: "daemon",
    tells: "a shell that is left behind",
    listener: "tcp",
    address: "127.0.0.1",
    isAllowed: false,
  },
  {
    name: "proxy",
    tells: "the proxy, to another host",
    listener: "http",
    address: "127.0.0.2",
    isAllowed: false,
  },
  {
    name: "allowed",
    tells: "the proxy, to its own service",
    listener: "http",
    address: "127.0.0.3",
    isAllowed: true,
  },
];
