/**
 * Resident: one process a home that answers hooks, with the engine loaded and the log and the gate
 * open, so that an agent waits for little more than Node's start. It decides exactly as a hook that
 * answers alone. It ends when nobody needs it, when its socket is gone, and when it is out of date.
 */
import { lstat, unlink } from "node:fs/promises";
import type { Socket } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { ConsentError, isConsentError, isJsonObject } from "@acp/core";
import { holdWriter, makePrivateDirectory } from "@acp/home";
import { readCommandLine } from "../command-line.js";
import type { Command, Invocation } from "../command.js";
import { EXIT_CODES } from "../exit-codes.js";
import type { Exit } from "../exit-codes.js";
import { failureOf, renderFailure } from "../failure.js";
import { homeOf } from "../home/home-source.js";
import { runDirectory } from "../gate/run-directory.js";
import { listenPrivately } from "../resident/listen.js";
import { answerHook } from "./answer.js";
import { openDesk } from "./desk.js";
import type { HookDesk } from "./desk.js";
import { HOOK_BYTES_MAX, HOOK_SOCKET, greetingOf } from "./wire.js";
import type { HookHead, HookWords } from "./wire.js";

/** Ends after this long without a hook. */
const IDLE_MS = 600_000;
/** How often it looks whether it is still wanted. */
const LOOK_EVERY_MS = 2_000;
/** Hooks at once. */
const HOOKS_MAX = 64;
/** Longer paths of sockets are cut off silently on some systems. */
const SOCKET_PATH_BYTES_MAX = 103;

/** Serves the hooks of a home until it is told to end, or nobody needs it. */
export async function serveHooks(
  invocation: Invocation,
  commands: readonly Command[],
): Promise<Exit> {
  process.umask(0o077);
  const signal = invocation.io.onStop();
  const home = await homeOf(invocation);
  const directory = runDirectory(home.dir);
  const path = join(directory, HOOK_SOCKET);
  if (Buffer.byteLength(path) > SOCKET_PATH_BYTES_MAX)
    throw new ConsentError(
      "home_invalid",
      `Cannot serve hooks at "${path}": a socket's path has at most ${SOCKET_PATH_BYTES_MAX} bytes`,
    );
  await makePrivateDirectory(directory);
  // One a home, for as long as it lives: only its holder may remove a socket.
  await using _held = await holdWriter(directory, START_TRIES);
  const greeting = greetingOf(ENTRY);
  await using desk = openDesk(home.dir, invocation);
  // Without it hooks are answered all the same; only nobody is asked.
  await desk
    .gate()
    .catch((error: unknown) =>
      invocation.print.notice(isConsentError(error) ? error.message : String(error)),
    );
  await using hooks = await listen(path, { greeting, desk, invocation, commands });
  invocation.print.notice(`Answering the hooks of ${home.dir}`);
  await untilUnwanted({ hooks, path, greeting, signal });
  return "ok";
}

/** Two that start at once see each other, and one of them goes. */
const START_TRIES = 5;

/** The file that greetings name; the same for every file of one build. */
const ENTRY: string = fileURLToPath(new URL("./index.js", import.meta.url));

interface Serving {
  readonly greeting: string;
  readonly desk: HookDesk;
  readonly invocation: Invocation;
  readonly commands: readonly Command[];
}

interface Hooks extends AsyncDisposable {
  /** When the last one came or went; now, while one is there. */
  lastMs(): number;
}

