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
   * Starts everything but the agent's own command: the boundary stands, and the self-check inside
   * is over. Whoever has to know what is in force before the command runs needs no probe, and hears
   * of this very start.
   *
   * @throws ConsentError as `spawn`. Nothing is left running.
   */
  hold(argv: readonly string[], options: HoldOptions): Promise<HeldAgent>;
  /**
   * Starts a program inside, and resolves once the self-check has passed.
   *
   * @throws ConsentError `sandbox_unavailable` or `sandbox_failed`. Nothing is left running.
   */
  spawn(
    argv: readonly string[],
    options: SandboxSpawnOptions<Socket>,
  ): Promise<LinuxSandboxedProcess>;
}

/**
 * How to hold an agent: as one is spawned, but that who takes its connections is said with the word
 * to go.
 */
export interface HoldOptions extends Omit<SandboxSpawnOptions<Socket>, "onConnection" | "ports"> {
  /** Further ports of the agent's own loopback. */
  readonly ports?: readonly number[];
}

/** Who takes the connections of an agent. */
export type ConnectionTakers = Pick<SandboxSpawnOptions<Socket>, "onConnection" | "ports">;

/** An agent whose command has not begun. To be let go once, or closed. */
export interface HeldAgent {
  /** What is in force for it. */
  readonly report: SandboxReport;
  /**
   * What it finds under the names of the host, where its workspace is an overlay; until it ends.
   */
  readonly view?: AgentView;
  /**
   * What of the workspace is run later, by itself, by other programs, as the sandbox saw it; left
   * out where it did not look.
   */
  readonly persistent?: readonly string[];
  /**
   * Hears of each held name that somebody outside has changed, also of those that were changed
   * before; left out where no name is watched.
   */
  readonly onHeldName?: (hear: (change: HeldNameChange) => void) => void;
  /**
   * What of it the agent can write, although nobody gave it; left out where the sandbox did not
   * look.
   */
  readonly unheld?: readonly string[];
  /**
   * Lets the command begin.
   *
   * @throws ConsentError `sandbox_failed` where what held it has ended meanwhile, `aborted` after
   *   its signal. Nothing is left running.
   */
  go(takers: ConnectionTakers): Promise<LinuxSandboxedProcess>;
  /** Ends it instead. */
  close(): Promise<void>;
}

/**
 * What an agent finds under the names of the host, for another sandbox to be shown: see {@link
 * ConfinementOptions.view}. Known, not shaped.
 */
export interface AgentView {
  /** The real path of the workspace that is an overlay there. */
  readonly workspace: string;
}

/**
 * An agent of this package's backends; with `stdio: "pipe"` its standard input and output are here,
 * with `stderr: "pipe"` its standard error.
 */
export interface LinuxSandboxedProcess extends SandboxedProcess {
  /** Standard input of the agent; `undefined` unless it is a pipe. */
  readonly stdin: Writable | undefined;
  /** Standard output of the agent; `undefined` unless it is a pipe. */
  readonly stdout: Readable | undefined;
  /** Standard error of the agent; `undefined` unless it is a pipe. */
  readonly stderr: Readable | undefined;
  /** Why the sandbox ended the agent, where it did so by itself. */
  readonly failure?: () => ConsentError | undefined;
}

/** What somebody outside did to a file that is held while an agent runs. */
export interface HeldNameChange {
  /** Its absolute path. */
  readonly place: string;
  /**
   * `held`: there is a new file, which the agent cannot write either. `gone`: nothing has that name
   * any more, and nobody holds it.
   */
  readonly state: "held" | "gone";
  /** What the new file is: see {@link fileKey}; empty where it is gone. */
  readonly key: string;
}

/** A directory of the host that the agent works in. */
export interface Workspace {
  /** Absolute path on the host; it has the same one inside. */
  readonly path: string;
  /**
   * `overlay`: the agent writes into {@link layers}, and the workspace stays as it is; in
   * `namespace` alone.
   */
  readonly access: "read-write" | "read-only" | "overlay";
  /**
   * With `overlay`: a directory for this workspace and agent alone, in a place that stays hidden.
   * It outlasts the agent.
   */
  readonly layers?: string;
  /**
   * What of it stays writable although other programs run it by themselves; absolute paths in it.
   * See {@link WorkspaceGuard}.
   */
  readonly writable?: readonly string[];
  /**
   * What was found there earlier that other programs run by themselves, the oldest first; absolute
   * paths. It is looked for and held before the rest.
   */
  readonly known?: readonly string[];
}

/** The most of a resource that an agent and its children may use. */
export interface ResourceCaps {
  /** Processes and threads. */
  readonly processes: number;
  /** Bytes of memory, where the host has a memory controller. */
  readonly memoryBytes: number;
  /**
   * Bytes of its own memory that each process may have where the host lets nobody limit that of
   * all; left out: that is not limited then.
   */
  readonly processMemoryBytes?: number;
  /** Bytes of each private file system (`/tmp`, home, `/dev/shm`). */
  readonly scratchBytes: number;
  /** Open files a process. */
  readonly openFiles: number;
}

/** What every backend is told. */
export interface ConfinementOptions {
  /** Left out: none; the agent works in its private home or temporary directory. */
  readonly workspace?: Workspace;
  /**
   * Names lead where they lead for that agent: what is shown of its workspace is its overlay.
   * `namespace` only; others refuse.
   */
  readonly view?: AgentView;
  /** Further directories of the host that the agent may read. */
  readonly readable?: readonly string[];
  /**
   * Further directories of the host that the agent may write, guarded as a workspace is.
   * `namespace` and `landlock` only; others refuse.
   */
  readonly writable?: readonly string[];
  /**
   * A directory of the host that is the private home inside, and stays: the agent's own, or root's
   * own and given to it. It may lie in a hidden one. Left out: a home that is gone afterwards.
   * `namespace` and `landlock` only; others refuse.
   */
  readonly home?: string;
  /**
   * A directory of the manager's own, such as a tree of packages, that the agent reads under its
   * own name. It may lie in a hidden one, and in nothing that an agent writes. `namespace` and
   * `landlock` only, and with a manager that is root `namespace` only; others refuse.
   */
  readonly packages?: string;
  /**
   * Directories that must stay invisible, such as the ACP home. A workspace or readable directory
   * that holds one, or lies in one, is refused.
   */
  readonly hidden?: readonly string[];
  /**
   * Files and directories of the workspace that the agent finds empty and cannot write, by real
   * paths. `namespace` only; others refuse.
   */
  readonly covered?: readonly string[];
  /**
   * What runs outside besides this package and node, such as the caller's own packages: no agent
   * may change it. A workspace that overlaps is refused.
   */
  readonly programs?: readonly string[];
  /** Who the agent runs as where the manager is root: a name or a uid, never root. */
  readonly user?: string | number;
  /** Whether Unix sockets may be made inside; `none` unless given. */
  readonly unixSockets?: "none" | "private";
  /** Bounds of memory, processes and files, each with its own default. */
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
