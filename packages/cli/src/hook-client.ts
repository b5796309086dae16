/**
 * Hook client: has the resident of the home answer a hook, in a process that loads nothing else of
 * ours. Where there is no resident of this very build, it says so and touches nothing; the whole
 * command then answers alone. Once an event was handed over, whatever goes wrong is a refusal.
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
/** The exit that agents read as "blocked". */
const BLOCKED = 2;

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
  const limitMs = ownMs + 1_000 * secondsIn(valueOf(argv, "--wait"), 0);
  setTimeout(() => refuse(`it took longer than ${limitMs / 1_000} seconds`), limitMs).unref();
  if (process.env["ACP_ALONE"] === "1" || process.platform === "win32") return false;
  const hello = helloOf(argv);
  const reached = await reach(hello, ownMs * GREETING_PART);
  if (reached === undefined) return false;
  try {
    const answered = await exchange(reached, hello);
    if (answered === "no_session") {
      reached.socket.destroy();
      return false;
    }
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
 */
async function reach(hello: Hello, greetingMsMax: number): Promise<Reached | undefined> {
  const home = namedHome(hello.argv, hello);
  const uid = process.getuid?.() ?? -1;
  try {
    const places = placesOf(home, { env: process.env, uid });
    const found = await reachResident(home, places, { uid, greetingMsMax });
    if (typeof found === "string") return undefined;
    const { build, isCurrent, protocol } = found.greeting;
    // Another build may decide otherwise.
    if (build === hello.build && isCurrent && speakAlike(protocol, hello.protocol)) return found;
    found.socket.destroy();
    return undefined;
  } catch {
    return undefined;
  }
}

/**
 * Hands the event over once there is a session, and takes the answer.
 *
 * @throws Error where a session ends without one.
 */
function exchange({ socket, onFrames }: Reached, hello: Hello): Promise<Answered | "no_session"> {
  return new Promise((resolve, reject) => {
    const text = Buffer.from(JSON.stringify(hello));
    if (text.length > BODY_BYTES_MAX) return resolve("no_session");
    const said: Record<"stdout" | "stderr", Buffer[]> = { stdout: [], stderr: [] };
    let event: ReturnType<typeof sender> | undefined;
    const take = ({ kind, body }: Frame): void => {
      if (kind === "ready" && event === undefined) event = sender(socket, reject);
      else if (kind === "refused" && event === undefined) resolve("no_session");
      else if (kind === "room") event?.(roomIn(body));
      else if (kind === "output") said.stdout.push(body);
      else if (kind === "notice") said.stderr.push(body);
      else if (kind === "exit") {
        const code = recordIn(body)?.["code"];
        const [stdout, stderr] = [Buffer.concat(said.stdout), Buffer.concat(said.stderr)];
        if (typeof code === "number") resolve({ stdout, stderr, code });
        else reject(new Error("the resident's answer is none"));
      } else reject(new Error("the resident ended without an answer"));
    };
    socket.on("close", () =>
      event === undefined
        ? resolve("no_session")
        : reject(new Error("the resident ended without an answer")),
    );
    onFrames(take);
    socket.write(frameOf("hello", text));
  });
}

/**
 * Sends the event on standard input as there is room for it.
 *
 * @returns What is called with the bytes of more room.
 */
function sender(socket: Reached["socket"], fail: (error: Error) => void): (bytes: number) => void {
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
  readAll(process.stdin).then((bytes) => {
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
