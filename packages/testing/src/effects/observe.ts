/** Observe: runs one command in a world of traps and says what it did. */
import { execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { promisify } from "node:util";
import type { Effects, EffectsEnd } from "./effects.js";
import { endProcesses, untilStill, watchEnd } from "./end.js";
import { RUN_UID, type RunFolders, sandboxArgs } from "./sandbox.js";
import { PLANTED_SECRETS, printedSecrets } from "./secrets.js";
import { changesSince, takeSnapshot } from "./snapshot.js";
import { readTraces, type Started } from "./trace.js";
import { placeIn, type EffectWorld } from "./world.js";

/** Options of {@link observeEffects}. */
export interface ObserveOptions {
  /** Additional files of the project: contents by path. Hostile names are possible too. */
  readonly files?: Readonly<Record<string, string>>;
  /**
   * What the command reads: nothing (`closed`, the default), text from a pipe, or keys typed at a
   * terminal of 24 lines. Of typed keys, each line, or each item of a list, is sent when everything
   * that runs waits for input.
   */
  readonly stdin?:
    | "closed"
    | { readonly piped: string }
    | { readonly typed: string | readonly string[] };
  /** Environment variables in addition to `PATH`, `HOME` and a plain locale. */
  readonly variables?: Readonly<Record<string, string>>;
  /** The command's `PATH`; this process's own unless given. */
  readonly path?: string;
  /** Directory of the project that it runs in; the project's root unless given. */
  readonly cwd?: string;
  /** CPU time that it may use, in seconds; 10 unless given. */
  readonly cpuSecondsMax?: number;
}

const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;
const IDLE_LOOKS_MAX = 40;
const RESOLVER = "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n";
/** Who runs it, for programs that do not ask `HOME`: Java, ssh, Erlang. */
const USER = `someone:x:${RUN_UID}:${RUN_UID}::/world/home:/bin/bash\n`;
const SHELL = ["/bin/bash", "--noprofile", "--norc", "-c", "--"] as const;

async function makeFolders(
  world: EffectWorld,
  files: Readonly<Record<string, string>>,
): Promise<RunFolders & { readonly room: string }> {
  const room = await mkdtemp(join(tmpdir(), "acp-effects-"));
  const folders = {
    room,
    world: join(room, "world"),
    tmp: join(room, "tmp"),
    ran: join(room, "ran"),
    traces: join(room, "traces"),
  };
  await Promise.all([folders.tmp, folders.ran, folders.traces].map((folder) => mkdir(folder)));
  await promisify(execFile)("cp", ["-a", world.folder, folders.world]);
  const resolver = join(room, "resolv.conf");
  await writeFile(resolver, RESOLVER);
  const users = join(room, "passwd");
  const others = (await readFile("/etc/passwd", "utf8"))
    .split(/(?<=\n)/)
    .filter((line) => line.split(":")[2] !== String(RUN_UID));
  await writeFile(users, [USER, ...others].join(""));
  for (const [path, text] of Object.entries(files)) {
    const place = placeIn(folders.world, path);
    await mkdir(join(place, ".."), { recursive: true });
    await writeFile(place, text, { mode: 0o755 });
  }
  return { ...folders, resolver, users };
}

interface Run {
  readonly end: EffectsEnd;
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the sandbox to its end, by itself or by us. */
async function run(
  [program, ...args]: readonly [string, ...string[]],
  stdin: NonNullable<ObserveOptions["stdin"]>,
  limits: { readonly cpuSecondsMax: number },
): Promise<Run> {
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"] });
  const root = child.pid;
  const closed = new Promise<number | undefined>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? undefined));
  });
  if (root === undefined)
    return closed.then(() => Promise.reject(new Error(`Cannot observe: no ${program}`)));
  child.stdin.on("error", () => undefined);
  const [stdout, stderr] = [takeOutput(child.stdout), takeOutput(child.stderr)];
  const over = new AbortController();
  const typed = feed(stdin, { root, child, drawn: stdout.bytes, over: over.signal });
  const watched = watchEnd(root, { ...limits, idleLooksMax: IDLE_LOOKS_MAX }, over.signal);
  const flooded = Promise.race([stdout.flooded, stderr.flooded]).then(() => "flooding" as const);
  const end = await Promise.race([closed.then(() => "exited" as const), watched, flooded]);
  if (end !== undefined && end !== "exited") await endProcesses(root);
  const exitCode = await closed.finally(() => over.abort());
  await Promise.all([watched, typed]);
  return { end: end ?? "exited", exitCode, stdout: stdout.text(), stderr: stderr.text() };
}

