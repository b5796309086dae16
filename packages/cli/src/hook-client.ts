/**
 * Hook client: has the resident of the home answer a hook, in a process that loads nothing else of
 * ours. Where there is no resident of this very build, it says so and touches nothing; the whole
 * command then answers alone. Once an event was handed over, whatever goes wrong is a refusal.
 */
import { writeSync } from "node:fs";
import { type Socket, connect } from "node:net";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { isOurs } from "./is-ours.js";
import { secondsIn } from "./seconds-in.js";
import { HOOK_BYTES_MAX, HOOK_SOCKET, HOOK_VARIABLES, greetingOf } from "./hook/wire.js";
import type { HookHead, HookWords } from "./hook/wire.js";

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

/**
 * Answers the hook that this process is; says whether it did. From now on this process ends as a
 * refusal before its agent loses patience.
 */
export async function answerByResident(): Promise<boolean> {
  const argv = process.argv.slice(2);
  // These answer no hook.
  if (argv.some((word) => /^(?:-h|--(?:help|version|check|resident))(?:=|$)/.test(word)))
    return false;
  const ownMs = 1_000 * secondsIn(process.env["ACP_HOOK_SECONDS"], OWN_SECONDS);
  const limitMs = ownMs + 1_000 * secondsIn(valueOf(argv, "--wait"), 0);
  setTimeout(() => refuse(`it took longer than ${limitMs / 1_000} seconds`), limitMs).unref();
  if (process.env["ACP_ALONE"] === "1") return false;
  const home = valueOf(argv, "--home") ?? process.env["ACP_HOME"] ?? join(homedir(), ".acp");
  const socket = await reach(home, ownMs * GREETING_PART);
  if (socket === undefined) return false;
  try {
    const { stdout, stderr, exitCode } = await exchange(socket, argv);
    writeSync(1, stdout);
    if (stderr !== "") writeSync(2, stderr);
    process.exit(exitCode);
  } catch (error) {
    refuse(error instanceof Error ? error.message : String(error));
  }
  return true;
}

function refuse(why: string): void {
  process.stderr.write(`acp: Cannot judge the command: ${why} [internal_error]\n`);
  process.exit(BLOCKED);
}

/** The value of an option, however it is written. */
function valueOf(argv: readonly string[], name: string): string | undefined {
  const at = argv.findIndex((word) => word === name || word.startsWith(`${name}=`));
  const word = argv[at];
  if (word === undefined) return undefined;
  return word === name ? argv[at + 1] : word.slice(name.length + 1);
}

/**
 * Connects to the resident; `undefined` where there is none that may be trusted with an event and
 * speaks like us.
 */
function reach(home: string, greetingMs: number): Promise<Socket | undefined> {
  const path = join(home, "run", HOOK_SOCKET);
  const uid = process.getuid?.() ?? -1;
  if (!isAbsolute(home) || ![home, join(home, "run"), path].every((each) => isOurs(each, uid)))
    return Promise.resolve(undefined);
  const greeting = greetingOf(join(__dirname, "index.js"));
  return new Promise((resolve) => {
    const socket = connect(path);
    const settle = (reached: boolean): void => {
      clearTimeout(timer);
      socket.removeAllListeners();
      if (!reached) socket.destroy();
      resolve(reached ? socket : undefined);
    };
    const timer = setTimeout(() => settle(false), greetingMs);
    let heard = "";
    socket.setEncoding("utf8").on("data", (text) => {
      heard += String(text);
      if (heard.includes("\n")) settle(heard === greeting);
    });
    for (const event of ["error", "end", "close"]) socket.on(event, () => settle(false));
  });
}

async function exchange(socket: Socket, argv: readonly string[]): Promise<HookWords> {
  const event = await readAll(process.stdin);
  const env: Record<string, string> = {};
  for (const name of HOOK_VARIABLES) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  const head: HookHead = { argv, env, cwd: process.cwd(), bytes: event.length };
  socket.write(`${JSON.stringify(head)}\n`);
  socket.write(event);
  const said = wordsIn((await readAll(socket)).toString());
  if (said === undefined) throw new Error("the resident ended without an answer");
  return said;
}

function wordsIn(line: string): HookWords | undefined {
  let said: unknown;
  try {
    said = JSON.parse(line);
  } catch {
    return undefined;
  }
  return isWords(said) ? said : undefined;
}

function isWords(said: unknown): said is HookWords {
  if (
    typeof said !== "object" ||
    said === null ||
    !("stdout" in said && "stderr" in said && "exitCode" in said)
  )
    return false;
  return (
    typeof said.stdout === "string" &&
    typeof said.stderr === "string" &&
    typeof said.exitCode === "number"
  );
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
