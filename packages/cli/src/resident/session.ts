/**
 * Session: one connection of an agent's client. The resident greets, the client says who it is, and
 * is then served as a process of its own would be. The role is the socket's: nothing that comes in
 * here can see, answer or administer anything.
 */
import type { Socket } from "node:net";
import type { Command } from "../command.js";
import type { Failure } from "../failure.js";
import { agentNamed } from "./agent-named.js";
import { claimsOf, clientName, isUnderWay } from "./budgets.js";
import type { Budgets, Share, Usage } from "./budgets.js";
import type { AllDoors, Refused as DoorRefusal, SessionDoors } from "./doors.js";
import type { HomeGates } from "./home-gates.js";
import { createSessionIo } from "./io.js";
import type { SessionIo } from "./io.js";
import type { Peers } from "./peers.js";
import { namedHome } from "./places.js";
import { createRunClient } from "./run-client.js";
import type { SessionRun } from "./run-client.js";
import { serveSession } from "./serve-session.js";
import type { Served } from "./serve-session.js";
import { numberedCalls } from "./session-calls.js";
import type { Numbered } from "./session-calls.js";
import { readByChunks } from "./turns.js";
import {
  HOLDS_FROM,
  PROTOCOLS,
  createFrameReader,
  frameOf,
  readHello,
  speakAlike,
} from "./wire.js";
import type { Frame, Hello } from "./wire.js";

/** What sessions share. */
export interface SessionParts {
  /** The home's real path. */
  readonly homeDir: string;
  /** What a connection hears first. */
  readonly greeting: () => Buffer;
  readonly gates: HomeGates;
  readonly commands: readonly Command[];
  readonly budgets: Budgets;
  readonly peers: Pick<Peers, "admits">;
  readonly doors: AllDoors;
  /** Whether a person has opened the keys. */
  isUnlocked(): boolean;
}

/** Why a client gets no session. */
export interface Refusal {
  readonly code:
    | "hello_invalid"
    | "client_outdated"
    | "resident_outdated"
    | "home_differs"
    | "command_unsupported"
    | "too_many_clients"
    | DoorRefusal["code"];
  readonly message: string;
}

/** A session as people see it. */
export interface Session {
  /** Undefined before the client said who it is. */
  readonly hello: () => Hello | undefined;
  /** What its client has of its budget; undefined before there is a session. */
  readonly usage: () => Usage | undefined;
  /** Names of the servers that were started for it. */
  readonly servers: () => readonly string[];
  /** Restarts one of them, or all; gives their names. */
  restart(name: string | undefined): Promise<readonly string[]>;
  /** Whether it has not said yet who it is, or whose it is. */
  readonly isSilent: () => boolean;
  readonly done: Promise<void>;
  /** Whether it only answers that the key is locked. */
  readonly isLocked: () => boolean;
  /** Whether a request of its client waits for anything but a person. */
  underWay(): boolean;
  /**
   * Has the client hold its requests back. Resolves when it does so or is gone; for one that cannot,
   * at once.
   */
  hold(): Promise<void>;
  /** Hands out what is written, and tells the client to open another session. Nothing is ended. */
  part(): Promise<void>;
  /** Ends it; the client is told that the resident leaves, or to open another session at once. */
  leave(how: "leaving" | "again"): void;
  /** Ends the connection. */
  destroy(): void;
}

/** A client that connects and says nothing. */
const HELLO_MS_MAX = 30_000;

/** What becomes of a connection. */
interface Attended {
  hello: Hello | undefined;
  /** What came while it is looked who connects; undefined before and after. */
  early: Frame[] | undefined;
  /** What takes its frames, once there is a session. */
  fed: Fed | undefined;
  usage: Share["usage"] | undefined;
  servers: readonly string[];
  restart: (name: string | undefined) => Promise<readonly string[]>;
  isLocked: boolean;
  /** Whether it is a program's, and has no frames. */
  isJoined: boolean;
  served: Promise<void> | undefined;
}

