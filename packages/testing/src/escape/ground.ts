/**
 * Ground: what an attempt may reach for, outside of the sandbox: listeners, a home full of
 * canaries, processes with a secret. It is laid out in the world of escape/world.sh and ends with
 * it.
 */
import { execFile } from "node:child_process";
import { chown, readFile, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import type { EscapeArrival, EscapeAttempt } from "./attempt.js";
import { type Companion, type CompanionOptions, startCompanion } from "./companions.js";
import { layOut, type Places, textOf } from "./layout.js";
import { fieldsOf } from "./lines.js";
import { heardSoFar, OUTSIDE_TRY, startListener } from "./listeners.js";

/** The resource limits that the sandbox under test was given. */
export interface EscapeLimits {
  /** Number of processes and threads at the same time. */
  readonly processes: number;
  /** Bytes of memory of all processes together. */
  readonly memoryBytes: number;
  /** Bytes in each of its private temporary folders. */
  readonly scratchBytes: number;
  /** Number of open files of one process. */
  readonly openFiles: number;
}

/** The files, listeners and processes outside that attempts try to reach. */
export interface EscapeGroundOptions {
  /**
   * Uid of the owner of the home, the sockets and the processes outside, if this process is root;
   * this process's own unless given.
   */
  readonly owner?: number;
  /** The limits that the sandbox was given: attempts go a little beyond them. */
  readonly limits?: EscapeLimits;
  /** How long an attempt waits for somebody to connect to it, in seconds; 2 unless given. */
  readonly patienceSeconds?: number;
}

/** What an attempt may reach for. */
export interface EscapeGround extends AsyncDisposable {
  /** The agent's directory, which it may write to; it contains the programs. */
  readonly workspace: string;
  /** A home directory that must stay invisible to the agent. */
  readonly hidden: string;
}

/** The same with what the kit itself needs. */
export interface LaidGround extends EscapeGround {
  readonly secret: string;
  /** Fills in what `{name}` stands for; `number` is the attempt's place among all. */
  fill(attempt: EscapeAttempt, number: number): Promise<FilledAttempt>;
  /** Everything heard so far: what was sent before the call is in it. */
  arrivals(): Promise<readonly EscapeArrival[]>;
}

/** An attempt with its places filled in. */
export interface FilledAttempt {
  readonly attempt: EscapeAttempt;
  readonly token: string;
  /** Addresses outside that belong to this attempt alone. */
  readonly addresses: readonly string[];
  readonly run: readonly string[];
  /** The process that this attempt is to kill, if any. */
  readonly target: Companion | undefined;
  /** Whether its file outside is not what it was. */
  isChanged(): Promise<boolean>;
  /**
   * Whether the host has what it is made of: tried outside of the sandbox, with other addresses.
   */
  isPossible(): Promise<boolean>;
}

const DEFAULT_LIMITS: EscapeLimits = {
  processes: 256,
  memoryBytes: 512 * 2 ** 20,
  scratchBytes: 64 * 2 ** 20,
  openFiles: 512,
};

function fromWorld(name: string): string {
  const value = process.env[name];
  if (value === undefined)
    throw new Error(
      `Cannot lay out the ground: "${name}" is not set, this is not the world of escape/world.sh`,
    );
  return value;
}

/**
 * Creates what attempts try to reach. Call it in a process that runs in the world of {@link
 * escapeWorld}, which ends whatever is left of it.
 */
export async function openEscapeGround({
  owner,
  limits = DEFAULT_LIMITS,
  patienceSeconds = 2,
}: EscapeGroundOptions = {}): Promise<EscapeGround> {
  const root = fromWorld("ESCAPE_GROUND");
  const secretFile = fromWorld("ESCAPE_SECRET");
  const programs = fromWorld("ESCAPE_PROGRAMS");
  const secret = await readFile(secretFile, "utf8");
  const nonce = secret.slice(-8);
  const at = (name: string): string => join(root, name);
  const places: Places = {
    workspace: at("workspace"),
    hidden: at("home/.acp"),
    sockets: at("sockets"),
    shared: `/dev/shm/escape-${nonce}`,
  };
  await layOut(places, { secret, programs, owner });
  if (owner !== undefined) await chown(secretFile, owner, owner);
  const common: CompanionOptions = {
    programs,
    owner,
    cwd: root,
    marker: `holder-${nonce}`,
    secretFile,
    secret,
  };
  const hostLog = at("host.jsonl");
  const listener = await startListener(common, places.sockets, hostLog);
  const victim = await startCompanion(common);
  const targets: Companion[] = [];
  const names = {
    ...namesOf(places, victim),
    ...tooMuchOf(limits),
    keyHandle: await handleOf(programs, join(places.hidden, "keys.json")),
    patienceSeconds: String(patienceSeconds),
  };
  const ground: LaidGround = {
    ...places,
    secret,
    fill: async (attempt, number) =>
      fill(attempt, { number, names, nonce, common, targets, hidden: places.hidden }),
    arrivals: async () => heardSoFar([fromWorld("ESCAPE_OUTSIDE"), hostLog]),
    async [Symbol.asyncDispose]() {
      await Promise.all([listener.end(), victim.end(), ...targets.map((target) => target.end())]);
      await rm(places.shared, { force: true });
    },
  };
  return ground;
}

type Names = Readonly<Record<string, string>>;

function namesOf(places: Places, { pid, marker, address }: Companion): Names {
  return {
    workspace: places.workspace,
    hidden: places.hidden,
    sockets: places.sockets,
    shm: basename(places.shared),
    bin: join(places.workspace, "programs"),
    victimPid: String(pid),
    victim: marker,
    victimAddress: address,
    managerPid: String(process.pid),
    managerName: basename(process.argv[1] ?? process.argv0),
  };
}

async function handleOf(programs: string, path: string): Promise<string> {
  const { stdout } = await promisify(execFile)(join(programs, "files"), ["handle-of", path]);
  return fieldsOf(stdout)["detail"] ?? "";
}

/** Just beyond each limit, so that an attempt costs little where nothing is capped. */
function tooMuchOf({ processes, memoryBytes, scratchBytes, openFiles }: EscapeLimits): Names {
  return {
    tooManyProcesses: String(processes + 32),
    tooMuchMemory: String(memoryBytes + 64 * 2 ** 20),
    tooMuchScratch: String(scratchBytes + 16 * 2 ** 20),
    tooManyFiles: String(openFiles + 16),
  };
}

interface FillParts {
  readonly number: number;
  readonly names: Names;
  readonly nonce: string;
  readonly common: CompanionOptions;
  /** Takes what is started, to be ended with the ground. */
  readonly targets: Companion[];
  readonly hidden: string;
}

async function fill(
  attempt: EscapeAttempt,
  { number, names, nonce, common, targets, hidden }: FillParts,
): Promise<FilledAttempt> {
  const token = `escape-${attempt.id}-${nonce}`;
  const needsTarget = attempt.run.includes("{targetPid}");
  const target = needsTarget
    ? await startCompanion({ ...common, marker: token, secretFile: "" })
    : undefined;
  if (target !== undefined) targets.push(target);
  const place = (1 + number).toString(16);
  const own: Names = {
    v4: `198.51.100.${1 + number}`,
    v6: `2001:db8:1::${place}`,
    token,
    targetPid: String(target?.pid ?? 0),
  };
  const runWith = (all: Names): readonly string[] =>
    attempt.run.map((word) =>
      word.replaceAll(/\{(\w+)\}/g, (whole, name: string) => all[name] ?? whole),
    );
  const file = attempt.file === undefined ? undefined : join(hidden, attempt.file);
  const before = file === undefined ? undefined : await textOf(file);
  return {
    attempt,
    token,
    addresses: [own["v4"] ?? "", own["v6"] ?? ""],
    run: runWith({ ...names, ...own }),
    target,
    isChanged: async () => file !== undefined && (await textOf(file)) !== before,
    isPossible: async () => isPossible(runWith({ ...names, ...own, ...OUTSIDE_TRY }), common),
  };
}

/** Makes an attempt outside of the sandbox, to see whether it is to be had here at all. */
async function isPossible(
  [program = "", ...args]: readonly string[],
  { programs, owner, cwd }: CompanionOptions,
): Promise<boolean> {
  const path = join(programs, program);
  const [file, ...words] = program.endsWith(".sh")
    ? (["sh", path, ...args] as const)
    : ([path, ...args] as const);
  const as = owner === undefined ? {} : { uid: owner, gid: owner };
  try {
    const { stdout } = await promisify(execFile)(file, words, { cwd, ...as });
    return fieldsOf(stdout)["outcome"] !== "unavailable";
  } catch {
    return false;
  }
}