async function listen(path: string, serving: Serving): Promise<Hooks> {
  const open = new Set<Socket>();
  let last = performance.now();
  const server = await listenPrivately(path, HOOKS_MAX, (socket) => {
    open.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      open.delete(socket);
      last = performance.now();
    });
    attend(socket, serving);
  });
  return {
    lastMs: () => (open.size > 0 ? performance.now() : last),
    async [Symbol.asyncDispose]() {
      const closed = server[Symbol.asyncDispose]();
      // Whoever waits for a person learns at once that nobody answers here.
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

/** Takes one hook's words, and answers. */
function attend(socket: Socket, serving: Serving): void {
  const gone = new AbortController();
  const chunks: Buffer[] = [];
  let size = 0;
  const silence = setTimeout(() => socket.destroy(), SILENCE_MS);
  const quit = (): void => {
    clearTimeout(silence);
    gone.abort(new Error("the agent no longer waits"));
    socket.destroy();
  };
  socket.write(serving.greeting);
  socket.on("end", quit).on("close", quit);
  socket.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
    const whole = size > HOOK_BYTES_MAX ? "wrong" : readWhole(chunks);
    if (whole === "part") return;
    if (whole === "wrong") return quit();
    clearTimeout(silence);
    socket.removeAllListeners("data").on("data", quit);
    void answer(whole, serving, gone.signal).then((words) => socket.end(JSON.stringify(words)));
  });
}

/** A hook hands its event over at once, but machines may be busy. */
const SILENCE_MS = 60_000;

interface Whole {
  readonly head: HookHead;
  readonly event: Buffer;
}

/** The head and the event, once all of both has come. */
function readWhole(chunks: Buffer[]): Whole | "part" | "wrong" {
  const bytes = chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks);
  chunks.splice(0, chunks.length, bytes);
  const end = bytes.indexOf(0x0a);
  if (end < 0) return "part";
  const head = readHead(bytes.toString("utf8", 0, end));
  if (head === undefined) return "wrong";
  const event = bytes.subarray(end + 1);
  return event.length < head.bytes ? "part" : { head, event };
}

const isText = (value: unknown): value is string => typeof value === "string";

function readHead(line: string): HookHead | undefined {
  let head: unknown;
  try {
    head = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isJsonObject(head)) return undefined;
  const { argv, env, cwd, bytes } = head;
  if (
    !Array.isArray(argv) ||
    !argv.every(isText) ||
    !isText(cwd) ||
    !isJsonObject(env) ||
    typeof bytes !== "number"
  )
    return undefined;
  return {
    argv,
    cwd,
    bytes,
    env: Object.fromEntries(
      Object.entries(env).filter((each): each is [string, string] => isText(each[1])),
    ),
  };
}

/** As the hook's own process would. Never rejects. */
async function answer(
  { head, event }: Whole,
  { desk, commands }: Serving,
  signal: AbortSignal,
): Promise<HookWords> {
  try {
    const { values, operands } = readCommandLine(head.argv, commands);
    const stdin = Readable.from([event]);
    const { stdout, stderr, exit } = await answerHook(
      { values, operands, io: { env: head.env, cwd: head.cwd, stdin } },
      desk,
      signal,
    );
    return { stdout, stderr, exitCode: EXIT_CODES[exit].code };
  } catch (error) {
    return {
      stdout: "",
      stderr: `${renderFailure(failureOf(error))}\n`,
      exitCode: EXIT_CODES.usage.code,
    };
  }
}

interface Wanted {
  readonly hooks: Hooks;
  readonly path: string;
  readonly greeting: string;
  readonly signal: AbortSignal;
}

/**
 * Settles when it is told to end, when no hook has come for long, when its socket is not there any
 * more, or when a newer build is.
 */
async function untilUnwanted({ hooks, path, greeting, signal }: Wanted): Promise<void> {
  const own = await lstat(path);
  const isWanted = async (): Promise<boolean> => {
    const found = await lstat(path).catch(() => undefined);
    return (
      found?.ino === own.ino && performance.now() - hooks.lastMs() < IDLE_MS && isCurrent(greeting)
    );
  };
  await new Promise<void>((resolve) => {
    const timer = setInterval(
      () => void isWanted().then((wanted) => (wanted ? undefined : end())),
      LOOK_EVERY_MS,
    );
    const end = (): void => {
      clearInterval(timer);
      resolve();
    };
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
  // Only our own: another one's may be there by now.
  if ((await lstat(path).catch(() => undefined))?.ino === own.ino)
    await unlink(path).catch(() => undefined);
}

function isCurrent(greeting: string): boolean {
  try {
    return greetingOf(ENTRY) === greeting;
  } catch {
    return false;
  }
}
