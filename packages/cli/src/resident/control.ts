/**
 * Control: what people's commands ask the resident, on a socket of its own. Agents have another.
 */
import { readdirSync } from "node:fs";
import { type Socket, connect } from "node:net";
import type { Usage } from "./budgets.js";
import type { Limits } from "./limits.js";
import { isOurs } from "../is-ours.js";
import type { Unlocked } from "./lock.js";
import type { Release } from "./newer.js";
import type { Peers } from "./peers.js";
import type { Places } from "./places.js";
import type { Restarted } from "./restart-servers.js";
import { createFrameReader, frameOf, recordIn } from "./wire.js";

/** What a resident says of itself. Plain JSON data. */
export interface Status {
  readonly pid: number;
  readonly version: string;
  readonly build: string;
  /** Whether the files that it was loaded from are still there as they were. */
  readonly is_current: boolean;
  readonly protocol: readonly [number, number];
  readonly home: string;
  readonly started_at: string;
  readonly uptime_seconds: number;
  readonly memory_bytes: number;
  readonly approvers: number;
  /** Open questions of all clients. */
  readonly questions: number;
  /** What clients of it may have at once. */
  readonly budgets: Limits;
  /** Whether the user of each connecting process is checked, besides who may enter the folder. */
  readonly peer_uids_checked: boolean;
  /** Until when a passphrase that a person typed keeps the key open; null where none does. */
  readonly unlocked_until: string | null;
  /** How far the index of the logs is, of a hundred, while it is being made; null otherwise. */
  readonly index_percent: number | null;
  /** Names of the servers that clients share and that run now. */
  readonly shared_servers: readonly string[];
  readonly clients: readonly {
    readonly agent: string;
    readonly pid: number;
    readonly ppid: number;
    readonly cwd: string;
    readonly argv: readonly string[];
    readonly version: string;
    /** Names of the servers that were started for it. */
    readonly servers: readonly string[];
    /** What this session's client has in all of its sessions. */
    readonly used: Usage;
  }[];
}

/** What the control socket reaches. */
export interface ControlParts {
  /** What a connection hears first. */
  readonly greeting: () => Buffer;
  readonly peers: Pick<Peers, "admits">;
  status(): Status;
  stop(): void;
  /** Begins to give way to another resident; false where it does not give way to that release. */
  giveWay(to: Release | "whoever follows"): boolean;
  unlock(passphrase: string): Promise<Unlocked>;
  /** Whether it was open. */
  lock(): Promise<boolean>;
  /** Restarts the servers of this name, or all; says whose. */
  restartServers(name: string | undefined): Promise<readonly Restarted[]>;
}

/** What is asked. Its passphrase goes no other way than this. */
export type Ask =
  | { readonly ask: "status" | "stop" | "restart" | "lock" }
  | ({ readonly ask: "handover" } & Release)
  | { readonly ask: "restart servers"; readonly server?: string }
  | { readonly ask: "unlock"; readonly passphrase: string };

/** How long a resident may take to answer. */
const ANSWER_MS_MAX = 2_000;
/**
 * Opening a key takes half a second of a processor, and more on a busy machine; so does locking. A
 * configuration counts once it has stayed as it is for some seconds.
 */
const SLOW_MS_MAX = 60_000;

/** Answers one command of a person. */
export function attendControl(socket: Socket, parts: ControlParts): void {
  const { greeting, peers, status, stop, giveWay, unlock, lock, restartServers } = parts;
  const silence = setTimeout(() => socket.destroy(), ANSWER_MS_MAX);
  let isAsked = false;
  const tell = (what: object): void => void socket.end(frameOf("told", JSON.stringify(what)));
  const answer = async (asked: Readonly<Record<string, unknown>>): Promise<void> => {
    if (!(await peers.admits(socket))) return void socket.destroy();
    const { ask, passphrase, version, build, server } = asked;
    if (ask === "unlock" && typeof passphrase === "string") return tell(await unlock(passphrase));
    if (ask === "lock") return tell({ was_unlocked: await lock() });
    if (ask === "restart servers" && (server === undefined || typeof server === "string"))
      return tell({ restarted: await restartServers(server) });
    if (ask === "handover" && typeof version === "string" && typeof build === "string")
      return tell({ handing_over: giveWay({ version, build }) });
    if (ask !== "status" && ask !== "stop" && ask !== "restart") return void socket.destroy();
    tell(status());
    if (ask === "stop") stop();
    if (ask === "restart") giveWay("whoever follows");
  };
  const reader = createFrameReader(
    ({ kind, body }) => {
      const asked = kind === "ask" && !isAsked ? recordIn(body) : undefined;
      if (asked === undefined) return void socket.destroy();
      isAsked = true;
      clearTimeout(silence);
      answer(asked).catch(() => socket.destroy());
    },
    () => socket.destroy(),
  );
  socket.on("error", () => socket.destroy());
  socket.on("close", () => clearTimeout(silence));
  socket.on("data", (chunk: Buffer) => reader.push(chunk));
  socket.write(greeting());
}

/** What came of asking: its answer, that nobody listens, or that it says nothing. */
export type Told = Readonly<Record<string, unknown>> | "none" | "hung";

/** Asks the resident. */
function askResident(path: string, ask: Ask): Promise<Told> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const settle = (told: Told): void => {
      clearTimeout(limit);
      socket.destroy();
      resolve(told);
    };
    const isSlow = ["unlock", "lock", "restart servers"].includes(ask.ask);
    const limit = setTimeout(() => settle("hung"), isSlow ? SLOW_MS_MAX : ANSWER_MS_MAX);
    const reader = createFrameReader(
      ({ kind, body }) => {
        if (kind === "told") settle(recordIn(body) ?? "hung");
      },
      () => settle("hung"),
    );
    socket.on("data", (chunk: Buffer) => reader.push(chunk));
    socket.on("error", () => settle("none"));
    socket.on("close", () => settle("none"));
    socket.write(frameOf("ask", JSON.stringify(ask)));
  });
}

/** Asks the resident at a socket that nobody else can have put there. */
export function askIfOurs({ control, sockets }: Places, ask: Ask): Promise<Told> {
  const uid = process.getuid?.() ?? -1;
  const isThere = isOurs(sockets, uid) && isOurs(control, uid);
  return isThere ? askResident(control, ask) : Promise.resolve("none");
}

/** The process that has the lock of a home's resident, or wants it, from the lock's name. */
export function lockHolder(run: string, prefix: string): number | undefined {
  try {
    const [pid] = readdirSync(run).flatMap((name) =>
      name.startsWith(prefix) ? [Number.parseInt(name.slice(prefix.length), 10)] : [],
    );
    return pid !== undefined && pid > 1 ? pid : undefined;
  } catch {
    return undefined;
  }
}
