/**
 * Resident client: `acp mcp`, `acp mcp serve` and `acp proxy http`, processes that load nothing else
 * of ours. The first hands its standard streams to the resident of the home, the others the
 * connections that they accept; all start one where there is none. They never decide anything, and never open a gate of their own
 * instead.
 */
import { randomBytes } from "node:crypto";
import { homedir } from "node:os";
import { join } from "node:path";
import { createDoorRelay } from "./resident/door-relay.js";
import { createRelay } from "./resident/relay.js";
import type { DoorLink, Link, LinkHandlers } from "./resident/link.js";
import { buildOf, versionOf } from "./build-of.js";
import { MCP_COMMANDS, inOneForm } from "./inline-command.js";
import { createCork } from "./resident/cork.js";
import { namedHome, placesOf } from "./resident/places.js";
import { reachResident } from "./resident/reach.js";
import type { Reached, Unreached } from "./resident/reach.js";
import { greetingMsIn, reachOrStart } from "./resident/reach-or-start.js";
import {
  BODY_BYTES_MAX,
  NUMBERS_FROM,
  againIn,
  PROTOCOLS,
  ROOM_BYTES,
  frameOf,
  readDoors,
  recordIn,
  roomIn,
} from "./resident/wire.js";
import type { Frame, Greeting, Hello } from "./resident/wire.js";

/** A client that is told to end has this long. */
const END_MS_MAX = 10_000;
/** The same for one whose requests under way have ten seconds. */
const DRAIN_MS_MAX = 15_000;
/** Whether this command line has the client listen, rather than hand its standard streams on. */
const listens = (argv: readonly string[]): boolean =>
  argv[0] === "proxy" || (argv[0] === "mcp" && argv[1] === "serve");

/** What a person may choose instead; nobody else does. */
const aloneWorks = (argv: readonly string[]): string =>
  `acp ${listens(argv) ? argv.slice(0, 2).join(" ") : "mcp"} --alone needs none`;

/** Whether this command line is one for the resident: every one that does not say otherwise. */
export function isForResident(words: readonly string[], env: NodeJS.ProcessEnv): boolean {
  const argv = inOneForm(words);
  const [name, second = ""] = argv;
  if (name === "mcp" && second !== "serve" && MCP_COMMANDS.includes(second)) return false;
  const own = argv.slice(0, endOf(argv));
  // These are answered by the command itself.
  if (own.some((word) => /^(?:-h|--(?:help|version|alone|tty))$/u.test(word))) return false;
  return own.includes("--resident") || env["ACP_ALONE"] !== "1";
}

/** Runs this process as a client of the resident until one side ends. */
export function runResidentClient(): void {
  const argv = inOneForm(process.argv.slice(2));
  const { env } = process;
  const uid = process.getuid?.() ?? -1;
  const userHome = homedir();
  const cwd = process.cwd();
  if (process.platform === "win32") {
    process.stderr.write(
      `acp: Cannot use the resident gate on Windows; ${aloneWorks(argv)} [options_invalid]\n`,
    );
    process.exitCode = 2;
    return;
  }
  const entry = join(__dirname, "index.js");
  const hello: Hello = {
    protocol: PROTOCOLS,
    version: versionOf(entry),
    build: buildOf(entry),
    argv,
    cwd,
    userHome,
    env: definedOf(env),
    pid: process.pid,
    ppid: process.ppid,
    umask: process.umask(),
    secret: randomBytes(32).toString("hex"),
  };
  const open = async (handlers: LinkHandlers): Promise<DoorLink | string> => {
    const opened = await openLink({ hello, uid, handlers }).catch((error: unknown) =>
      error instanceof Error ? `There is no resident gate: ${error.message}` : String(error),
    );
    return typeof opened === "string" ? `${opened}; ${aloneWorks(argv)}` : opened;
  };
  const own = {
    open,
    notice: (bytes: Buffer | string): void => void process.stderr.write(bytes),
    exit: (code: number): void => process.exit(code),
  };
  const relay = listens(argv)
    ? createDoorRelay({
        ...own,
        reach: () => reachAgain(hello, uid),
        output: (bytes) => void process.stdout.write(bytes),
        say: (text) =>
          own.notice(
            argv.includes("--json") ? `${JSON.stringify({ notice: text })}\n` : `acp: ${text}\n`,
          ),
      })
    : createRelay({ ...own, input: process.stdin, output: process.stdout });
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(name, () => {
      relay.signal(name);
      setTimeout(() => process.exit(0), listens(argv) ? DRAIN_MS_MAX : END_MS_MAX).unref();
    });
  process.stdout.on("error", () => process.exit(0));
  process.stderr.on("error", () => undefined);
}

const endOf = (argv: readonly string[]): number =>
  argv.includes("--") ? argv.indexOf("--") : argv.length;

