/**
 * Places: where the resident of a home has its sockets, and whether nobody else can put something of
 * theirs there. Imports nothing of ours: a client must start fast.
 */
import { mkdirSync, realpathSync } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { isOurs } from "../is-ours.js";

/** Longer paths of sockets are cut off silently on some systems. */
const SOCKET_PATH_BYTES_MAX = 103;
/** Of the digest that names a home elsewhere. */
const NAME_LENGTH = 24;

/** The prefix of the resident's lock in `<home>/run`; the process's ID follows. */
export const RESIDENT_LOCK = "resident.lock.";

/** Where things are; every folder is private. */
export interface Places {
  /** `<home>/run`: the start lock and the log. */
  readonly run: string;
  /** The folder of the sockets. */
  readonly sockets: string;
  /** Agents connect here. */
  readonly agents: string;
  /** People's commands connect here. */
  readonly control: string;
  /** What the resident and its start have to say. */
  readonly log: string;
}

/** What of a process says where sockets may be. */
export interface PlaceContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly uid: number;
}

/**
 * The places of a home that is there.
 *
 * @param home - Its real path. Not `.sock`: those are the approvers'.
 */
export function placesOf(home: string, { env, uid }: PlaceContext): Places {
  const run = join(home, "run");
  const runtime = env["XDG_RUNTIME_DIR"];
  const isShort = ({ control }: SocketPaths): boolean =>
    Buffer.byteLength(control) <= SOCKET_PATH_BYTES_MAX;
  const inHome = pathsIn(run, "");
  const log = join(run, "resident.log");
  if (isShort(inHome)) return { run, ...inHome, log };
  const others = [
    ...(runtime !== undefined && isAbsolute(runtime) ? [join(runtime, "acp")] : []),
    `/tmp/acp-${uid}`,
  ];
  const first = others.map((sockets) => pathsIn(sockets, `${nameOf(home)}-`)).find(isShort);
  if (first === undefined) throw new Error("no path for its sockets is short enough");
  return { run, ...first, log };
}

type SocketPaths = Pick<Places, "sockets" | "agents" | "control">;

const pathsIn = (sockets: string, prefix: string): SocketPaths => ({
  sockets,
  agents: join(sockets, `${prefix}agents`),
  control: join(sockets, `${prefix}control`),
});

/** What names a home elsewhere. Loaded only then: it costs a hook two milliseconds. */
function nameOf(home: string): string {
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(home).digest("hex").slice(0, NAME_LENGTH);
}

/**
 * Makes the folders where they are missing.
 *
 * @throws Error where one is not ours alone.
 */
export function makePlaces({ run, sockets }: Places, uid: number): void {
  for (const folder of [run, sockets]) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (!isOurs(folder, uid))
      throw new Error(`"${folder}" is not a folder that only this user can enter`);
  }
}

/**
 * The home that a command line names, as home-source.ts finds it; its real path where it is there.
 */
export function namedHome(
  argv: readonly string[],
  {
    env,
    cwd,
    userHome,
  }: { readonly env: PlaceContext["env"]; readonly cwd: string; readonly userHome: string },
): string {
  const named = valueOf(argv, "--home") ?? env["ACP_HOME"] ?? join(userHome, ".acp");
  const path = resolve(cwd, named.replace(/^~(?=\/|$)/u, userHome));
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/**
 * Where an agent of a client may write: the client's directory. One that holds the home is no
 * workspace, because whoever may write there has the home, too; and many clients start their
 * servers in the user's home directory, or in `/`.
 *
 * @param cwd - Absolute.
 * @param home - The home's real path.
 */
export function workspacesOf(cwd: string, home: string): readonly string[] {
  const isOutside = relative(cwd, home).split(sep)[0] === "..";
  return isOutside ? [cwd] : [];
}

/** The value of an option before `--`, however it is written. */
export function valueOf(argv: readonly string[], name: string): string | undefined {
  const end = argv.indexOf("--");
  const words = end === -1 ? argv : argv.slice(0, end);
  const at = words.findIndex((word) => word === name || word.startsWith(`${name}=`));
  const word = words[at];
  if (word === undefined) return undefined;
  return word === name ? words[at + 1] : word.slice(name.length + 1);
}
