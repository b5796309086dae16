/**
 * Sandbox: a boundary around an agent that states what it enforces and denies the rest. Types only.
 * Source: S0 §2.2, S1 §2.2; format of a report: spec/sandbox.md. Conformance and escape attempts:
 * @acp/testing.
 */

/**
 * What a boundary amounts to: `full` (no way out but the gate), `uid` (no way to the network but
 * the gate for this system user), `partial` (named ways remain), `advisory` (works on programs that
 * do not resist), `none`.
 */
export type SandboxLevel = "full" | "uid" | "partial" | "advisory" | "none";

/** One way around a gate, or one thing to protect. */
export type SandboxAspect =
  | "tcp"
  | "udp"
  | "icmp"
  | "raw"
  | "ipv6"
  | "dns"
  | "path_sockets"
  | "abstract_sockets"
  | "vsock"
  | "io_uring"
  | "child_processes"
  | "static_binaries"
  | "files"
  | "signals"
  | "resource_caps";

/** Whether an aspect is held by the kernel: wholly, in part, or not at all. */
export type Enforcement = "enforced" | "partial" | "none";

/** One line of a report. */
export interface SandboxItem {
  /** What it is about. */
  readonly aspect: SandboxAspect;
  /** How far it is held. */
  readonly enforcement: Enforcement;
  /** Why it is so, one line. */
  readonly reason: string;
  /** What would make it better, where something would. */
  readonly fix?: string;
}

/** What a sandbox can enforce on this host. */
export interface SandboxReport {
  /** {@link Sandbox.name}. */
  readonly sandbox: string;
  /** Whether it can start here at all; where it cannot, the level is `none`. */
  readonly isAvailable: boolean;
  /** What the boundary amounts to. */
  readonly level: SandboxLevel;
  /** Why this level, one line. */
  readonly reason: string;
  /** What would raise the level, where something would. */
  readonly fix?: string;
  /** Whether the agent can ask the host's resolver, past the gate. */
  readonly dns: "closed" | "open";
  /** One item an aspect, every aspect once. */
  readonly items: readonly SandboxItem[];
}

/** How an agent ended: by an exit code, or by a signal. */
export type SandboxExit =
  | {
      /** Exit code, 0 to 255; `undefined` where a signal ended it. */
      readonly code: number;
      /** Name of the signal that ended it, e.g. `SIGKILL`; `undefined` where it exited. */
      readonly signal: undefined;
    }
  | {
      /** Exit code, 0 to 255; `undefined` where a signal ended it. */
      readonly code: undefined;
      /** Name of the signal that ended it, e.g. `SIGKILL`; `undefined` where it exited. */
      readonly signal: string;
    };

/** What an agent finds inside. */
export interface SandboxInside {
  /** The proxy's port on 127.0.0.1. */
  readonly port: number;
  /** The directory of {@link SandboxSpawnOptions.files}, as a path inside. */
  readonly files: string;
  /** A directory of the agent's own, writable and private, for `HOME`. */
  readonly home: string;
}

/** How to start an agent. `Socket` is the platform's own: on Node, that of node:net. */
export interface SandboxSpawnOptions<Socket = unknown> {
  /** Takes a connection of this agent to the proxy's port. */
  readonly onConnection: (socket: Socket) => void;
  /**
   * Further ports of 127.0.0.1 as the agent sees it, and who takes their connections. For sandboxes
   * whose agent has a loopback of its own; others refuse.
   */
  readonly ports?: ReadonlyMap<number, (socket: Socket) => void>;
  /** The agent's whole environment; nothing of the manager's own is passed on. */
  readonly env: (inside: SandboxInside) => Readonly<Record<string, string>>;
  /** Files to show to the agent, read-only: name → path on the host. */
  readonly files?: Readonly<Record<string, string>>;
  /** Working directory, as the agent sees it. */
  readonly cwd?: string;
  /**
   * `inherit` passes the terminal and the standard streams through, `pipe` gives stdin and stdout
   * to the manager.
   */
  readonly stdio?: "inherit" | "pipe";
  /** Where the agent's standard error goes: ours unless given, or a pipe to the manager. */
  readonly stderr?: "inherit" | "pipe";
  /** The least level to start with. */
  readonly requiredLevel?: SandboxLevel;
  /** Ends the agent and everything it started. */
  readonly signal?: AbortSignal | undefined;
}

/** An agent that runs. */
export interface SandboxedProcess {
  /** What is in force for this very process. */
  readonly report: SandboxReport;
  /** Its process id on the host. */
  readonly pid: number;
  /** Settles (never rejects) when the agent and everything it started is gone. */
  readonly exited: Promise<SandboxExit>;
  /** Sends a signal to the agent, not to what it started. */
  kill(signal: string): void;
  /** Ends the agent and everything it started, and removes what was set up for it. */
  close(): Promise<void>;
}

/** A boundary. */
export interface Sandbox<Socket = unknown> {
  /** Stable name written to the audit log, e.g. `namespace`. */
  readonly name: string;
  /** What it can enforce here: found by trying. Never throws for a no. */
  probe(): Promise<SandboxReport>;
  /**
   * Starts the agent after a self-check inside: the proxy is reachable; one TCP, one UDP and one
   * Unix canary are not, where the report says so.
   *
   * @throws ConsentError `sandbox_unavailable` where it cannot start here or not at the required
   *   level, `sandbox_failed` where the self-check or
   *   the start fails, `options_invalid`. Nothing is left running.
   */
  spawn(argv: readonly string[], options: SandboxSpawnOptions<Socket>): Promise<SandboxedProcess>;
}
