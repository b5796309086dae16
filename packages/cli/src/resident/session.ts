/**
 * Session: one connection of an agent's client. The resident greets, the client says who it is, and
 * is then served as a process of its own would be. The role is the socket's: nothing that comes in
 * here can see, answer or administer anything.
 */
import type { Socket } from "node:net";
import { commandNamed, readCommandLine } from "../command-line.js";
import type { Command, Invocation } from "../command.js";
import { AGENT_ID, serveMcp } from "../commands/mcp.js";
import { EXIT_CODES } from "../exit-codes.js";
import { exitOfError } from "../failure.js";
import { createPrinter } from "../printer.js";
import { claimsOf, clientName } from "./budgets.js";
import type { Budgets, Share, Usage } from "./budgets.js";
import { createClientCalls } from "./calls.js";
import type { ClientCalls } from "./calls.js";
import type { HomeGates, SessionOfGates } from "./home-gates.js";
import { stateOfCalls } from "../gate/forwarded.js";
import { createSessionIo } from "./io.js";
import type { SessionIo } from "./io.js";
import type { Peers } from "./peers.js";
import { namedHome, valueOf } from "./places.js";
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
    | "too_many_clients";
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
  /** Whether it has not said yet who it is. */
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

/** Attends to one connection. */
export function attendSession(socket: Socket, parts: SessionParts): Session {
  let hello: Hello | undefined;
  let session: SessionIo | undefined;
  let numbered: Numbered | undefined;
  let usage: Share["usage"] | undefined;
  let isLocked = false;
  let servers: readonly string[] = [];
  const silence = setTimeout(() => socket.destroy(), HELLO_MS_MAX);
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  let served: Promise<void> | undefined;
  const now = (): Opened => ({ hello, session });
  const { onHeld, end, ...way } = wayOf(socket, closed, now);
  // What came while it is looked who connects; undefined before and after.
  let early: Frame[] | undefined;
  const open = async (body: Buffer): Promise<void> => {
    clearTimeout(silence);
    const admitted = admit(readHello(body), parts);
    if ("code" in admitted) return refuse(socket, admitted);
    const { share } = admitted;
    const waiting: Frame[] = (early = []);
    socket.pause();
    const isOurs = await parts.peers.admits(socket).catch(() => false);
    early = undefined;
    if (!isOurs || socket.destroyed) {
      share[Symbol.dispose]();
      return void socket.destroy();
    }
    ({ hello } = admitted);
    usage = share.usage;
    numbered = numberedCalls(socket, parts.homeDir, hello.secret);
    session = createSessionIo(socket, hello);
    socket.write(frameOf("ready"));
    const onLocked = (): void => {
      isLocked = true;
      // Somebody opened the key in the meantime.
      if (parts.isUnlocked()) way.leave("again");
    };
    const onServers = (names: readonly string[]): void => void (servers = names);
    const own = { share, calls: numbered.calls, onLocked, onServers, leave: way.leave };
    const over = (): void => share[Symbol.dispose]();
    served = serve(session, hello, { ...parts, ...own })
      .finally(over)
      .then(end);
    for (const frame of waiting) take(frame);
    socket.resume();
  };
  const take = (frame: Frame): void => {
    const { kind, body } = frame;
    if (early !== undefined) return void early.push(frame);
    if (hello === undefined) return kind === "hello" ? void open(body) : void socket.destroy();
    if (session !== undefined && !feed(frame, { session, numbered, onHeld })) socket.destroy();
  };
  const reader = createFrameReader(take, () => socket.destroy());
  socket.on("error", () => socket.destroy());
  readByChunks(socket, (chunk) => reader.push(chunk));
  socket.on("close", () => {
    clearTimeout(silence);
    session?.stop("the client is gone");
    session?.end();
  });
  socket.write(parts.greeting());
  return {
    underWay: () => isUnderWay(usage?.()),
    ...way,
    hello: () => (session === undefined ? undefined : hello),
    usage: () => usage?.(),
    servers: () => servers,
    isSilent: () => session === undefined && !socket.destroyed,
    done: closed.then(() => served),
    isLocked: () => isLocked,
    destroy: () => void socket.destroy(),
  };
}

interface Fed {
  readonly session: SessionIo;
  readonly numbered: Numbered | undefined;
  readonly onHeld: () => void;
}