function definedOf(env: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** One more connection to the resident that a session is open with. */
async function reachAgain(
  { argv, cwd, userHome }: Hello,
  uid: number,
): Promise<Reached | Unreached> {
  const { env } = process;
  const home = namedHome(argv, { env, cwd, userHome });
  const greetingMsMax = greetingMsIn(env);
  return reachResident(home, placesOf(home, { env, uid }), { uid, greetingMsMax });
}

interface LinkParts {
  readonly hello: Hello;
  readonly uid: number;
  readonly handlers: LinkHandlers;
}

/** A connection with an open session, or why there is none. */
async function openLink({ hello, uid, handlers }: LinkParts): Promise<DoorLink | string> {
  const { argv, cwd, userHome, version, build } = hello;
  const { env } = process;
  for (let tries = 1; ; tries++) {
    // It may be made only now, and then has another real path.
    const home = namedHome(argv, { env, cwd, userHome });
    const places = placesOf(home, { env, uid });
    // Where the older one could not be replaced, this process does not try it again.
    const release = isOlderKept ? NOTHING : { version, build };
    const shared = { home, places, env, cwd, uid, release, loadStarter };
    const found = await reachOrStart({ ...shared, onOlder: keepOlder });
    if (typeof found === "string") return found;
    const link = await linkOf(found, hello, handlers);
    // The one that it connected to was giving way to the next.
    if (link !== undefined) return link;
    if (tries === TRIES_MAX) return ENDED;
  }
}

/** Resident gates that give way, one after another, until a client that connects gives up. */
const TRIES_MAX = 3;
const ENDED = "The resident gate ended while this process connected to it";
/** Newer than nothing. */
const NOTHING = { version: "", build: "" };
let isOlderKept = false;

function keepOlder(why: string): void {
  isOlderKept = true;
  process.stderr.write(
    `acp: An older version of ACP still serves this home: ${why}; acp resident restart starts this one\n`,
  );
}

/** Its name is put together so that it stays a file of its own. */
const loadStarter = (): unknown => require(join(__dirname, "resident-start.cjs"));

function refusalIn(body: Buffer): string {
  const { code, message } = recordIn(body) ?? {};
  return `The resident gate refuses this client: ${String(message)} [${String(code)}]`;
}

/** An older resident knows no numbers of calls, and can say nothing of them. */
function numbersFor(
  { protocol }: Greeting,
  write: (frame: Buffer) => void,
  handlers: LinkHandlers,
): Pick<Link, "call" | "ask"> {
  if (protocol[1] < NUMBERS_FROM)
    return {
      call: () => undefined,
      ask: () => queueMicrotask(() => handlers.onKnown(new Set())),
    };
  return {
    call: (id, n) => write(frameOf("call", `{"id":${id},"n":${n}}`)),
    ask: (calls) => write(frameOf("asks", JSON.stringify({ calls }))),
  };
}

/** What comes together in a turn goes out together. */
function writerFor(socket: Reached["socket"]): (frame: Buffer) => void {
  const cork = createCork(socket);
  return (frame) => {
    cork.hold();
    socket.write(frame);
  };
}

function linkOf(
  { socket, greeting, onFrames }: Reached,
  hello: Hello,
  handlers: LinkHandlers,
): Promise<DoorLink | string | undefined> {
  let room = ROOM_BYTES;
  let isHeld = false;
  const text = Buffer.from(JSON.stringify(hello));
  if (text.length > BODY_BYTES_MAX) {
    socket.destroy();
    return Promise.resolve("The variables and arguments of this process are too large");
  }
  const write = writerFor(socket);
  const link: DoorLink = {
    room: () => room,
    send(bytes) {
      room -= bytes.length;
      write(frameOf("input", bytes));
    },
    ...numbersFor(greeting, write, handlers),
    end: () => write(frameOf("end")),
    held() {
      if (!isHeld) write(frameOf("held"));
      isHeld = true;
    },
    signal: (name) => write(frameOf("signal", name)),
    opened: (how) => write(frameOf("opened", JSON.stringify(how))),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
  };
  return new Promise((resolve) => {
    let isOpen = false;
    let isOver = false;
    const over = (how: Parameters<LinkHandlers["onEnd"]>[0]): void => {
      if (isOver) return;
      isOver = true;
      if (isOpen) handlers.onEnd(how);
      else resolve(how === "again" ? undefined : ENDED);
      socket.destroy();
    };
    socket.on("close", () => over("lost"));
    const hear = listener(handlers, (bytes) => (room += bytes));
    onFrames(({ kind, body }) => {
      if (kind === "ready") {
        isOpen = true;
        resolve(link);
      } else if (kind === "refused") {
        resolve(refusalIn(body));
        over("lost");
      } else if (kind === "leaving") over("left");
      else if (kind === "again") over("again");
      else if (kind === "exit") over({ code: Number(recordIn(body)?.["code"] ?? 1) });
      else hear({ kind, body });
    });
    socket.write(frameOf("hello", text));
  });
}

/** Hands on the frames of an open session that do not end it. */
function listener(handlers: LinkHandlers, onRoom: (bytes: number) => void): (frame: Frame) => void {
  return ({ kind, body }) => {
    if (kind === "output") handlers.onOutput(body);
    else if (kind === "notice") handlers.onNotice(body);
    else if (kind === "known") handlers.onKnown(againIn(body));
    else if (kind === "hold") handlers.onHold();
    else if (kind === "room") {
      onRoom(roomIn(body));
      handlers.onRoom();
    } else if (kind === "doors") {
      const wanted = readDoors(body);
      if (wanted !== undefined) handlers.onDoors?.(wanted);
    }
  };
}
