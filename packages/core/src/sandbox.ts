/**
 * Sandbox: a boundary around an agent that states what it enforces and denies the rest. Types only.
 * Source: S0 §2.2, S1 §2.2; format of a report: spec/sandbox.md. Conformance and escape attempts:
 * @acp/testing.
 */

/**
 * What a boundary amounts to. `full`: the gate is the only way out. `uid`: for the agent's own
 * system user, the gate is the only way to the network. `partial`: named ways remain. `advisory`:
 * it works for programs that do not resist. `none`: nothing.
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

/** A boundary around an agent, of one kind. */
export interface SandboxItem {
  /** What it is about. */
  readonly aspect: SandboxAspect;
  /** How far it is held. */
  readonly enforcement: Enforcement;
  /** Why it is so, one line. */
  readonly reason: string;
  /** What would improve it; absent where nothing would. */
  readonly fix?: string;
}

/** What a sandbox enforces on this host. Format: spec/sandbox.md. */
export interface SandboxReport {
  /** Name of the sandbox: {@link Sandbox.name}. */
  readonly sandbox: string;
  /** Whether it can start here at all; where it cannot, the level is `none`. */
  readonly isAvailable: boolean;
  /** What the boundary amounts to. */
  readonly level: SandboxLevel;
  /** Why this level, one line. */
  readonly reason: string;
  /** What would raise the level; absent where nothing would. */
  readonly fix?: string;
  /** Whether the agent can reach the host's resolver without the gate. */
  readonly dns: "closed" | "open";
  /** One item per aspect; every aspect is there once. */
  readonly items: readonly SandboxItem[];
}

/** How an agent ended: by an exit code, or by a signal. */
export type SandboxExit =
  | {
      /** Exit code, 0 to 255. */
      readonly code: number;
      /** `undefined`: no signal ended it. */
      readonly signal: undefined;
    }
  | {
      /** `undefined`: it did not exit by itself. */
      readonly code: undefined;
      /** Name of the signal that ended it, e.g. `SIGKILL`. */
      readonly signal: string;
    };

/** What an agent finds inside its sandbox. */
export interface SandboxInside {
  /** The proxy's port on 127.0.0.1. */
  readonly port: number;
  /** The directory of {@link SandboxSpawnOptions.files}, as a path inside. */
  readonly files: string;
  /** A private, writable directory of the agent's own, for `HOME`. */
  readonly home: string;
}

/** How to start an agent. `Socket` is the platform's own: on Node, that of node:net. */
export interface SandboxSpawnOptions<Socket = unknown> {
  /** Takes a connection of this agent to the proxy's port. */
  readonly onConnection: (socket: Socket) => void;
  /**
   * Further ports of the agent's 127.0.0.1, and who takes their connections. Only sandboxes whose
   * agent has a loopback of its own support it; the others refuse.
   */
  readonly ports?: ReadonlyMap<number, (socket: Socket) => void>;
  /** The agent's whole environment; nothing of this process's environment is passed on. */
  readonly env: (inside: SandboxInside) => Readonly<Record<string, string>>;
  /** Files to show to the agent, read-only: name → path on the host. */
  readonly files?: Readonly<Record<string, string>>;
  /** Working directory, as a path inside. */
  readonly cwd?: string;
  /**
   * `inherit`, the default, passes the terminal and the standard streams through; `pipe` gives
   * stdin and stdout to the caller.
   */
  readonly stdio?: "inherit" | "pipe";
  /**
   * Where the agent's standard error goes: to this process's own unless given, or into a pipe to
   * the caller.
   */
  readonly stderr?: "inherit" | "pipe";
  /** The least level to start with; at a lower one nothing starts. */
  readonly requiredLevel?: SandboxLevel;
  /** Ends the agent and everything it started. */
  readonly signal?: AbortSignal | undefined;
}

/** An agent that runs in a sandbox. */
export interface SandboxedProcess {
  /** What is enforced for this process. */
  readonly report: SandboxReport;
  /** Its process id on the host. */
  readonly pid: number;
  /** Settles (never rejects) when the agent and everything it started are gone. */
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
  /**
   * Finds out by trying what it can enforce here. A sandbox that cannot start is a report, not an
   * error.
   */
  probe(): Promise<SandboxReport>;
  /**
   * Starts the agent after a self-check inside: the proxy is reachable, and one TCP, one UDP and
   * one Unix canary are not, where the report says so.
   *
   * @param argv - The program and its arguments.
   * @throws ConsentError `sandbox_unavailable` where it cannot start here or not at the required
   *   level, `sandbox_failed` where the self-check or the start fails, or `options_invalid`.
   *   Nothing is left running.
   */
  spawn(argv: readonly string[], options: SandboxSpawnOptions<Socket>): Promise<SandboxedProcess>;
}
