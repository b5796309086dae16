/**
 * Parts: what the files of this package hand to each other. Types only.
 */
import type { ChildProcess } from "node:child_process";
import type { Server, Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import type {
  ConsentError,
  Sandbox,
  SandboxedProcess,
  SandboxReport,
  SandboxSpawnOptions,
} from "@acp/core";

/** Names of the backends, strongest first. */
export type LinuxSandboxName = "namespace" | "uid" | "landlock" | "preload" | "env";

/** A backend of this package. */
export interface LinuxSandbox extends Sandbox<Socket> {
  /** Which backend it is. */
  readonly name: LinuxSandboxName;
  /**
   * Starts everything except the agent's own command: the boundary is in place, and the self-check
   * inside has passed. Use it to know what is enforced before the command runs; unlike a probe, the
   * report is about this very start.
   *
   * @throws ConsentError as `spawn`. Nothing is left running.
   */
  hold(argv: readonly string[], options: HoldOptions): Promise<HeldAgent>;
  /**
   * Starts a program inside, and resolves when the self-check has passed.
   *
   * @throws ConsentError `sandbox_unavailable`, `sandbox_failed` or `options_invalid`. Nothing is
   *   left running.
   */
  spawn(
    argv: readonly string[],
    options: SandboxSpawnOptions<Socket>,
  ): Promise<LinuxSandboxedProcess>;
}

/**
 * Options of {@link LinuxSandbox.hold}: as for `spawn`, except that {@link HeldAgent.go} says who
 * takes the agent's connections.
 */
export interface HoldOptions extends Omit<SandboxSpawnOptions<Socket>, "onConnection" | "ports"> {
  /** Further ports of the agent's own loopback; none unless given. */
  readonly ports?: readonly number[];
}

/** Who takes an agent's connections. */
export type ConnectionTakers = Pick<SandboxSpawnOptions<Socket>, "onConnection" | "ports">;

/** An agent whose command has not begun. Call `go` or `close`, once. */
export interface HeldAgent {
  /** What is enforced for it. */
  readonly report: SandboxReport;
  /**
   * What the agent finds under the host's paths, where its workspace is an overlay; usable until
   * the agent ends. Absent otherwise.
   */
  readonly view?: AgentView;
  /**
   * Paths of the workspace that other programs run later by themselves, as the sandbox found them;
   * absent where it did not look.
   */
  readonly persistent?: readonly string[];
  /**
   * Calls `hear` for each protected path that somebody outside has changed, also for changes before
   * the call; absent where no path is watched.
   */
  readonly onHeldName?: (hear: (change: HeldNameChange) => void) => void;
  /**
   * Those of `persistent` that the agent can nevertheless write; absent where the sandbox did not
   * look.
   */
  readonly unheld?: readonly string[];
  /**
   * Lets the command begin.
   *
   * @throws ConsentError `sandbox_failed` where the sandbox ended meanwhile, `aborted` after its
   *   signal. Nothing is left running.
   */
  go(takers: ConnectionTakers): Promise<LinuxSandboxedProcess>;
  /** Ends the agent before its command begins. */
  close(): Promise<void>;
}

/**
 * What an agent finds under the host's paths, for another sandbox to show as well: see {@link
 * ConfinementOptions.view}. Only one that a {@link HeldAgent} returned works.
 */
export interface AgentView {
  /** The real path of the workspace that is an overlay there. */
  readonly workspace: string;
}

/**
 * An agent that a backend of this package runs; with `stdio: "pipe"` its standard input and output
 * are here, with `stderr: "pipe"` its standard error.
 */
export interface LinuxSandboxedProcess extends SandboxedProcess {
  /** Standard input of the agent; `undefined` unless it is a pipe. */
  readonly stdin: Writable | undefined;
  /** Standard output of the agent; `undefined` unless it is a pipe. */
  readonly stdout: Readable | undefined;
  /** Standard error of the agent; `undefined` unless it is a pipe. */
  readonly stderr: Readable | undefined;
  /** Why the sandbox ended the agent; returns `undefined` where it did not. */
  readonly failure?: () => ConsentError | undefined;
}

/** What somebody outside did to a protected file while an agent runs. */
export interface HeldNameChange {
  /** Absolute path of the file. */
  readonly place: string;
  /**
   * `held`: there is a new file, which the agent cannot write either. `gone`: nothing has that name
   * anymore, and nothing protects it.
   */
  readonly state: "held" | "gone";
  /** Identifies the new file: see {@link fileKey}. Empty with `gone`. */
  readonly key: string;
}

/** A directory of the host that the agent works in. */
export interface Workspace {
  /** Absolute path on the host; the agent sees it under the same path. */
  readonly path: string;
  /**
   * What the agent may do in it. With `overlay` it writes into `layers`, and the workspace does not
   * change; only the backend `namespace` supports that.
   */
  readonly access: "read-write" | "read-only" | "overlay";
  /**
   * With `overlay`: a directory for this workspace and agent only, in a place that stays hidden. It
   * outlasts the agent.
   */
  readonly layers?: string;
  /**
   * Absolute paths in it that stay writable although other programs run them by themselves; none
   * unless given.
   */
  readonly writable?: readonly string[];
  /**
   * Absolute paths that were found there earlier and that other programs run by themselves, oldest
   * first. They are looked for and protected before the rest.
   */
  readonly known?: readonly string[];
}

/** How much of each resource an agent and its children may use. */
export interface ResourceCaps {
  /** Number of processes and threads. */
  readonly processes: number;
  /** Bytes of memory, where the host has a memory controller. */
  readonly memoryBytes: number;
  /**
   * Bytes of memory per process, on a host that does not let anyone limit the memory of all
   * together; absent: no such limit.
   */
  readonly processMemoryBytes?: number;
  /** Bytes of each private file system (`/tmp`, home, `/dev/shm`). */
  readonly scratchBytes: number;
  /** Number of open files per process. */
  readonly openFiles: number;
}

/** Options that all backends have. */
export interface ConfinementOptions {
  /**
   * The directory that the agent works in; unless given, its private home or temporary directory.
   */
  readonly workspace?: Workspace;
  /**
   * Shows the host's paths as another agent finds them: with its overlay in place of its workspace.
   * `namespace` only; other backends refuse.
   */
  readonly view?: AgentView;
  /** Further directories of the host that the agent may read; none unless given. */
  readonly readable?: readonly string[];
  /**
   * Further directories of the host that the agent may write, protected as a workspace is.
   * `namespace` and `landlock` only; other backends refuse.
   */
  readonly writable?: readonly string[];
  /**
   * A directory of the host that becomes the agent's home and persists: the agent's own, or root's
   * and given to it. It may be inside a hidden directory. Unless given, the home is temporary.
   * `namespace` and `landlock` only; other backends refuse.
   */
  readonly home?: string;
  /**
   * A directory of this process's user, such as a tree of packages, that the agent reads under the
   * same path. It may be inside a hidden directory, and not inside anything that an agent writes.
   * `namespace` and `landlock` only, for root `namespace` only; other backends refuse.
   */
  readonly packages?: string;
  /**
   * Directories that must stay invisible, such as ACP's home. A workspace or readable directory
   * that contains one, or is inside one, is refused.
   */
  readonly hidden?: readonly string[];
  /**
   * Files and directories of the workspace, as real paths, that the agent finds empty and cannot
   * write. `namespace` only; other backends refuse.
   */
  readonly covered?: readonly string[];
  /**
   * Code that runs outside in addition to this package and node, such as the caller's own packages:
   * no agent may change it. A workspace that overlaps with it is refused.
   */
  readonly programs?: readonly string[];
  /** Who the agent runs as if this process is root: a name or a uid, never root. */
  readonly user?: string | number;
  /** Whether the agent may create Unix sockets; `none` unless given. */
  readonly unixSockets?: "none" | "private";
  /** Bounds of memory, processes and files; each has a default. */
  readonly caps?: Partial<ResourceCaps>;
}

/** The user that an agent runs as. */
export interface AgentUser {
  readonly uid: number;
  readonly gid: number;
  readonly name: string;
  readonly home: string;
}

/**
 * The places that a self-check tries and must not reach, where the report says so; each is open on
 * the host.
 */
export interface Canaries {
  readonly tcpPort: number;
  readonly udpPort: number;
  /** A path socket. */
  readonly path: string;
  /** An abstract socket's name, without the leading NUL. */
  readonly abstract: string;
}

/**
 * What the first stage, which runs inside before the agent, is told by its parent over the IPC
 * channel.
 */
export interface FirstStageOrders {
  /**
   * `listen`: open 127.0.0.1:port and hand the listener out. `connect`: the manager listens
   * already.
   */
  readonly mode: "listen" | "connect";
  readonly port: number;
  /** Further ports to open and hand out, with `listen`. */
  readonly ports: readonly number[];
  /** 32 hexadecimal digits that the stage sends through the proxy's port and must get back. */
  readonly nonce: string;
  readonly canaries: Canaries;
  /** Paths inside, to say which files they lead to. */
  readonly places: readonly string[];
}

/** A path inside, and the file of the host that it has to lead to, as the kernel calls it. */
export interface ExpectedPlace {
  readonly path: string;
  readonly device: string;
  readonly inode: string;
}

/**
 * What the kernel says about the first stage's own process, which the agent will take the place of.
 */
export interface StagePrivileges {
  readonly uid: number;
  /** Effective, permitted, inheritable, bounding and ambient capabilities are all empty. */
  readonly hasNoCapabilities: boolean;
  readonly hasNoNewPrivileges: boolean;
  readonly hasSeccompFilter: boolean;
}

/**
 * What the first stage found: for each canary why it was not reached, or `undefined` where it was.
 */
export interface FirstStageFindings {
  readonly privileges: StagePrivileges;
  /** `reached`, or why it was not. */
  readonly proxy: string;
  readonly tcp: string | undefined;
  readonly udp: string | undefined;
  readonly pathSocket: string | undefined;
  readonly abstractSocket: string | undefined;
}

/** A first stage that has reported and waits for the word to go. */
export interface FirstStage {
  readonly findings: FirstStageFindings;
  /** The agent's listener: handed out from inside, or the manager's own. */
  readonly listener: Server;
  /** Those of further ports. */
  readonly further: readonly Server[];
  /**
   * Lets the agent start: from now on connections go to `onConnection`, those of further ports to
   * their own taker.
   *
   * @throws ConsentError `sandbox_failed` where the stage is no longer there to hear it.
   */
  go(takers: ConnectionTakers): void;
}

/** Runs the manager's side of the first stage in a child that was spawned with an IPC channel. */
export type RunFirstStage = (
  child: ChildProcess,
  orders: Pick<FirstStageOrders, "mode" | "port"> & {
    /** Further ports of the agent's own loopback; with `listen` only. */
    readonly ports?: readonly number[];
    /** What the agent is shown; left out: nothing that a name inside stands for. */
    readonly places?: readonly ExpectedPlace[];
    /** With `connect`: the manager's own listener. */
    readonly listener?: Server;
    /** Where the path canary is opened. */
    readonly session: Session;
    readonly signal: AbortSignal;
  },
) => Promise<FirstStage>;

/**
 * What is kept of a running agent outside of memory, so that the next start cleans up after a
 * crash. The manager is in {@link Session.id}.
 */
export interface SessionRecord {
  readonly sandbox: LinuxSandboxName;
  /** Cgroup directories to kill and remove. */
  readonly cgroups: readonly string[];
  /** A table of nftables to delete, where the agent's uid has nothing left running. */
  readonly nftTable?: string;
}

/**
 * A session's directory, one an agent; its name says which process made it. `inside/` is what the
 * agent may see of it.
 */
export interface Session extends AsyncDisposable {
  readonly id: string;
  readonly directory: string;
  /**
   * Holds `first-stage.cjs`, `mcp-bridge.cjs`, `acp` and the files of {@link
   * SandboxSpawnOptions.files}; readable by the agent, writable by nobody but us.
   */
  readonly inside: string;
  /** Writes what the next start must know, durably, before the thing itself is made. */
  record(more: Partial<SessionRecord>): Promise<void>;
}
