/**
 * Ground: where attempts against a manager are made: a workspace for each pair of starts, a home
 * with what is hidden, and a folder of marks that no sandbox shows. It lies in the world of
 * escape/world.sh and ends with it.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import {
  chmod,
  chown,
  copyFile,
  lstat,
  mkdir,
  open,
  readFile,
  readlink,
  rm,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { ManagerAttempt } from "./attempt.js";

/** The files and listeners outside that attempts try to reach. */
export interface ManagerGround {
  /** The person's home directory. */
  readonly home: string;
  /**
   * The folder in it that no agent may see, where a manager keeps its own files. Its file `key` has
   * the secret.
   */
  readonly hidden: string;
  /** Uid of the owner of workspaces; absent: this process's own. */
  readonly owner?: number;
}

/** Options of {@link openManagerGround}. */
export interface ManagerGroundOptions {
  /** Uid of the owner of workspaces, if this process is root. */
  readonly owner?: number;
  /** What the agent runs to make the manager start its servers; not needed unless given. */
  readonly bridge?: string;
}

/** The same with what the kit itself needs. */
export interface LaidManagerGround extends ManagerGround {
  readonly secret: string;
  /** What a manager is started with, as a person's shell has it. */
  readonly env: Readonly<Record<string, string>>;
  /** Lays out a workspace for attempts that share their starts. */
  layOut(name: string, attempts: readonly ManagerAttempt[]): Promise<ManagerPlace>;
  /** Runs a script of a person's in an attempt's folder, outside of any sandbox. */
  asPerson(script: string, place: ManagerPlace, id: string): Promise<void>;
  /** What the mark of an attempt says; empty where there is none. */
  markOf(id: string): Promise<string>;
  /** What stands for the file of an attempt: its type, its mode and what is in it. */
  stateOf(attempt: ManagerAttempt, place: ManagerPlace): Promise<string>;
}

/** A workspace. */
export interface ManagerPlace {
  readonly workspace: string;
  /** The agent's command in a run. */
  agent(run: string): readonly string[];
  /** What a script of the agent's said. */
  said(run: string, id: string): Promise<string>;
  /** Whether the agent came to the end of a run. */
  isDone(run: string): Promise<boolean>;
}

export const KIT: string = fileURLToPath(new URL("../../escape/manager", import.meta.url));
/** Who commits: the owner of a workspace may have no home of its own. */
const PERSON = Object.fromEntries(
  ["AUTHOR", "COMMITTER"].flatMap((role) => [
    [`GIT_${role}_NAME`, "person"],
    [`GIT_${role}_EMAIL`, "person@kit.example"],
  ]),
);
const READ_BYTES_MAX = 1_000_000;
const SCRIPT_TIMEOUT_MS = 30_000;
const run = promisify(execFile);

/**
 * What the agent has left: a pipe waits for nobody, a link leads nowhere, and nothing is without an
 * end.
 */
async function textOf(path: string): Promise<string> {
  try {
    await using file = await open(
      path,
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(READ_BYTES_MAX),
      0,
      READ_BYTES_MAX,
      0,
    );
    return buffer.toString("latin1", 0, bytesRead);
  } catch {
    return "";
  }
}

async function stateOf(path: string): Promise<string> {
  try {
    const { mode } = await lstat(path);
    const content = await readlink(path).catch(() => textOf(path));
    return `${mode.toString(8)} ${createHash("sha256").update(content).digest("hex")}`;
  } catch {
    return "nothing";
  }
}

function fromWorld(name: string): string {
  const value = process.env[name];
  if (value === undefined)
    throw new Error(
      `Cannot lay out the ground: "${name}" is not set, this is not the world of escape/world.sh`,
    );
  return value;
}

/** What the parts of a ground have in common. */
interface GroundParts {
  readonly root: string;
  /** What the agent's scripts know. */
  readonly facts: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  readonly owner: number | undefined;
}

/**
 * Creates what attempts try to reach. Call it in a process that runs in the world of {@link
 * escapeWorld}, which ends whatever is left of it.
 */