interface Fed {
  readonly root: number;
  readonly child: { readonly stdin: Writable };
  /** Bytes that it has drawn so far. */
  readonly drawn: () => number;
  readonly over: AbortSignal;
}

/**
 * Gives a run its input: at once, or typed, each part once all that runs waits behind a screen of
 * its own.
 */
async function feed(
  stdin: NonNullable<ObserveOptions["stdin"]>,
  { root, child, drawn, over }: Fed,
): Promise<void> {
  if (stdin === "closed" || "piped" in stdin) {
    child.stdin.end(stdin === "closed" ? "" : stdin.piped);
    return;
  }
  const { typed } = stdin;
  for (const keys of [...(typeof typed === "string" ? typed.split(/(?<=\n)/) : typed), ""]) {
    const before = drawn();
    await untilStill(root, () => drawn() > before, over);
    if (over.aborted) return;
    if (keys !== "") child.stdin.write(keys);
  }
  child.stdin.end();
}

/** What a stream says up to a bound, and a promise for the moment at which it says more. */
function takeOutput(stream: Readable): {
  readonly flooded: Promise<void>;
  readonly text: () => string;
  readonly bytes: () => number;
} {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const flooded = new Promise<void>((resolve) => {
    stream.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= OUTPUT_BYTES_MAX) chunks.push(chunk);
      else resolve();
    });
  });
  return { flooded, text: () => Buffer.concat(chunks).toString(), bytes: () => bytes };
}

/** Programs that lie where everybody may have put them; those of traps are told by their marks. */
function startedHere(started: readonly Started[]): readonly string[] {
  const here = started
    .map(({ program }) => program)
    .filter((program) => /^(?:\/world\/|\/tmp\/|[^/])/.test(program));
  return [...new Set(here.filter((program) => !program.startsWith("/world/traps/")))];
}

/**
 * Runs a command among traps, the way an approved one runs, and returns what it did. Nothing of it
 * reaches the machine.
 */
export async function observeEffects(
  command: string,
  world: EffectWorld,
  {
    files = {},
    stdin = "closed",
    variables = {},
    path,
    cwd = "",
    cpuSecondsMax = 10,
  }: ObserveOptions = {},
): Promise<Effects> {
  const { room, ...folders } = await makeFolders(world, files);
  try {
    const before = await Promise.all([takeSnapshot(folders.world), takeSnapshot(folders.tmp)]);
    const shell = [...SHELL, command];
    const quoted = shell.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
    const isTyped = typeof stdin === "object" && "typed" in stdin;
    const argv = isTyped
      ? ["script", "-qefc", `stty rows 24 cols 80; exec ${quoted}`, "/dev/null"]
      : shell;
    const environment = {
      PATH: path ?? process.env["PATH"] ?? "/usr/bin:/bin",
      HOME: "/world/home",
      LANG: "C.UTF-8",
      TERM: isTyped ? "xterm" : "dumb",
      ...variables,
    };
    const args = await sandboxArgs(argv, folders, {
      cwd: join("/world/project", cwd),
      variables: environment,
    });
    const ended = await run(args, stdin, { cpuSecondsMax });
    const changed = [
      ...(await changesSince(before[0], folders.world, "/world")),
      ...(await changesSince(before[1], folders.tmp, "/tmp")),
    ];
    const traces = await Promise.all(
      (await readdir(folders.traces)).map((name) => readFile(join(folders.traces, name), "utf8")),
    );
    const { opened, refused, dialled, started } = readTraces(traces);
    const secrets = new Set(PLANTED_SECRETS.map((secret) => secret.path));
    return {
      command,
      changed,
      refused,
      ran: [
        ...(await readdir(folders.ran)).map((mark) => mark.replaceAll("%", "/")),
        ...startedHere(started),
      ].toSorted(),
      printed: printedSecrets(`${ended.stdout}\n${ended.stderr}`),
      dialled,
      opened: opened.filter((place) => secrets.has(place)),
      started,
      ...ended,
    };
  } finally {
    await rm(room, { recursive: true, force: true });
  }
}