/** Attends to one connection. */
export function attendSession(socket: Socket, parts: SessionParts): Session {
  const at: Attended = {
    hello: undefined,
    early: undefined,
    fed: undefined,
    usage: undefined,
    servers: [],
    restart: () => Promise.resolve([]),
    isLocked: false,
    isJoined: false,
    served: undefined,
  };
  const silence = setTimeout(() => socket.destroy(), HELLO_MS_MAX);
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  const way = wayOf(socket, closed, () => ({ hello: at.hello, session: at.fed?.session }));
  const join = (body: Buffer): void => {
    at.isJoined = true;
    // From here on there are no frames.
    stopReading();
    socket.pause();
    const refusal = reader.stop().length > 0 ? NO_FRAMES : parts.doors.join(socket, body);
    if (refusal !== undefined) refuse(socket, refusal);
  };
  const take = (frame: Frame): void => {
    const { kind, body } = frame;
    if (at.early !== undefined) return void at.early.push(frame);
    if (at.fed !== undefined) return feed(frame, at.fed) ? undefined : void socket.destroy();
    if (at.hello !== undefined || (kind !== "hello" && kind !== "join"))
      return void socket.destroy();
    clearTimeout(silence);
    if (kind === "hello") void openSession(socket, body, { parts, at, way, take });
    else join(body);
  };
  const reader = createFrameReader(take, () => socket.destroy());
  socket.on("error", () => socket.destroy());
  const stopReading = readByChunks(socket, (chunk) => reader.push(chunk));
  socket.on("close", () => {
    clearTimeout(silence);
    at.fed?.session.stop("the client is gone");
    at.fed?.session.end();
  });
  socket.write(parts.greeting());
  const { part, leave } = way;
  return {
    underWay: () => isUnderWay(at.usage?.()),
    part,
    leave,
    hold: () => way.hold().then(() => at.fed?.doors.hold()),
    hello: () => (at.fed === undefined ? undefined : at.hello),
    usage: () => at.usage?.(),
    servers: () => at.servers,
    restart: (name) => at.restart(name),
    isSilent: () => at.fed === undefined && !at.isJoined && !socket.destroyed,
    done: closed.then(() => at.served),
    isLocked: () => at.isLocked,
    destroy: () => void socket.destroy(),
  };
}

interface Opening {
  readonly parts: SessionParts;
  readonly at: Attended;
  readonly way: Way;
  /** Takes a frame as it comes. */
  readonly take: (frame: Frame) => void;
}

async function openSession(
  socket: Socket,
  body: Buffer,
  { parts, at, way, take }: Opening,
): Promise<void> {
  const admitted = admit(readHello(body), parts);
  if ("code" in admitted) return refuse(socket, admitted);
  const { hello, share, client } = admitted;
  const early: Frame[] = (at.early = []);
  socket.pause();
  const isOurs = await parts.peers.admits(socket);
  at.early = undefined;
  if (!isOurs || socket.destroyed) {
    share[Symbol.dispose]();
    return void socket.destroy();
  }
  at.hello = hello;
  at.usage = share.usage;
  const numbered = numberedCalls(socket, parts.homeDir, hello.secret);
  const session = createSessionIo(socket, hello);
  const doors = parts.doors.of(socket, client);
  const run = createRunClient(socket);
  const runs = hello.argv[0] === "run" ? run : undefined;
  at.fed = { session, numbered, doors, run: runs, onHeld: way.onHeld };
  socket.write(frameOf("ready"));
  const onLocked = (): void => {
    at.isLocked = true;
    // Somebody opened the key in the meantime.
    if (parts.isUnlocked()) way.leave("again");
  };
  const desk = {
    onServers: (names: readonly string[]): void => void (at.servers = names),
    onLive: (restart: Attended["restart"]): void => void (at.restart = restart),
  };
  const own = { share, calls: numbered.calls, onLocked, desk, leave: way.leave };
  at.served = serveSession(session, hello, { ...parts, ...own, doors, run })
    .finally(() => {
      doors.close();
      share[Symbol.dispose]();
    })
    .then(way.end);
  for (const frame of early) take(frame);
  socket.resume();
}

