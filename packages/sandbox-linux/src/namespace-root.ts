/**
 * Namespace root: the small file system that an agent sees, as arguments of bubblewrap. Programs
 * and their data, a few public files of /etc, made-up ones for the rest, private places to write,
 * and what the operator shows. Never the host's root, /run, /var or a home.
 */
import { randomUUID } from "node:crypto";
import { lstatSync, readlinkSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type Mount, nodeMounts } from "./namespace-node.js";
import type { AgentUser } from "./parts.js";
import { statOptional } from "./stat-optional.js";
import { liesIn, type VisiblePlaces } from "./workspace.js";
import type { WorkspaceGuard } from "./workspace-guard.js";

/** Where things are inside. */
export const INSIDE = { files: "/run/acp", home: "/home/agent", host: "acp" } as const;

/** Entries of `/` that a merged distribution links into /usr and an unmerged one has itself. */
const PROGRAM_DIRECTORIES = ["bin", "sbin", "lib", "lib32", "lib64", "libx32", "libexec"];

/**
 * Public files of /etc that programs fail without. Nothing here may hold a secret: `/etc/ssl` as a
 * whole has private keys.
 */
const ETC = `
  ld.so.cache ld.so.conf ld.so.conf.d ld-musl-x86_64.path ld-musl-aarch64.path alternatives localtime timezone
  ssl/certs ssl/cert.pem ssl/openssl.cnf pki/tls/certs pki/tls/cert.pem pki/tls/openssl.cnf pki/ca-trust/extracted
  ca-certificates/extracted crypto-policies mime.types protocols services terminfo bash.bashrc inputrc magic
`
  .trim()
  .split(/\s+/u);

/** What the root is made from. */
export interface RootParts {
  readonly places: VisiblePlaces;
  readonly guard: WorkspaceGuard;
  /** The session's `inside/`, and the directory of {@link writeEtc}. */
  readonly inside: string;
  readonly etc: string;
  /** The node binary that runs the first stage, by its real path. */
  readonly node: string;
  /** Where a home that stays is on the host; left out: it is gone afterwards. */
  readonly home?: string;
  /** Where the manager's own packages are on the host. */
  readonly packages?: string;
  readonly scratchBytes: number;
  /** What bubblewrap is told instead of a path of the host, where that is open. */
  readonly sourceOf?: (path: string) => string;
  /** Whether what bubblewrap makes belongs to the agent; without a user namespace it is root's. */
  readonly isAgents: boolean;
}

/** Arguments that build the root, in the order in which bubblewrap does them. */
export function makeRoot(parts: RootParts): readonly string[] {
  const { places, guard, inside, etc, node, home, packages, sourceOf = String } = parts;
  const system = systemMounts();
  const ownNode = nodeBeside(system, node);
  const shown = shownMounts(places);
  const mounts: readonly Mount[] = [
    ...system,
    ...ETC.filter((name) => isThere(`/etc/${name}`)).map(
      (name): Mount => ["--ro-bind", `/etc/${name}`, `/etc/${name}`],
    ),
    ...ETC_FILES.map((name): Mount => ["--ro-bind", join(etc, name), `/etc/${name}`]),
    ...ownMounts({ ...parts, home }),
    ["--ro-bind", inside, INSIDE.files],
    ...ownNode,
    ...(packages === undefined ? [] : [["--ro-bind", packages, places.packages ?? packages]]),
    ...[...shown].sort((a, b) => depthOf(a) - depthOf(b)), // one that lies in another goes over it
    ...guard.pinned.map((path): Mount => ["--bind", path, path]),
    ...guard.readOnly.map((path): Mount => ["--ro-bind", path, path]),
    ...guard.writable.map((path): Mount => ["--bind", path, path]),
  ];
  const open = mounts.map(
    (mount): Mount =>
      isBind(mount) ? mount.map((word, at) => (at === 1 ? sourceOf(word) : word)) : mount,
  );
  const covers = places.hidden.filter(
    (path) => isThere(path) && isShown(path, [...system, ...ownNode, ...shown]),
  );
  return [
    ...withParents(open),
    // What tells one machine from another, or this start of it from the next.
    ...MADE_UP.flatMap(([name, path]) => ["--ro-bind", sourceOf(join(etc, name)), path]),
    ...(places.covered ?? [])
      .filter(isThere)
      .flatMap((path) => coverOf(path, sourceOf(join(etc, EMPTY)))),
    ...covers.flatMap((path) => ["--perms", "0000", "--tmpfs", path, "--remount-ro", path]),
    "--remount-ro",
    "/",
  ];
}

/** What the operator shows. */
function shownMounts({ workspace, readable, writable = [] }: VisiblePlaces): readonly Mount[] {
  const own = workspace?.access === "read-only" ? "--ro-bind" : "--bind";
  return [
    ...readable.map((path): Mount => ["--ro-bind", path, path]),
    ...writable.map((path): Mount => ["--bind", path, path]),
    ...(workspace === undefined ? [] : [[own, workspace.path, workspace.path]]),
  ];
}