export async function openManagerGround({
  owner,
  bridge = "",
}: ManagerGroundOptions = {}): Promise<ManagerGround> {
  const root = fromWorld("ESCAPE_GROUND");
  const secretFile = fromWorld("ESCAPE_SECRET");
  const secret = await readFile(secretFile, "utf8");
  const home = fromWorld("HOME");
  const [hidden, marks, runtime] = [join(home, ".acp"), join(root, "marks"), join(home, "runtime")];
  await mkdir(hidden, { mode: 0o700 });
  await mkdir(runtime, { mode: 0o700 });
  await mkdir(marks);
  await chmod(marks, 0o1777);
  await writeFile(join(hidden, "key"), secret, { mode: 0o600 });
  await writeFile(
    join(home, ".gitconfig"),
    "[safe]\n\tdirectory = *\n[user]\n\tname = person\n\temail = person@kit.example\n",
  );
  const facts = {
    MARKS: marks,
    TOKENS: secret.slice(-8),
    BRIDGE: bridge,
    REAL_HOME: home,
    REAL_TMP: join(root, "tmp"),
    REAL_RUNTIME: runtime,
    SECRET_FILE: secretFile,
    KIT_OUTSIDE: String(process.pid),
  };
  const env = {
    HOME: home,
    USER: "person",
    LANG: "C.UTF-8",
    TERM: "xterm",
    TMPDIR: facts.REAL_TMP,
    XDG_RUNTIME_DIR: runtime,
    PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    KIT_SECRET: secret,
    KIT_NODE: process.execPath,
    MARKS: marks,
    ACP_ALONE: "1",
    ...PERSON,
  };
  const parts: GroundParts = { root, facts, env, owner };
  const ground: LaidManagerGround = {
    home,
    hidden,
    secret,
    env,
    ...(owner !== undefined && { owner }),
    layOut: (name, attempts) => layOut(parts, name, attempts),
    asPerson: (text, place, id) =>
      runScript({ ...parts, owner: undefined }, text, { place, id }).catch(() => undefined),
    markOf: async (id) => (await textOf(join(marks, id))).trim(),
    stateOf: ({ id, file = "" }, { workspace }) =>
      stateOf(file.startsWith("~/") ? join(home, file.slice(2)) : join(workspace, id, file)),
  };
  return ground;
}

/** A folder of the owner's. */
async function makeFolder(path: string, owner: number | undefined): Promise<void> {
  await mkdir(path);
  if (owner !== undefined) await chown(path, owner, owner);
}

/**
 * A workspace with the scripts of its attempts, and what each finds there. The folder for temporary
 * files is empty again.
 */
async function layOut(
  parts: GroundParts,
  name: string,
  attempts: readonly ManagerAttempt[],
): Promise<ManagerPlace> {
  const { root, facts, owner } = parts;
  const temporary = join(root, "tmp");
  await rm(temporary, { recursive: true, force: true });
  await mkdir(temporary);
  await chmod(temporary, 0o1777);
  const workspace = join(root, `work-${name}`);
  const kit = join(workspace, ".kit");
  for (const folder of [workspace, kit, ...attempts.map(({ id }) => join(workspace, id))])
    await makeFolder(folder, owner);
  const lines = Object.entries({ ...facts, W: workspace }).map(
    ([key, value]) => `${key}='${value}'\n`,
  );
  await writeFile(join(kit, "facts"), lines.join(""));
  for (const file of ["agent.sh", "words.sh", "above.py", "turns.py"])
    await copyFile(join(KIT, file), join(kit, file));
  const place = placeAt(workspace);
  for (const [number, { id, agent, again, before, group }] of attempts.entries()) {
    const order = String(number).padStart(3, "0");
    await writeFile(
      join(kit, `${group === "race" ? "waiting" : "1"}-${order}-${id}.sh`),
      `${agent}\n`,
    );
    if (again !== undefined && group !== "race")
      await writeFile(join(kit, `2-${order}-${id}.sh`), `${again}\n`);
    if (before !== undefined) await runScript(parts, before, { place, id });
  }
  return place;
}

interface Spot {
  readonly place: ManagerPlace;
  readonly id: string;
}

/** Runs a script in an attempt's folder, outside of any sandbox. */
async function runScript(
  { facts, env, owner }: GroundParts,
  text: string,
  { place, id }: Spot,
): Promise<void> {
  const D = join(place.workspace, id);
  const variables = { ...env, ...facts, W: place.workspace, D, ID: id };
  const as = owner === undefined ? {} : { uid: owner, gid: owner };
  const options = {
    cwd: D,
    env: variables,
    timeout: SCRIPT_TIMEOUT_MS,
    killSignal: "SIGKILL",
    ...as,
  } as const;
  await run("sh", ["-c", `set -e; . '${KIT}/words.sh'\n${text}`], options);
}

function placeAt(workspace: string): ManagerPlace {
  const kit = join(workspace, ".kit");
  return {
    workspace,
    agent: (run_) => ["/bin/sh", join(kit, "agent.sh"), join(kit, "facts"), run_],
    said: (run_, id) => textOf(join(kit, `said-${run_}-${id}`)),
    isDone: async (run_) => (await textOf(join(kit, "log"))).split("\n").includes(`done ${run_}`),
  };
}
