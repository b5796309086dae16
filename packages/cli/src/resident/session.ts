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
import { clientName } from "./budgets.js";
import type { Budgets, Share, Usage } from "./budgets.js";
import type { HomeGates } from "./home-gates.js";
import { createSessionIo } from "./io.js";
import type { SessionIo } from "./io.js";
import { namedHome, valueOf } from "./places.js";
import {
  PROTOCOL,
  createFrameReader,
  frameOf,
  greetingFrame,
  readHello,
  speakAlike,
} from "./wire.js";
import type { Frame, Hello } from "./wire.js";

/** What sessions share. */
export interface SessionParts {
  /** The home's real path. */
  readonly homeDir: string;
  readonly build: string;
  readonly gates: HomeGates;
  readonly commands: readonly Command[];
  readonly budgets: Budgets;
  /** Whether a person has opened the keys. */
  isUnlocked(): boolean;
}

/** Why a client gets no session. */
export interface Refusal {
  readonly code:
    | "hello_invalid"
    | "build_differs"
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
  /** Whether it has not said yet who it is. */
  readonly isSilent: () => boolean;
  readonly done: Promise<void>;
  /** Whether it only answers that the key is locked. */
  readonly isLocked: () => boolean;
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
  let usage: Share["usage"] | undefined;
  let leaving: "leaving" | "again" | undefined;
  let isLocked = false;
  const silence = setTimeout(() => socket.destroy(), HELLO_MS_MAX);
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  let served: Promise<void> | undefined;
  const open = (body: Buffer): void => {
    clearTimeout(silence);
    const admitted = admit(readHello(body), parts);
    if ("code" in admitted) return refuse(socket, admitted);
    const { share } = admitted;
    ({ hello } = admitted);
    usage = share.usage;
    session = createSessionIo(socket, hello);
    socket.write(frameOf("ready"));
    const onLocked = (): void => {
      isLocked = true;
      // Somebody opened the key in the meantime.
      if (parts.isUnlocked()) leave("again");
    };
    served = serve(session, hello, { ...parts, share, onLocked }).then(async (code) => {
      share[Symbol.dispose]();
      await session?.flush();
      socket.end(leaving === undefined ? exitFrame(code) : frameOf(leaving));
    });
  };
  const leave: Session["leave"] = (how) => {
    leaving ??= how;
    if (session === undefined) socket.destroy();
    else session.stop("the resident ends the session");
  };
  const take = ({ kind, body }: Frame): void => {
    if (hello === undefined) return kind === "hello" ? open(body) : void socket.destroy();
    if (session === undefined) return;
    if (kind === "end") session.end();
    else if (kind === "signal") session.stop(body.toString("utf8"));
    else if (kind !== "input" || !session.input(body)) socket.destroy();
  };
  const reader = createFrameReader(take, () => socket.destroy());
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk: Buffer) => reader.push(chunk));
  socket.on("close", () => {
    clearTimeout(silence);
    session?.stop("the client is gone");
    session?.end();
  });
  socket.write(greetingFrame(parts.build));
  return {
    hello: () => (session === undefined ? undefined : hello),
    usage: () => usage?.(),
    isSilent: () => session === undefined && !socket.destroyed,
    done: closed.then(() => served),
    isLocked: () => isLocked,
    leave,
    destroy: () => void socket.destroy(),
  };
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
  if (!speakAlike(hello.protocol, [PROTOCOL, PROTOCOL]) || hello.build !== parts.build)
    return {
      code: "build_differs",
      message: `the resident is of another build; acp resident stop --home ${parts.homeDir} ends it`,
    };
  if (namedHome(hello.argv, hello) !== parts.homeDir)
    return { code: "home_differs", message: `the resident is of the home ${parts.homeDir}` };
  const client = clientName(valueOf(hello.argv, "--agent") ?? AGENT_ID, hello.ppid);
  const share = parts.budgets.open(client);
  return typeof share === "string"
    ? { code: "too_many_clients", message: share }
    : { hello, share };
}

/** As a process of its own would; gives its exit code. Never rejects. */
async function serve(
  { io }: SessionIo,
  { argv }: Hello,
  {
    gates,
    commands,
    ...own
  }: SessionParts & { readonly share: Share; readonly onLocked: () => void },
): Promise<number> {
  const end = argv.indexOf("--");
  const json = argv.slice(0, end === -1 ? argv.length : end).includes("--json");
  const print = createPrinter({ stdout: io.stdout, stderr: io.stderr, env: io.env, json });
  try {
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