/** The agent's own processes and devices, and its places to write. */
function ownMounts({
  home,
  scratchBytes,
  isAgents,
}: Pick<RootParts, "scratchBytes" | "isAgents"> & {
  readonly home: string | undefined;
}): readonly Mount[] {
  const scratch = (path: string, mode: string): Mount => {
    const size = ["--size", String(scratchBytes)];
    return ["--perms", mode, ...size, "--tmpfs", path];
  };
  return [
    ["--proc", "/proc"],
    ["--dev", "/dev"],
    scratch("/dev/shm", "1777"),
    ["--remount-ro", "/dev"], // else a place to write without a limit
    scratch("/tmp", "1777"),
    home === undefined
      ? scratch(INSIDE.home, isAgents ? "0700" : "1777")
      : ["--bind", home, INSIDE.home],
    ["--symlink", "/tmp", "/var/tmp"],
    ["--symlink", "/run", "/var/run"],
  ];
}

/**
 * An empty directory over a directory, an empty file over anything else; both may be looked at, so
 * that a search goes on.
 */
function coverOf(path: string, empty: string): readonly string[] {
  const isDirectory = statOptional(path)?.isDirectory() === true;
  return isDirectory
    ? ["--perms", "0555", "--tmpfs", path, "--remount-ro", path]
    : ["--ro-bind", empty, path];
}

/** What of the host is shown besides the system and what the operator names. */
export function ownSources({
  inside,
  etc,
  node,
}: Pick<RootParts, "inside" | "etc" | "node">): readonly string[] {
  return [
    inside,
    etc,
    ...nodeBeside(systemMounts(), node).flatMap((mount) =>
      isBind(mount) ? mount.slice(1, 2) : [],
    ),
  ];
}

/** Made-up files, by their path inside. */
export function madeUpFiles(): readonly (readonly [name: string, path: string])[] {
  return [...ETC_FILES.map((name) => [name, `/etc/${name}`] as const), ...MADE_UP];
}

function nodeBeside(system: readonly Mount[], node: string): readonly Mount[] {
  return isShown(node, system) ? [] : nodeMounts(node);
}

function isBind([kind]: Mount): boolean {
  return kind === "--bind" || kind === "--ro-bind";
}

/** Whether a place of the host is shown, or lies in one that is. */
function isShown(path: string, mounts: readonly Mount[]): boolean {
  return mounts.some(
    ([kind, source]) => kind !== "--symlink" && source !== undefined && liesIn(path, source),
  );
}

function depthOf(mount: Mount): number {
  return (mount.at(-1) ?? "").split("/").length;
}

/** Bubblewrap makes missing directories for its own user alone, who need not be the agent. */
function withParents(mounts: readonly Mount[]): readonly string[] {
  const made = new Set<string>(["/"]);
  return mounts.flatMap((mount) => {
    const missing = parentsOf(mount.at(-1) ?? "/").filter((path) => !made.has(path));
    for (const path of [...missing, mount.at(-1) ?? "/"]) made.add(path);
    return [...missing.flatMap((path) => ["--perms", "0755", "--dir", path]), ...mount];
  });
}

/** `/a/b/c` → `/`, `/a`, `/a/b`. */
function parentsOf(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [] : [...parentsOf(parent), parent];
}

/** Files of /proc that a made-up one covers. */
const MADE_UP = [
  ["boot_id", "/proc/sys/kernel/random/boot_id"],
  ["cmdline", "/proc/cmdline"],
] as const;

/** Among the made-up files: over what is covered. */
const EMPTY = "empty";
const ETC_FILES = ["passwd", "group", "hosts", "hostname", "nsswitch.conf", "resolv.conf"] as const;

/**
 * Writes the made-up files of /etc into a directory of the session: one user, one host, no
 * resolver.
 */
export async function writeEtc(directory: string, { uid, gid }: AgentUser): Promise<void> {
  const texts: Readonly<Record<(typeof ETC_FILES)[number] | (typeof MADE_UP)[number][0], string>> =
    {
      boot_id: `${randomUUID()}\n`,
      cmdline: "\n",
      passwd: `root:x:0:0:root:/:/sbin/nologin\nagent:x:${uid}:${gid}:agent:${INSIDE.home}:/bin/sh\n`,
      group: `root:x:0:\nagent:x:${gid}:\n`,
      hosts: `127.0.0.1 localhost ${INSIDE.host}\n::1 localhost ${INSIDE.host}\n`,
      hostname: `${INSIDE.host}\n`,
      "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
      "resolv.conf": "",
    };
  await mkdir(directory);
  // Whatever the umask is: a resident's lets nobody else in.
  await chmod(directory, 0o755);
  await writeReadable(join(directory, EMPTY), "", 0o444);
  await Promise.all(
    Object.entries(texts).map(([name, text]) => writeReadable(join(directory, name), text, 0o644)),
  );
}

async function writeReadable(path: string, text: string, mode: number): Promise<void> {
  await writeFile(path, text);
  await chmod(path, mode);
}

/** /usr, and what distributions keep beside it: links into it, or real directories. */
function systemMounts(): readonly Mount[] {
  const beside = PROGRAM_DIRECTORIES.flatMap((name): readonly Mount[] => {
    const path = `/${name}`;
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return [];
    if (!found.isSymbolicLink()) return found.isDirectory() ? [["--ro-bind", path, path]] : [];
    const target = readlinkSync(path);
    return liesIn(resolve("/", target), "/usr")
      ? [["--symlink", target, path]]
      : [["--ro-bind", path, path]];
  });
  return [["--ro-bind", "/usr", "/usr"], ...beside];
}

function isThere(path: string): boolean {
  return statOptional(path) !== undefined;
}
