/**
 * Hook client: has the resident of the home answer a hook, in a process that loads nothing else of
 * ours. Where there is no resident of this very build, it says so and touches nothing; the whole
 * command then answers alone. Once an event was handed over, whatever goes wrong is a refusal, but
 * for a resident that gives way to another one: that one gets the event as well, and its question is
 * the same. Rules: spec/resident.md §4.
 */
import { writeSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { buildOf, versionOf } from "./build-of.js";
import { secondsIn } from "./seconds-in.js";
import { HOOK_BYTES_MAX, HOOK_VARIABLES } from "./hook/wire.js";
import { namedHome, placesOf, valueOf } from "./resident/places.js";
import { reachResident } from "./resident/reach.js";
import type { Reached } from "./resident/reach.js";
import {
  BODY_BYTES_MAX,
  PROTOCOLS,
  ROOM_BYTES,
  frameOf,
  recordIn,
  roomIn,
  speakAlike,
} from "./resident/wire.js";
import type { Frame, Hello } from "./resident/wire.js";

/**
 * How long a hook may take that waits for nobody, unless `ACP_HOOK_SECONDS` says it: agents end
 * theirs after ten seconds or more, and then run the command.
 */
const OWN_SECONDS = 8;
/**
 * The part of that time in which a resident has to greet: a process that is stopped accepts and
 * says nothing.
 */
const GREETING_PART = 1 / 4;
/** How long a resident that was to follow another one is looked for, and how often. */
const FOLLOW_MS = 10_000;
const LOOK_EVERY_MS = 50;
/** The exit that agents read as "blocked". */
const BLOCKED = 2;

const UNANSWERED = "the resident ended without an answer";
const WAIT = "--wait";

/** What the resident answered. */
interface Answered {
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  readonly code: number;
}

/**
 * Answers the hook that this process is; says whether it did. From now on this process ends as a
 * refusal before its agent loses patience.
 */
export async function answerByResident(): Promise<boolean> {
  const argv = process.argv.slice(2);
  // These answer no hook.
  if (argv.some((word) => /^(?:-h|--(?:help|version|check))(?:=|$)/.test(word))) return false;
  const ownMs = 1_000 * secondsIn(process.env["ACP_HOOK_SECONDS"], OWN_SECONDS);
  const limitMs = ownMs + 1_000 * secondsIn(valueOf(argv, WAIT), 0);
  setTimeout(() => refuse(`it took longer than ${limitMs / 1_000} seconds`), limitMs).unref();
  if (process.env["ACP_ALONE"] === "1" || process.platform === "win32") return false;
  const hello = helloOf(argv);
  const look = (build?: string): Promise<Reached | undefined> =>
    reach(hello, { greetingMsMax: ownMs * GREETING_PART, build });
  const reached = await look(hello.build);
  if (reached === undefined) return false;
  try {
    const answered = await exchangeAll(reached, hello, look);
    if (answered === "no_session") return false;
    const { stdout, stderr, code } = answered;
    writeSync(1, stdout);
    if (stderr.length > 0) writeSync(2, stderr);
    process.exit(code);
  } catch (error) {
    refuse(error instanceof Error ? error.message : String(error));
  }
  return true;
}

function refuse(why: string): void {
  process.stderr.write(`acp: Cannot judge the command: ${why} [internal_error]\n`);
  process.exit(BLOCKED);
}

/** Who asks: of its environment only what its answer needs. */
function helloOf(argv: readonly string[]): Hello {
  const env: Record<string, string> = {};
  for (const name of [...HOOK_VARIABLES, "ACP_HOME"]) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  const entry = join(__dirname, "index.js");
  return {
    protocol: PROTOCOLS,
    version: versionOf(entry),
    build: buildOf(entry),
    argv,
    cwd: process.cwd(),
    env,
    userHome: homedir(),
    pid: process.pid,
    ppid: process.ppid,
    umask: process.umask(),
  };
}

/**
 * Connects to the resident; `undefined` where there is none that may be trusted with an event and
 * speaks like us.
 *
 * @param which - `build`: which one it has to be of; any unless given.
 */
async function reach(
  hello: Hello,
  which: { readonly greetingMsMax: number; readonly build: string | undefined },
): Promise<Reached | undefined> {
  const { greetingMsMax } = which;
  const home = namedHome(hello.argv, hello);
  const uid = process.getuid?.() ?? -1;
  try {
    const places = placesOf(home, { env: process.env, uid });
    const found = await reachResident(home, places, { uid, greetingMsMax });
    if (typeof found === "string") return undefined;
    const { build, isCurrent, protocol } = found.greeting;
    // Another build may decide otherwise.
    const isMeant = which.build === undefined || which.build === build;
    if (isMeant && isCurrent && speakAlike(protocol, hello.protocol)) return found;
    found.socket.destroy();
    return undefined;
  } catch {
    return undefined;
  }
}

/**
 * The same event goes to one resident after another until one of them answers: the question of the
 * first is open there, and waits for it.
 *
 * @throws Error where a session that has the event ends without an answer, or none follows it.
 */
async function exchangeAll(
  first: Reached,
  hello: Hello,
  look: () => Promise<Reached | undefined>,
): Promise<Answered | "no_session"> {
  const startMs = performance.now();
  let reading: Promise<Buffer> | undefined;
  const event = (): Promise<Buffer> => (reading ??= readAll(process.stdin));
  for (let reached: Reached | undefined = first, argv = hello.argv; reached !== undefined; ) {
    const answered = await exchange(reached, { ...hello, argv }, event);
    if (typeof answered !== "string") return answered;
    reached.socket.destroy();
    if (answered === "no_session") break;
    reached = await follow(look);
    argv = waitingFor(hello.argv, performance.now() - startMs);
  }
  if (reading === undefined) return "no_session";
  throw new Error(UNANSWERED);
}

/** The resident that follows; nothing where none does in time. */
async function follow(look: () => Promise<Reached | undefined>): Promise<Reached | undefined> {
  for (const untilMs = performance.now() + FOLLOW_MS; performance.now() < untilMs; ) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    const found = await look();
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The command line with what is left of its `--wait`. */
function waitingFor(argv: readonly string[], goneMs: number): readonly string[] {
  const wait = valueOf(argv, WAIT);
  if (wait === undefined) return argv;
  const left = String(Math.max(1, Math.floor(Number(wait) - goneMs / 1_000)));
  const at = argv.findIndex((word) => word === WAIT || word.startsWith(`${WAIT}=`));
  const isApart = argv[at] === WAIT;
  return [...argv.slice(0, at), `${WAIT}=${left}`, ...argv.slice(isApart ? at + 2 : at + 1)];
}

/**
 * Hands the event over once there is a session, and takes the answer; `again` where another session
 * is to be opened for it.
 *
 * @throws Error where a session ends without one.
 */
function exchange(
  { socket, onFrames }: Reached,
  hello: Hello,
  read: () => Promise<Buffer>,
): Promise<Answered | "no_session" | "again"> {
  return new Promise((resolve, reject) => {
    const text = Buffer.from(JSON.stringify(hello));
    if (text.length > BODY_BYTES_MAX) return resolve("no_session");
    const said: Record<"stdout" | "stderr", Buffer[]> = { stdout: [], stderr: [] };
    let event: ReturnType<typeof sender> | undefined;
    const take = ({ kind, body }: Frame): void => {
      if (kind === "ready" && event === undefined) event = sender(socket, read(), reject);
      else if (kind === "refused" && event === undefined) resolve("no_session");
      else if (kind === "room") event?.(roomIn(body));
      else if (kind === "hold") socket.write(frameOf("held"));
      else if (kind === "again") resolve("again");
      else if (kind === "output") said.stdout.push(body);
      else if (kind === "notice") said.stderr.push(body);
      else if (kind === "exit") {
        const code = recordIn(body)?.["code"];
        const [stdout, stderr] = [Buffer.concat(said.stdout), Buffer.concat(said.stderr)];
        if (typeof code === "number") resolve({ stdout, stderr, code });
        else reject(new Error("the resident's answer is none"));
      } else reject(new Error(UNANSWERED));
    };
    socket.on("close", () =>
      event === undefined ? resolve("no_session") : reject(new Error(UNANSWERED)),
    );
    onFrames(take);
    socket.write(frameOf("hello", text));
  });
}

/**
 * Sends the event as there is room for it.
 *
 * @returns What is called with the bytes of more room.
 */
function sender(
  socket: Reached["socket"],
  event: Promise<Buffer>,
  fail: (error: Error) => void,
): (bytes: number) => void {
  let room = ROOM_BYTES;
  let rest: Buffer | undefined;
  const send = (): void => {
    while (rest !== undefined && rest.length > 0 && room > 0) {
      const part = rest.subarray(0, Math.min(room, BODY_BYTES_MAX));
      room -= part.length;
      rest = rest.subarray(part.length);
      socket.write(frameOf("input", part));
    }
    if (rest?.length !== 0) return;
    rest = undefined;
    socket.write(frameOf("end"));
  };
  event.then((bytes) => {
    rest = bytes;
    send();
  }, fail);
  return (bytes) => {
    room += bytes;
    send();
  };
}

/** Plain events: an async iterator of a stream costs a hook two milliseconds. */
function readAll(stream: NodeJS.ReadableStream): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    stream.on("data", (chunk: Buffer | string) => {
      const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
      chunks.push(bytes);
      size += bytes.length;
      if (size > HOOK_BYTES_MAX) reject(new Error("the event is too large"));
    });
    stream.on("end", () => resolve(Buffer.concat(chunks)));
    stream.on("error", reject);
  });
}