const NO_FRAMES: Refusal = { code: "hello_invalid", message: "bytes came before they may" };

/** What takes the frames of an open session. */
interface Fed {
  readonly session: SessionIo;
  readonly numbered: Numbered;
  readonly doors: SessionDoors;
  /** Undefined for another command. */
  readonly run: SessionRun | undefined;
  readonly onHeld: () => void;
}

/** Hands a frame to what it is for; false where it is none that may come now. */
function feed({ kind, body }: Frame, { session, numbered, doors, run, onHeld }: Fed): boolean {
  if (kind === "input") return session.input(body);
  if (kind === "end") session.end();
  else if (kind === "signal") session.stop(body.toString("utf8"));
  else if (kind === "held") onHeld();
  else if (kind === "opened") return doors.opened(body);
  else if (kind === "run" || kind === "note") return run?.take({ kind, body }) === true;
  else return numbered.take({ kind, body });
  return true;
}

/** What a connection has; nothing before its hello. */
interface Opened {
  readonly hello: Hello | undefined;
  readonly session: SessionIo | undefined;
}

/** How a session ends, by itself or for another one. */
interface Way extends Pick<Session, "hold" | "part" | "leave"> {
  onHeld(): void;
  end(served: Served): Promise<void>;
}

function wayOf(socket: Socket, closed: Promise<void>, now: () => Opened): Way {
  let leaving: "leaving" | "again" | undefined;
  let onHeld = (): void => undefined;
  const held = new Promise<void>((resolve) => (onHeld = resolve));
  return {
    onHeld: () => onHeld(),
    leave(how) {
      leaving ??= how;
      const { session } = now();
      if (session === undefined) socket.destroy();
      else session.stop("the resident ends the session");
    },
    async end({ code, error }) {
      await now().session?.flush();
      socket.end(leaving === undefined ? exitFrame(code, error) : frameOf(leaving));
    },
    hold() {
      const { hello, session } = now();
      const isAble = session !== undefined && (hello?.protocol[1] ?? 0) >= HOLDS_FROM;
      if (!isAble) return Promise.resolve();
      socket.write(frameOf("hold"));
      return Promise.race([held, closed]);
    },
    async part() {
      const { session } = now();
      if (session === undefined) return void socket.destroy();
      await session.flush();
      socket.end(frameOf("again"));
      await closed;
    },
  };
}

/** A client that says itself what went wrong is told it. */
const exitFrame = (code: number, error: Failure | undefined): Buffer =>
  frameOf("exit", JSON.stringify(error === undefined ? { code } : { code, error }));

function refuse(socket: Socket, { code, message }: Refusal): void {
  socket.end(frameOf("refused", JSON.stringify({ code, message })));
  // Not kept open by one that does not hang up.
  socket.destroySoon();
}

interface Admitted {
  readonly hello: Hello;
  /** Whose budget it has. */
  readonly client: string;
  readonly share: Share;
}

function admit(hello: Hello | undefined, parts: SessionParts): Admitted | Refusal {
  if (hello === undefined) return { code: "hello_invalid", message: "the hello is not one" };
  if (!speakAlike(hello.protocol, PROTOCOLS))
    return hello.protocol[1] < PROTOCOLS[0]
      ? { code: "client_outdated", message: "the resident is newer: restart your client" }
      : {
          code: "resident_outdated",
          message: `the resident is older; run: acp resident restart --home ${parts.homeDir}`,
        };
  if (namedHome(hello.argv, hello) !== parts.homeDir)
    return { code: "home_differs", message: `the resident is of the home ${parts.homeDir}` };
  const agent = agentNamed(hello.argv);
  const client = clientName(agent, hello.ppid);
  const share = parts.budgets.open(client, claimsOf(agent, hello.ppid));
  return typeof share === "string"
    ? { code: "too_many_clients", message: share }
    : { hello, client, share };
}
