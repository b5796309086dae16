/**
 * A home with a resident: the built `acp mcp` with lines as an MCP client writes them, before a
 * server that keeps a journal of its own.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { cp, mkdir, readFile, readdir, symlink, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { BIN, acp, scratch } from "./harness.js";
import type { Ended, Scratch } from "./harness.js";

const SERVER = fileURLToPath(new URL("fixtures/journal-server.mjs", import.meta.url));
const POLICY = `version: "1"
default_action: deny
rules:
  - id: acts
    match: { tool: act }
    action: allow
  - id: tells
    match: { tool: who }
    action: allow
  - id: asks
    match: { tool: ask }
    action: ask
`;

/** One answer to a request. */
export interface Answer {
  readonly id?: number | string;
  readonly result?: { readonly content?: readonly { readonly text: string }[] };
  readonly error?: {
    readonly message: string;
    readonly data?: { readonly code?: string; readonly retryable?: boolean };
  };
}

/** A client that counts what it is told. */
export interface RawClient extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly stderr: () => string;
  /** Every answer, by the id of its request. */
  readonly answers: ReadonlyMap<number | string, readonly Answer[]>;
  send(message: object): void;
  /** Sends a request, and resolves with its first answer. */
  ask(method: string, params?: object): Promise<Answer>;
  /** Calls a tool, and resolves with its first answer. */
  call(name: string, args?: object): Promise<Answer>;
  /** The id that the next request gets. */
  nextId(): number;
  readonly ended: Promise<number | null>;
}

export interface ClientOptions {
  /** The program; the built one unless given. */
  readonly bin?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Options of `acp mcp` before `--`. */
  readonly args?: readonly string[];
  /** More arguments of the server; `null` leaves the server to the configuration. */
  readonly server?: readonly string[] | null;
  /** Another server: its command, before the path of the journal. */
  readonly command?: readonly string[];
}

/** A home and its resident. */
export interface ResidentWorld extends Scratch {
  readonly home: string;
  readonly journal: string;
  /** Starts a client; the handshake is done. */
  client(options?: ClientOptions): Promise<RawClient>;
  /** Starts a client; nothing is sent yet. */
  start(options?: ClientOptions): RawClient;
  acp(args: readonly string[]): Promise<Ended>;
  /** The process of the resident that has the lock. */
  pid(): number;
  /** What the server did. */
  done(): readonly string[];
  /** Names of the logs of the home. */
  logs(): Promise<readonly string[]>;
}

/** Makes a home; its resident is killed with it. */
export async function residentWorld(policy: string = POLICY): Promise<ResidentWorld> {
  const at = await scratch();
  const [home, journal] = [join(at.path, "h"), join(at.path, "journal")];
  await mkdir(home, { mode: 0o700 });
  await writeFile(join(home, "policy.yml"), policy, { mode: 0o600 });
  const start = (options: ClientOptions = {}): RawClient => startClient({ home, journal }, options);
  return {
    ...at,
    home,
    journal,
    start,
    async client(options) {
      const client = start(options);
      await client.ask("initialize", INITIALIZE);
      client.send({ method: "notifications/initialized" });
      return client;
    },
    acp: (args) => acp([...args, "--home", home]),
    pid: () => residentOf(home),
    done: () => (existsSync(journal) ? readFileSync(journal, "utf8").trim().split("\n") : []),
    logs: async () => (await readdir(home)).filter((name) => /^audit(?:\.\d+)?\.jsonl$/.test(name)),
    async [Symbol.asyncDispose]() {
      await acp(["resident", "stop", "--home", home]);
      await at[Symbol.asyncDispose]();
    },
  };
}

/** Parameters of `initialize`. */
export const INITIALIZE = {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "raw", version: "1" },
};

/** The process that says that it serves the home, in the log that starts write. */
export function residentOf(home: string): number {
  const text = readFileSync(join(home, "run", "resident.log"), "utf8");
  return Number([...text.matchAll(/as process (\d+)/g)].at(-1)?.[1]);
}

/** How many residents ever served the home. */
export async function startsOf(home: string): Promise<number> {
  const text = await readFile(join(home, "run", "resident.log"), "utf8");
  return [...text.matchAll(/as process \d+/g)].length;
}

function startClient(
  { home, journal }: { readonly home: string; readonly journal: string },
  {
    bin = BIN,
    env = {},
    cwd,
    args = [],
    server = [],
    command = [process.execPath, SERVER],
  }: ClientOptions,
): RawClient {
  const words = server === null ? [] : ["--", ...command, journal, ...server];
  const child = spawn(process.execPath, [bin, "mcp", "--home", home, ...args, ...words], {
    cwd: cwd ?? home,
    env: { PATH: process.env["PATH"], HOME: homedir(), ACP_RESIDENT_SECONDS: "600", ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const answers = new Map<number | string, Answer[]>();
  const waiting = new Map<number, (answer: Answer) => void>();
  let [said, rest, id] = ["", "", 0];
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const answer: Answer = JSON.parse(line);
      if (answer.id === undefined) continue;
      answers.set(answer.id, [...(answers.get(answer.id) ?? []), answer]);
      waiting.get(Number(answer.id))?.(answer);
    }
  });
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  child.stdin.on("error", () => undefined);
  const send = (message: object): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const ask: RawClient["ask"] = (method, params = {}) =>
    new Promise((resolve, reject) => {
      const own = id++;
      waiting.set(own, resolve);
      void ended.then((code) => reject(new Error(`the client ended (${code}): ${said}`)));
      send({ id: own, method, params });
    });
  return {
    child,
    stderr: () => said,
    answers,
    send,
    ask,
    call: (name, given = {}) => ask("tools/call", { name, arguments: given }),
    nextId: () => id,
    ended,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** An installation of its own: another build of the same code, of any version. */
export interface Installed {
  readonly folder: string;
  readonly bin: string;
  /** Runs a command of it. */
  acp(args: readonly string[]): Promise<{ readonly code: number | null; readonly stdout: string }>;
  /** Puts another version in its place, as an update does. */
  become(version: string): Promise<void>;
}

/** Copies the built program. */
export async function install(folder: string, version: string): Promise<Installed> {
  const built = dirname(dirname(BIN));
  const bin = join(folder, "bin/acp.cjs");
  const become = async (next: string): Promise<void> => {
    const manifest: object = JSON.parse(await readFile(join(built, "package.json"), "utf8"));
    const text = JSON.stringify({ ...manifest, version: next });
    await writeFile(join(folder, "package.json"), text);
    // Written anew, so that it is another file in time.
    await writeFile(join(folder, "dist/index.js"), await readFile(join(built, "dist/index.js")));
  };
  await mkdir(folder);
  for (const name of ["bin", "dist", "inside"])
    await cp(join(built, name), join(folder, name), {
      recursive: true,
      filter: (path) => !/\.(?:map|d\.ts)$/u.test(path),
    });
  await symlink(join(built, "node_modules"), join(folder, "node_modules"));
  await become(version);
  const run: Installed["acp"] = (args) =>
    new Promise((resolve) => {
      const env = { PATH: process.env["PATH"], HOME: homedir(), ACP_RESIDENT_SECONDS: "600" };
      const child = spawn(process.execPath, [bin, ...args], { env, cwd: "/" });
      let stdout = "";
      child.stdout.on("data", (chunk) => (stdout += String(chunk)));
      child.on("close", (code) => resolve({ code, stdout }));
    });
  return { folder, bin, acp: run, become };
}

/** The first text of an answer. */
export const textOf = ({ result }: Answer): string => result?.content?.[0]?.text ?? "";