/** Hands a frame to what it is for; false where it is none that may come now. */
function feed({ kind, body }: Frame, { session, numbered, onHeld }: Fed): boolean {
  if (kind === "input") return session.input(body);
  if (kind === "end") session.end();
  else if (kind === "signal") session.stop(body.toString("utf8"));
  else if (kind === "held") onHeld();
  else return numbered?.take({ kind, body }) === true;
  return true;
}

/** The calls of a client, and its frames about them. */
interface Numbered {
  /** Undefined for a client that gives its calls no numbers. */
  readonly calls: ClientCalls | undefined;
  /** Takes a frame; false where it is none that may come now. */
  take(frame: Frame): boolean;
}

function numberedCalls(socket: Socket, homeDir: string, secret: string | undefined): Numbered {
  const calls = secret === undefined ? undefined : createClientCalls(secret);
  // One reading of the logs at a time.
  let isAsking = false;
  return {
    calls,
    take({ kind, body }) {
      if (kind === "call") return calls?.take(body) === true;
      if (kind !== "asks" || isAsking) return false;
      isAsking = true;
      void tellStates(socket, homeDir, calls?.asked(body)).then(() => (isAsking = false));
      return true;
    },
  };
}

const isUnderWay = (used: Usage | undefined): boolean =>
  used !== undefined && used.requests > used.questions;

/** What a connection has; nothing before its hello. */
interface Opened {
  readonly hello: Hello | undefined;
  readonly session: SessionIo | undefined;
}

/** How a session ends, by itself or for another one. */
interface Way extends Pick<Session, "hold" | "part" | "leave"> {
  onHeld(): void;
  end(code: number): Promise<void>;
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
    async end(code) {
      await now().session?.flush();
      socket.end(leaving === undefined ? exitFrame(code) : frameOf(leaving));
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

/** Tells a client how far its calls came, as the logs say it. */
async function tellStates(
  socket: Socket,
  homeDir: string,
  asked: ReturnType<ClientCalls["asked"]>,
): Promise<void> {
  if (asked === undefined) return void socket.destroy();
  const states = await stateOfCalls(homeDir, [...asked.values()]);
  const calls = Array.from(asked, ([n, { call }]) => ({ n, state: states.get(call) }));
  if (!socket.destroyed) socket.write(frameOf("known", JSON.stringify({ calls })));
}

const exitFrame = (code: number): Buffer => frameOf("exit", JSON.stringify({ code }));

function refuse(socket: Socket, { code, message }: Refusal): void {
  socket.end(frameOf("refused", JSON.stringify({ code, message })));
  // Not kept open by one that does not hang up.
  socket.destroySoon();
}

interface Admitted {
  readonly hello: Hello;
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
  const agent = valueOf(hello.argv, "--agent") ?? AGENT_ID;
  const share = parts.budgets.open(clientName(agent, hello.ppid), claimsOf(agent, hello.ppid));
  return typeof share === "string"
    ? { code: "too_many_clients", message: share }
    : { hello, share };
}

/** As a process of its own would; gives its exit code. Never rejects. */
async function serve(
  { io }: SessionIo,
  { argv }: Hello,
  { gates, commands, ...own }: SessionParts & Omit<SessionOfGates, "invocation">,
): Promise<number> {
  const end = argv.indexOf("--");
  const json = argv.slice(0, end === -1 ? argv.length : end).includes("--json");
  const print = createPrinter({ stdout: io.stdout, stderr: io.stderr, env: io.env, json });
  try {
    await own.share.turn();
    // Many of one client may have come and gone meanwhile.
    if (io.onStop().aborted) return EXIT_CODES.ok.code;
    const { command, ...line } = readCommandLine(argv, commands);
    if (command?.name === "exec hook") return await gates.hooks.answer(line, io);
    const invocation: Invocation = { ...line, io, print };
    if (command?.name !== "mcp" || line.flags.has("tty") || line.flags.has("alone"))
      throw new Error("the resident serves acp mcp without --alone and --tty, and acp exec hook");
    return EXIT_CODES[await serveMcp(invocation, gates.of({ invocation, ...own }))].code;
  } catch (error) {
    print.failure(error);
    return EXIT_CODES[commandNamed(argv, commands)?.failure ?? exitOfError(error)].code;
  }
}
